//! The description of a benchmark in a run's document, apart from its results: its group, summary
//! and source texts. No I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_lang::source::FileId;
use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::run::{Provenance, SourceFile};

use crate::suite_topics;

/// Describes `class` without the program's hash. Paths below `home`, the folder of library and
/// suite, are relative to it.
pub fn class_provenance(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    home: &Path,
) -> Provenance {
    let topic = suite_topics::title(suite_topics::folder(analysis, class));
    let summary = first_sentence(&analysis.class(class).ast.doc);
    let file = |id: FileId| {
        let file = analysis.sources.file(id);
        let path = Path::new(&file.path);
        let path = path.strip_prefix(home).unwrap_or(path);
        SourceFile { path: path.to_string_lossy().into_owned(), hash: hash(&file.text) }
    };
    Provenance {
        topic: (!topic.is_empty()).then(|| topic.to_owned()),
        summary: (!summary.is_empty()).then_some(summary),
        tags: analysis.tags(class),
        files: files(analysis, class, target).into_iter().map(file).collect(),
        program: None,
        inputs: None,
    }
}

/// The texts of all files that `all` list, by hash.
pub fn sources<'a>(
    analysis: &Analysis,
    all: impl Iterator<Item = &'a Provenance>,
) -> BTreeMap<String, String> {
    let wanted: BTreeSet<&str> =
        all.flat_map(|a| a.files.iter().map(|f| f.hash.as_str())).collect();
    let all = analysis.sources.files();
    all.map(|(_, file)| (hash(&file.text), file.text.clone()))
        .filter(|(hash, _)| wanted.contains(hash.as_str()))
        .collect()
}

/// The first sentence of a documentation comment, at most its first paragraph.
pub fn first_sentence(doc: &str) -> String {
    let lines = doc.lines().map(str::trim).skip_while(|line| line.is_empty());
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let sentence = paragraph.split(". ").next().unwrap_or(&paragraph);
    sentence.trim_end_matches('.').to_owned()
}

/// The files of the class and of every class that contributes to its program.
fn files(analysis: &Analysis, class: ClassId, target: &Target) -> BTreeSet<FileId> {
    let mut classes = BTreeSet::from([class]);
    for variant in &analysis.program(class, target).variants {
        for composition in std::iter::once(variant).chain(&variant.parts) {
            classes.extend(composition.layers.iter().map(|l| l.class));
            classes.extend(&composition.ports);
        }
    }
    classes.iter().map(|c| analysis.class(*c).file).collect()
}

/// The paths of the files of the class and of every class that contributes to its program.
pub(crate) fn paths<'a>(
    analysis: &'a Analysis,
    class: ClassId,
    target: &Target,
) -> impl Iterator<Item = &'a Path> {
    let files = files(analysis, class, target).into_iter();
    files.map(|id| Path::new(&analysis.sources.file(id).path))
}

/// The BLAKE3 hash of `text` in hexadecimal.
pub fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
