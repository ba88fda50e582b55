//! The source texts of a benchmark in a stored run.

use yamba_record::Run;
use yamba_record::run::SourceFile;

use super::Failure;
use crate::cli::run_ref;

/// Each file's text under its path.
pub(super) fn texts(run: &Run, name: &str) -> Result<String, Failure> {
    let files = files(run, name)?;
    let mut out = String::new();
    for file in files {
        let path = run_ref::plain(&file.path);
        let text = run.sources.get(&file.hash).ok_or_else(|| {
            Failure::new(format!("the run names {path} but does not hold its text"))
                .help("the document that it came from was not whole")
        })?;
        out.push_str(&format!("==> {path} <==\n{text}"));
        out.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

fn files<'a>(run: &'a Run, name: &str) -> Result<Vec<&'a SourceFile>, Failure> {
    let named: Vec<_> = run.benchmarks.iter().filter(|b| b.name == name).collect();
    if named.is_empty() {
        return Err(run_ref::unknown(name, &[run]));
    }
    let mut files: Vec<&SourceFile> = Vec::new();
    let includes = named.iter().flat_map(|b| &b.declaration.provenance.inputs);
    let includes = includes.flat_map(|inputs| &inputs.includes);
    for file in named.iter().flat_map(|b| &b.declaration.provenance.files).chain(includes) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Failure::new(format!("the run holds no source of {name}"))
            .help("it is not from a file, or was measured by something that keeps none"));
    }
    Ok(files)
}
