//! Tests of data sets: their files, fetches, and the command `fuld data`.

mod command;
mod fetch;
mod files;
mod kill;
mod loopback;
mod published_files;
mod unpack;
