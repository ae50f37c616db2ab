//! The option `--plot FILE`.

use super::output::Output;
use anyhow::Context;
use fuld::durable::replace;
use fuld_plot::Figure;
use std::path::PathBuf;
use std::str::FromStr;

/// A file for a figure. Its extension determines the format.
#[derive(Clone, Debug)]
pub(super) struct PlotFile {
    path: PathBuf,
    png: bool,
}

impl FromStr for PlotFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self { path, png: false }),
            Some("png") => Ok(Self { path, png: true }),
            _ => Err("the file name must end with .svg or .png".into()),
        }
    }
}

impl PlotFile {
    /// Writes a figure to the file.
    pub(super) fn write(&self, figure: &Figure, output: &Output) -> anyhow::Result<()> {
        let bytes = if self.png { figure.png()? } else { figure.svg().into_bytes() };
        replace(&self.path, &bytes).with_context(|| format!("writing {}", self.path.display()))?;
        output.note(|| format!("figure written to {}", self.path.display()));
        Ok(())
    }
}
