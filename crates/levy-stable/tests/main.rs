//! Integration tests of `levy-stable`, in one binary.

mod accuracy;
mod field_table;
mod golden;
mod properties;
mod robustness;
mod sampling;
mod table_data;
mod tail_index;
mod tail_index_robustness;
