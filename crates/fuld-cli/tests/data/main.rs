//! Data sets: their files, fetching them, and `fuld data`.

mod command;
mod fetch;
mod files;
mod kill;
mod loopback;
mod made;
mod unpack;
