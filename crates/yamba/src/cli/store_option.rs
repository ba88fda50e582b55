//! The location of stored runs: `--store`, else `YAMBA_STORE`, else a file in the user's data
//! folder.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Once;

use clap::Args;
use yamba_report::RunLocation;
use yamba_store::Location;

use super::{Failure, output};
use yamba_session::{StoreChoice, usual_store};

/// The store in which runs are kept.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct StoreOption {
    /// Where runs are stored: a file, or postgresql://USER@HOST/DATABASE
    ///
    /// [default: YAMBA_STORE, else yamba/results.sqlite in your data folder]
    #[arg(long, value_name = "FILE|URL")]
    pub store: Option<OsString>,
}

/// A path as text for a copyable command. Fails for a path that is not UTF-8, since a lossy form
/// would name another file.
pub(super) fn writable(path: PathBuf, what: &str) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(format!(
            "{path}: no command to be copied can name this {what}, whose path is not UTF-8"
        ))
        .help("rename it or its folder, or name it by a link")
    })
}

/// Whether the warnings of the store's location have been printed.
static WARNED: Once = Once::new();

/// Prints the warning of the store's location, if there is one. An invalid location is reported
/// when the store is opened.
fn warn(choice: &StoreChoice) {
    let location = choice.location().ok();
    if let Some(warning) = location.and_then(|location| location.warning()) {
        let help = warning.help_text().unwrap_or_default();
        output::note(&format!("warning: {warning}\nhelp: {help}\n"));
    }
}

impl StoreOption {
    /// The store that the session uses. Prints the warnings of its location, once.
    pub(super) fn choice(&self) -> StoreChoice {
        let choice = StoreChoice { named: self.store.clone() };
        WARNED.call_once(|| warn(&choice));
        choice
    }

    /// The store as a copyable command names it, valid from any folder at any time. A password is
    /// omitted.
    pub(super) fn place(&self) -> Result<RunLocation, Failure> {
        let Some(named) = self.choice().named() else {
            return Ok(RunLocation::Usual);
        };
        Ok(match Location::parse(&named)? {
            Location::File(path) => {
                let path = std::path::absolute(&path).unwrap_or(path);
                // If `YAMBA_STORE` names a store, that is the default instead of the usual file.
                let is_named = std::env::var_os("YAMBA_STORE").is_some_and(|v| !v.is_empty());
                let is_usual = !is_named && usual_store().is_some_and(|usual| usual == path);
                if is_usual {
                    return Ok(RunLocation::Usual);
                }
                RunLocation::Store(writable(path, "store")?)
            }
            server => RunLocation::Store(server.to_string()),
        })
    }
}
