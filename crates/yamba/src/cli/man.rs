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
/// yamba(1) and one page a command, such as yamba-run(1) and yamba-load-fit(1).
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
        for command in with_subcommands(&cli) {
            let name = command.get_display_name().unwrap_or(command.get_name());
            let path = self.folder.join(format!("{name}.1"));
            let page = page(command.clone()).map_err(Failure::ours)?;
            fs::write(&path, page).map_err(|e| cannot(&path, e))?;
            output::result(&format!("{}\n", path.display()))?;
        }
        Ok(())
    }
}

/// A command, and the commands below it.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
    let below = shown.flat_map(with_subcommands);
    std::iter::once(command).chain(below).collect()
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let after = after.unwrap_or_default();
    let has_commands = command.has_subcommands();
    let version = env!("CARGO_PKG_VERSION");
    let page = Page::new(command).source(format!("yamba {version}")).date(version).manual("Yamba");
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
    let lines = after.lines().map(|line| {
        let title = line.split_once(':').filter(|(title, _)| SECTIONS.contains(title));
        (line, title)
    });
    for (line, title) in lines.skip_while(|(_, title)| title.is_none()) {
        let Some((title, rest)) = title else {
            roff.text([roman(line)]);
            continue;
        };
        roff.control("SH", [title.to_uppercase().as_str()]);
        roff.control("nf", []);
        if !rest.is_empty() {
            roff.text([roman(rest.trim_start())]);
        }
    }
    roff.control("fi", []);
    roff
}
