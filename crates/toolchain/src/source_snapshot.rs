//! The source texts that a run stored, presented as files at their former paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_lang::ast::Parent;
use yamba_lang::source::SourceMap;
use yamba_lang::{Files, Input};
use yamba_record::run::{BuildInputs, SourceFile};
use yamba_record::{Benchmark, Run};

use crate::build::SnapshotIncludes;
use crate::embedded::Home;
use crate::files::{Disk, Unreadable};

/// The stored files of a run's benchmarks, and the platforms of the installed library. Platforms
/// belong to no benchmark, so a run does not store them. Other installed files are left out: a port
/// added later was not part of the measurement.
pub struct SourceSnapshot {
    /// Texts by path.
    files: BTreeMap<String, String>,
    platforms: Vec<Input>,
    /// The installed files, for classes that the platforms need.
    present: Disk,
}

impl SourceSnapshot {
    /// The reason why a benchmark's program cannot be rebuilt. `None` if all its texts are present
    /// under their hashes.
    pub fn lacks(run: &Run, benchmark: &Benchmark) -> Option<String> {
        if benchmark.declaration.provenance.files.is_empty() {
            return Some(
                "the run kept no sources (that of `yamba time` never does: measure a file)"
                    .to_owned(),
            );
        }
        let includes = benchmark.declaration.provenance.inputs.iter().flat_map(|i| &i.includes);
        let mut files = benchmark.declaration.provenance.files.iter().chain(includes);
        let missing = files.find(|f| text(run, f).is_none())?;
        Some(format!("the run did not keep the text of {}", missing.path))
    }

    /// Loads the stored files of `classes`, for which [`lacks`](SourceSnapshot::lacks) must return
    /// `None`. Paths in a record are relative to the checkout; files of library and suite are
    /// placed below `home`.
    ///
    /// # Errors
    /// When `home` cannot be read.
    pub fn new(
        run: &Run,
        classes: &BTreeSet<&str>,
        home: &Home,
    ) -> Result<SourceSnapshot, Unreadable> {
        let root = home.suite.parent().unwrap_or(Path::new(""));
        let mut files = BTreeMap::new();
        let wanted =
            run.benchmarks.iter().filter(|b| classes.contains(b.declaration.class.as_str()));
        for file in wanted.flat_map(|b| &b.declaration.provenance.files) {
            let is_ours = ["library/", "suite/"].iter().any(|f| file.path.starts_with(f));
            let path = if is_ours {
                root.join(&file.path).to_string_lossy().into_owned()
            } else {
                file.path.clone()
            };
            files.extend(text(run, file).map(|text| (path, text.clone())));
        }
        let present = Disk::new(Vec::new(), home)?;
        let mut platforms = present.searched(true);
        platforms.retain(|i| !files.contains_key(&i.path) && declares_platform(i));
        Ok(SourceSnapshot { files, platforms, present })
    }

    /// The stored C++ files that these classes include. `None` if the run's version stored no
    /// inputs.
    ///
    /// # Errors
    /// A one-sentence message, if the includes conflict or have unusable paths.
    pub fn includes(
        run: &Run,
        classes: &BTreeSet<&str>,
    ) -> Result<Option<SnapshotIncludes>, String> {
        let of_classes = run.benchmarks.iter();
        let of_classes = of_classes.filter(|b| classes.contains(b.declaration.class.as_str()));
        let inputs: Vec<&BuildInputs> =
            of_classes.filter_map(|b| b.declaration.provenance.inputs.as_ref()).collect();
        let mut kept = SnapshotIncludes::default();
        for file in inputs.iter().flat_map(|i| &i.includes) {
            let text = text(run, file);
            let text =
                text.ok_or_else(|| format!("the run did not keep the text of {}", file.path))?;
            kept.add(&file.path, text)?;
        }
        for folder in inputs.iter().flat_map(|i| &i.folders) {
            kept.search(folder)?;
        }
        Ok((!inputs.is_empty()).then_some(kept))
    }

    /// The files that declare `classes`.
    pub fn declaring(&self, classes: &BTreeSet<&str>) -> Vec<Input> {
        let is_meant = |input: &Input| {
            let mut names = declared(input).into_iter();
            names.any(|(name, _)| classes.contains(name.as_str()))
        };
        self.all().filter(is_meant).collect()
    }

    fn all(&self) -> impl Iterator<Item = Input> {
        self.files.iter().map(|(path, text)| Input { path: path.clone(), text: text.clone() })
    }
}

impl Files for SourceSnapshot {
    fn find(&self, from: &str, name: &str) -> Option<Input> {
        let file_name = format!("{name}.yamba");
        let is_meant = |i: &Input| Path::new(&i.path).file_name() == Some(file_name.as_ref());
        let beside = |i: &Input| Path::new(&i.path).parent() == Path::new(from).parent();
        let found: Vec<Input> = self.all().filter(is_meant).collect();
        let nearest = found.iter().find(|i| beside(i)).or(found.first());
        nearest.cloned().or_else(|| self.present.find(from, name))
    }

    fn around(&self, _: &str) -> Vec<Input> {
        self.all().chain(self.platforms.iter().cloned()).collect()
    }
}

fn text<'a>(run: &'a Run, file: &SourceFile) -> Option<&'a String> {
    let text = run.sources.get(&file.hash);
    text.filter(|t| crate::provenance::hash(t) == file.hash)
}

/// The names and parents of a text's classes, even if the rest of the text has errors.
fn declared(input: &Input) -> Vec<(String, Parent)> {
    let mut sources = SourceMap::default();
    let file = sources.add(input.path.as_str(), input.text.as_str());
    let (tree, _) = yamba_lang::syntax::parse(&sources, file);
    let each = tree.classes.into_iter();
    each.map(|c| (c.name.text, c.parent)).collect()
}

/// Whether the file declares an instruction set, an operating system, or one of their base classes.
fn declares_platform(input: &Input) -> bool {
    const ROOTS: [&str; 2] = ["InstructionSet", "OperatingSystem"];
    let is_platform = |(name, parent): &(String, Parent)| {
        let extends =
            matches!(parent, Parent::Extends(base) if ROOTS.contains(&base.text.as_str()));
        extends || ROOTS.contains(&name.as_str())
    };
    ROOTS.iter().any(|root| input.text.contains(root)) && declared(input).iter().any(is_platform)
}
