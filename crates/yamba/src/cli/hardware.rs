//! `yamba hardware`

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use yamba_harness::Stop;
use yamba_session::hardware::{Document, Request, from_stored, hardware};

use super::{Answer, Failure, Libraries, StoreOption, Terminal, arguments, output, system_failure};
use crate::views;
use crate::views::parameters_file::{self, Form};

/// Find what this processor really has
///
/// Measures caches, translations, the core, branches and memory, without privileges or counters,
/// and shows what was found beside what the processor and the system claim. A parameter that the
/// measurements do not show has its reason. The run is stored.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba hardware                       all parameters, in at most 90 s
  yamba hardware --quick               in at most 30 s, with wider intervals
  yamba hardware 'l1d.*' rob.entries   some of them
  yamba hardware --parameters cpu.h    also to a file for programs
  yamba hardware --from latest --parameters cpu.sh     those of a run that is kept
  yamba hardware --json | jq '.parameters[] | select(.found)'")]
pub(super) struct Hardware {
    /// Names or patterns of parameters [default: all]
    #[arg(value_name = "PARAMETER")]
    names: Vec<String>,
    /// Less time for each benchmark: at most 30 s in all
    #[arg(long, conflicts_with = "from")]
    quick: bool,
    /// Take the parameters of this run instead of measuring: a stored run, or a run's document
    #[arg(long, value_name = "RUN")]
    from: Option<String>,
    /// Also write them to a file from which programs take their sizes: `.h` for C, `.sh` for a
    /// shell, `.json`
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lib: Libraries,
    #[command(flatten)]
    store: StoreOption,
}

impl Hardware {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let file = self.parameters.as_deref();
        let form = file.map(form).transpose()?;
        output::check(file)?;
        let found = match &self.from {
            Some(run) => from_stored(run, &self.names, &self.store.choice())?,
            None => self.measure()?,
        };
        if let Some((path, form)) = file.zip(form) {
            // A file of a whole run is worth more than one of a part.
            if found.interrupted {
                eprintln!("{}: not written, since the run was stopped", path.display());
            } else {
                let text = parameters_file::text(&found, form);
                output::whole(path, |out| out.write_all(text.as_bytes()))?;
            }
        }
        output::json_or_view(self.json, &found, |d| views::hardware::view(&d.parameters))?;
        let is_bad = found.interrupted || found.has_failures;
        Ok(if is_bad { Answer::No } else { Answer::Done })
    }

    fn measure(&self) -> Result<Document, Failure> {
        let stop = Stop::on_signals().map_err(system_failure)?;
        let request = Request {
            libraries: self.lib.dirs.clone(),
            parameters: self.names.clone(),
            is_quick: self.quick,
            arguments: arguments(),
        };
        hardware(&request, &stop, &self.store.choice(), &Terminal::default())
    }
}

/// The form that the name of the file asks for.
fn form(path: &Path) -> Result<Form, Failure> {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.and_then(Form::by_extension).ok_or_else(|| {
        Failure::new(format!("{}: no form of parameters has this ending", path.display()))
            .help("name the file .json, .h (a C header) or .sh (assignments of a shell)")
    })
}
