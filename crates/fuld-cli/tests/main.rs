//! The program as it is typed: each module runs one command in a folder of its own.

mod data;
mod exit_code;
mod law;
mod output;
mod program;
mod reproduce;
mod sample;
mod sweep;
mod tail_index;
mod train;
