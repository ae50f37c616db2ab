//! The optimizer's update rule.

mod fields;
mod forms;
mod settings;
mod sgd;
mod steps;
