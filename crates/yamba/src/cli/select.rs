//! NAME, GLOB or FILE.yamba, and `--lib`: the arguments that name classes.

use std::path::PathBuf;

use clap::Args;
use yamba_lang::{Analysis, ClassId, Diagnostic};

use super::{Failure, Terminal};
pub(super) use yamba_session::select::{Found, How, Selection, did_you_mean, suite};
use yamba_session::{jobs, select};

/// The arguments that every command about several classes shares.
#[derive(Args)]
pub(super) struct Names {
    /// Classes, by name or glob ('lat_*'), or files (mine.yamba)
    #[arg(value_name = "NAME|GLOB|FILE.yamba")]
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) lib: Libraries,
}

/// `--lib`.
#[derive(Args, Clone)]
pub(super) struct Libraries {
    /// Also look for classes and ports in this folder; may be repeated
    #[arg(long = "lib", value_name = "DIR")]
    pub(super) dirs: Vec<PathBuf>,
}

impl Names {
    /// The names in the form that the session takes.
    pub(super) fn request(&self) -> select::Names {
        select::Names { names: self.names.clone(), libraries: self.lib.dirs.clone() }
    }
}

/// Selects the classes that `names` refers to; without names, the suite and each `--lib`. Shows
/// diagnostics; an error ends the command.
pub(super) fn select(names: &Names) -> Result<Selection, Failure> {
    select::select(&names.request(), &Terminal::default())
}

/// Like `select`, but searches for a name that no class has.
pub(super) fn search(names: &Names) -> Result<Found, Failure> {
    select::search(&names.request(), &Terminal::default())
}

/// Like `select`, but returns diagnostics as part of the result. Without names, `with_library` also
/// includes the library.
pub(super) fn read(names: &Names, with_library: bool) -> Result<Selection, Failure> {
    select::read(&names.request(), with_library)
}

/// The single class that `name` refers to, as a class name or a file.
pub(super) fn one(name: &str, lib: Libraries) -> Result<(Selection, ClassId), Failure> {
    select::one(name, &lib.dirs, &Terminal::default())
}

/// Shows diagnostics on standard error; fails if any is an error.
pub(super) fn show(analysis: &Analysis, diagnostics: &[Diagnostic]) -> Result<(), Failure> {
    jobs::report(&Terminal::default(), &analysis.sources, diagnostics)
}
