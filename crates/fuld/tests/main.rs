//! Integration tests of `fuld`, in one binary: linking twenty takes longer than running most of them.

mod arviz;
mod calibration;
mod chains;
mod custom_kinetic;
mod diagnostics;
mod differences;
mod exact;
mod flmc_drift;
mod folder;
mod formula;
mod gaussian_drift;
mod gibbs;
mod identity;
mod kummer;
mod memory;
mod modules;
mod optimizer;
mod order;
mod parameters;
mod potentials;
mod random_formulas;
mod resumption;
mod riesz;
mod stationary;
mod tempering;
mod wells;
