//! Diagnostics, compared with ArviZ and scipy for stored draws and with known laws for seeded
//! draws.

mod draws;
mod golden;
mod modes;
mod statistics;
