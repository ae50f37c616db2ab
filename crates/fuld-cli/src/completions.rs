//! `fuld completions`: scripts with which a shell completes commands and options.

use super::Cli;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::Write;

/// Print a script with which your shell completes commands and options.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to put the script:
  bash        fuld completions bash > ~/.local/share/bash-completion/completions/fuld
  zsh         fuld completions zsh > ~/.zfunc/_fuld       with fpath+=~/.zfunc before compinit in ~/.zshrc
  fish        fuld completions fish > ~/.config/fish/completions/fuld.fish
  elvish      fuld completions elvish > ~/.config/elvish/lib/fuld.elv        and: use fuld in rc.elv
  powershell  fuld completions powershell >> $PROFILE

Completions work in shells that you start afterwards.")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> anyhow::Result<()> {
        // Generated in memory, because the generator panics if it cannot write.
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "fuld", &mut script);
        Ok(std::io::stdout().write_all(&script)?)
    }
}
