//! `fuld data`: the data sets.

/// Data sets: which there are, and fetching them.
#[derive(Debug, clap::Args)]
pub(super) struct Data {}

impl Data {
    pub(super) fn run(self) -> anyhow::Result<()> {
        Ok(())
    }
}
