//! Finds the file of a study by its name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::super::select::did_you_mean;
use super::super::{Failure, home_failure};
use super::{Study, StudyFault};
use yamba_record::system_error::reason;
use yamba_toolchain::embedded;

/// The greatest size of a study file; larger files are rejected.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a study and its path.
pub struct Source {
    /// The path that messages show.
    pub path: String,
    /// The text of the study.
    pub text: String,
}

impl Source {
    /// The study that the text describes.
    pub(super) fn parse(&self) -> Result<Study, Failure> {
        super::read(&self.text).map_err(|fault| self.failure(fault))
    }

    /// A failure that shows the place of the fault in the file.
    pub fn failure(&self, fault: StudyFault) -> Failure {
        let place = fault.place;
        let message = format!("{}:{}:{}: {}", self.path, place.line, place.column, fault.message);
        Failure::new(message).help(fault.help)
    }

    /// The failure for a benchmark that refuses a value of the study.
    pub(super) fn refused(&self, text: &str) -> Failure {
        Failure::new(format!("{}: {}", self.path, text.trim_end()))
            .help("the value stands in the `parameters` of that benchmark; `yamba list NAME` shows what it takes")
    }
}

/// Reads the study with this name, or from this file.
pub fn source(named: &str) -> Result<Source, Failure> {
    if named.ends_with(".toml") || named.contains('/') {
        return Ok(Source { path: named.to_owned(), text: read(Path::new(named))? });
    }
    let mut all = embedded::studies().map_err(home_failure)?;
    if let Some(text) = all.remove(named) {
        let path = format!("studies/{named}.toml");
        return Ok(Source { path, text });
    }
    let known: Vec<String> = all.into_keys().collect();
    let all = known.join(", ");
    let help = if Path::new(&format!("{named}.toml")).is_file() {
        format!("there is a file {named}.toml here: name it so")
    } else {
        did_you_mean(named, &known)
            .unwrap_or(format!("there are {all}; name a file with its ending, .toml"))
    };
    Err(Failure::new(format!("no study is named {named}")).help(help))
}

fn read(path: &Path) -> Result<String, Failure> {
    let failure = |text: &str| Failure::new(format!("{}: {text}", path.display()));
    let file = File::open(path).map_err(|e| {
        failure(&reason(&e)).help("`yamba study new FILE.toml` writes a study to fill in")
    })?;
    let mut bytes = Vec::new();
    let length = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    length.map_err(|e| failure(&reason(&e)).help("name a file that can be read"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failure("it has more than 1 MiB")
            .help("a study is a text that a person writes: name another file"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = before.split(|b| *b == b'\n').count();
        Failure::new(format!("{}:{line}: it is not UTF-8", path.display()))
            .help("save it as UTF-8 text")
    })
}

/// Names and titles of the studies that Yamba ships.
pub fn shipped() -> Result<Vec<(String, String)>, Failure> {
    let each = embedded::studies().map_err(home_failure)?.into_iter();
    each.map(|(name, text)| {
        let path = format!("studies/{name}.toml");
        let study = Source { path, text }.parse()?;
        Ok((name, study.title))
    })
    .collect()
}
