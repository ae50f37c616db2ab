//! The diagnostics: against ArviZ and scipy on stored draws, and against known laws on seeded ones.

mod draws;
mod golden;
mod modes;
mod statistics;
