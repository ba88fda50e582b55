//! `yamba man`

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Cli, Failure, output};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, roman};

/// Headings in the text after the options that become sections of their own.
const SECTIONS: [&str; 3] = ["Examples", "Environment", "Exit status"];

/// Write the manual pages
///
/// yamba(1) and one page a command, such as yamba-run(1).
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba man ~/.local/share/man/man1     then: man yamba, man yamba-run
  yamba man . && man ./yamba.1")]
pub(super) struct Man {
    /// Write to this folder, which is created if necessary
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Man {
    pub(super) fn run(self) -> Result<(), Failure> {
        let cannot = |path: &Path, e: io::Error| {
            output::cannot_write(path, &e).help("name a folder that you may write to")
        };
        fs::create_dir_all(&self.folder).map_err(|e| cannot(&self.folder, e))?;
        let mut cli = Cli::command().disable_help_subcommand(true);
        cli.build();
        for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
            let name = command.get_display_name().unwrap_or(command.get_name());
            let path = self.folder.join(format!("{name}.1"));
            let page = page(command.clone()).map_err(Failure::ours)?;
            fs::write(&path, page).map_err(|e| cannot(&path, e))?;
            output::result(&format!("{}\n", path.display()))?;
        }
        Ok(())
    }
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let after = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let has_commands = command.has_subcommands();
    let version = env!("CARGO_PKG_VERSION");
    let page = Page::new(command)
        .source(format!("yamba {version}"))
        .date(version)
        .manual("Yamba");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if has_commands {
        page.render_subcommands_section(&mut text)?;
    }
    sections(&after).to_writer(&mut text)?;
    Ok(text)
}

/// Converts the text after the options, keeping its line breaks.
fn sections(after: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_open = false;
    for line in after.lines() {
        let title = SECTIONS.iter().find(|s| line.starts_with(&format!("{s}:")));
        let line = match title {
            Some(title) => {
                roff.control("SH", [title.to_uppercase().as_str()]);
                roff.control("nf", []);
                is_open = true;
                line[title.len() + 1..].trim_start()
            }
            None => line,
        };
        if is_open && !(title.is_some() && line.is_empty()) {
            roff.text([roman(line)]);
        }
    }
    if is_open {
        roff.control("fi", []);
    }
    roff
}
