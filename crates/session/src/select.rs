//! Resolves NAME, GLOB or FILE.yamba to the files to read and the classes in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use yamba_lang::ast::{Class, Member, MemberKind, Parent};
use yamba_lang::model::Role;
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, ClassId, Input};
use yamba_store::inputs;

use super::jobs::report;
use super::{Failure, Observer, home_failure};
use yamba_toolchain::embedded;
use yamba_toolchain::files::Disk;

/// The classes that a user names, and where to search for them.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Class names, globs or files; if empty, the whole suite.
    pub names: Vec<String>,
    /// Folders to search for classes and ports, before the library and the suite.
    pub libraries: Vec<PathBuf>,
}

fn disk(libraries: &[PathBuf]) -> Result<Disk, Failure> {
    let home = embedded::home().map_err(home_failure)?;
    Ok(Disk::new(libraries.to_vec(), &home)?)
}

/// The files that were read, and the classes that were selected.
pub struct Selection {
    /// The analysis of all files that were read.
    pub analysis: Analysis,
    /// The selected classes, in the order of the arguments.
    pub chosen: Vec<Chosen>,
    /// The number of files that the names resolved to.
    pub files: usize,
}

/// One selected class.
pub struct Chosen {
    pub class: ClassId,
    /// How it was selected: a name or file takes precedence over a glob.
    pub how: How,
}

/// How a class was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By its own name.
    Name,
    File,
    /// By a glob, or as one of the whole suite.
    Pattern,
}

/// One argument, resolved to a file and a class of it.
struct Request {
    how: How,
    /// The class to select; `None`: all classes of the file.
    class: Option<String>,
    input: Input,
}

fn request(how: How, class: Option<String>, input: Input) -> Request {
    Request { how, class, input }
}

/// Reads the files that `names` stand for; without names, the suite and each library. Fails if a
/// file has an error.
pub fn select(names: &Names, observer: &dyn Observer) -> Result<Selection, Failure> {
    let selection = read(names, false)?;
    selection.report(observer)?;
    Ok(selection)
}

/// Like [`select`], but leaves errors in the files to the caller. Without names, `with_library`
/// adds the library.
pub fn read(names: &Names, with_library: bool) -> Result<Selection, Failure> {
    let disk = disk(&names.libraries)?;
    let requests = if names.names.is_empty() {
        everything(&disk, with_library)
    } else {
        let mut all = Vec::new();
        for name in &names.names {
            all.extend(requests(&disk, name)?);
        }
        all
    };
    Ok(resolve(&requests, &disk))
}

fn resolve(requests: &[Request], disk: &Disk) -> Selection {
    let mut roots: Vec<Input> = Vec::new();
    for request in requests {
        if !roots.contains(&request.input) {
            roots.push(request.input.clone());
        }
    }
    let files = roots.len();
    let analysis = yamba_lang::analyse(roots, disk);
    for (_, file) in analysis.sources.files() {
        inputs::add(Path::new(&file.path));
    }
    let chosen = chosen(&analysis, requests);
    Selection { analysis, chosen, files }
}

/// A selection in which words were searched for.
pub struct Found {
    /// The classes that the names stand for, and those whose name, tags or documentation have one
    /// of the words.
    pub selection: Selection,
    /// The names that no class has, and no glob or file: the words.
    pub words: Vec<String>,
}

/// Like [`select`], but a name that stands for no class is searched for in the names, tags and
/// documentation of the suite and each library.
///
/// Upper and lower case are the same. Fails if a word is found nowhere.
pub fn search(names: &Names, observer: &dyn Observer) -> Result<Found, Failure> {
    let disk = disk(&names.libraries)?;
    let mut known = Vec::new();
    let mut words = Vec::new();
    for name in &names.names {
        match requests(&disk, name) {
            Ok(requests) => known.extend(requests),
            Err(failure) if is_file(name) || name.is_empty() => return Err(failure),
            Err(failure) => {
                let found = by_word(&disk, name);
                if found.is_empty() {
                    return Err(failure);
                }
                known.extend(found);
                words.push(name.clone());
            }
        }
    }
    if names.names.is_empty() {
        known = everything(&disk, false);
    }
    let selection = resolve(&known, &disk);
    selection.report(observer)?;
    Ok(Found { selection, words })
}

/// The benchmarks whose name or documentation has this word, or that have it as a tag or stand for
/// the primitive of this name.
fn by_word(disk: &Disk, word: &str) -> Vec<Request> {
    let word = word.to_lowercase();
    let has_word = |text: &str| text.to_lowercase().contains(&word);
    let mut found = Vec::new();
    for input in disk.searched(false) {
        // Skip parsing texts without the word.
        if !has_word(&input.text) {
            continue;
        }
        let classes = classes(&input).into_iter();
        let meant = classes.filter(|c| !matches!(c.parent, Parent::Ports(_)));
        let names_it = |member: &Member| match &member.kind {
            MemberKind::Tags(tags) => tags.iter().any(|tag| tag.text == word),
            MemberKind::StandsFor(stands_for) => stands_for.primitive.text == word,
            _ => false,
        };
        let is_meant = |c: &Class| {
            has_word(&c.name.text) || has_word(&c.doc) || c.members.iter().any(names_it)
        };
        for class in meant.filter(is_meant) {
            found.push(request(How::Pattern, Some(class.name.text), input.clone()));
        }
    }
    found
}

/// Selects the one class that `name`, a class or a file, stands for.
pub fn one(
    name: &str,
    libraries: &[PathBuf],
    observer: &dyn Observer,
) -> Result<(Selection, ClassId), Failure> {
    let names = Names { names: vec![name.to_string()], libraries: libraries.to_vec() };
    let selection = select(&names, observer)?;
    let mut classes: Vec<ClassId> = selection.chosen.iter().map(|c| c.class).collect();
    if classes.len() > 1 {
        classes.retain(|c| selection.analysis.is_listed(*c));
    }
    match classes[..] {
        [class] => Ok((selection, class)),
        _ => {
            let name_of = |c: &Chosen| selection.analysis.class(c.class).name();
            let all: Vec<&str> = selection.chosen.iter().map(name_of).collect();
            let help = format!("name one ({}), and its folder with --lib DIR", all.join(", "));
            Err(Failure::new(format!("{name} stands for {} classes", all.len())).help(help))
        }
    }
}

impl Selection {
    /// Passes the diagnostics of all files to the observer. Fails if one is an error.
    pub fn report(&self, observer: &dyn Observer) -> Result<(), Failure> {
        let analysis = &self.analysis;
        report(observer, &analysis.sources, &analysis.diagnostics)
    }

    fn no_benchmarks(&self) -> Failure {
        let failure = Failure::new("no benchmark among what was named");
        let kept_back = |c: &&Chosen| {
            self.analysis.is_listed(c.class) && is_demonstration(&self.analysis, c.class)
        };
        match self.chosen.iter().find(kept_back) {
            Some(c) => failure.help(format!(
                "{} is a demonstration, which runs only when its own name or file is given",
                self.analysis.class(c.class).name()
            )),
            None => failure.help("`yamba list` shows what there is"),
        }
    }

    /// The selected benchmarks, without duplicates. Benchmarks tagged `demonstration` are included
    /// only if selected by name or file.
    ///
    /// Fails if a name selects a class that is not a benchmark.
    pub fn benchmarks(&self) -> Result<Vec<ClassId>, Failure> {
        let mut all = Vec::new();
        for chosen in &self.chosen {
            let class = chosen.class;
            if !self.analysis.is_listed(class) {
                if chosen.how == How::Name {
                    return Err(no_benchmark(&self.analysis, class));
                }
            } else if !all.contains(&class)
                && (chosen.how != How::Pattern || !is_demonstration(&self.analysis, class))
            {
                all.push(class);
            }
        }
        if all.is_empty() {
            return Err(self.no_benchmarks());
        }
        Ok(all)
    }
}

/// Whether the class is a demonstration of a failure, which runs only if named.
fn is_demonstration(analysis: &Analysis, class: ClassId) -> bool {
    analysis.has_tag(class, "demonstration")
}

/// Help text for errors about a class that is not a benchmark.
const LISTED: &str = "`yamba list` shows the benchmarks";

fn no_benchmark(analysis: &Analysis, id: ClassId) -> Failure {
    let class = analysis.class(id);
    let name = class.name();
    if class.is_port {
        let base = class.parent.map(|p| analysis.class(p).name());
        let base = base.unwrap_or("its base");
        let help = format!("name {base}; this port applies wherever its condition holds");
        return Failure::new(format!("{name} is a port of {base}, not a benchmark of its own"))
            .help(help);
    }
    match class.role {
        Role::Benchmark => Failure::new(format!(
            "{name} is abstract and has no port: a shape for others to extend"
        ))
        .help(format!("`yamba port {name} --on PLATFORM` writes the skeleton of a port")),
        Role::InstructionSet => {
            Failure::new(format!("{name} is an instruction set, not a benchmark")).help(LISTED)
        }
        Role::OperatingSystem => {
            Failure::new(format!("{name} is an operating system, not a benchmark")).help(LISTED)
        }
        Role::Part => Failure::new(format!("{name} is a class to import, not a benchmark"))
            .help(format!("`yamba list {name}` tells what it is for; {LISTED}")),
    }
}

fn everything(disk: &Disk, with_library: bool) -> Vec<Request> {
    let all = disk.searched(with_library).into_iter();
    all.map(|input| request(How::Pattern, None, input)).collect()
}

fn requests(disk: &Disk, name: &str) -> Result<Vec<Request>, Failure> {
    if is_file(name) {
        let input = disk.open(Path::new(name))?;
        return Ok(vec![request(How::File, None, input)]);
    }
    if name.contains(['*', '?', '[', '{']) {
        return by_glob(disk, name);
    }
    by_name(disk, name)
}

fn is_file(name: &str) -> bool {
    name.ends_with(".yamba") || name.contains('/')
}

fn by_glob(disk: &Disk, pattern: &str) -> Result<Vec<Request>, Failure> {
    let matcher = glob(pattern)?;
    let mut found = Vec::new();
    for input in disk.searched(false) {
        for class in declared(&input).into_iter().filter(|c| matcher.is_match(c)) {
            found.push(request(How::Pattern, Some(class), input.clone()));
        }
    }
    if found.is_empty() {
        return Err(Failure::new(format!("no class matches {pattern}"))
            .help("`yamba list` shows what there is"));
    }
    Ok(found)
}

/// Compiles a glob, with a failure that explains the syntax.
pub fn glob(pattern: &str) -> Result<GlobMatcher, Failure> {
    let glob = Glob::new(pattern).map_err(|e| {
        Failure::new(format!("`{pattern}` is no glob: {}", e.kind()))
            .help("in a glob, * and ? stand for any characters, [ab] for one of several, {ab,cd} for one of several texts")
    })?;
    Ok(glob.compile_matcher())
}

fn by_name(disk: &Disk, name: &str) -> Result<Vec<Request>, Failure> {
    let all = disk.searched(true);
    // Only a text that contains the name can declare it; skip parsing the others.
    let mut candidates = all.iter().filter(|i| i.text.contains(name));
    if let Some(input) = candidates.find(|i| declared(i).iter().any(|c| c == name)) {
        let class = Some(name.to_string());
        return Ok(vec![request(How::Name, class, input.clone())]);
    }
    Err(unknown(name, &all))
}

fn unknown(name: &str, searched: &[Input]) -> Failure {
    if name.is_empty() {
        return Failure::new("an empty name names no class")
            .help("`yamba list` shows what there is");
    }
    let failure = Failure::new(format!("no class is named {name}"));
    if Path::new(name).is_dir() {
        return failure.help(format!(
            "{name} is a folder: name the files in it, as {}/*.yamba",
            name.trim_end_matches('/')
        ));
    }
    let file = format!("{name}.yamba");
    if Path::new(&file).is_file() {
        return failure.help(format!("there is a file {file} here: name it so"));
    }
    let names: Vec<String> = searched.iter().flat_map(declared).collect();
    failure
        .help(did_you_mean(name, &names).unwrap_or("`yamba list` shows what there is".to_string()))
}

/// The analysis of a text that is no file yet, as if it were the file `path`.
pub fn analyse_text(path: &str, text: &str) -> Result<Analysis, Failure> {
    let input = Input { path: path.to_owned(), text: text.to_owned() };
    Ok(yamba_lang::analyse(vec![input], &disk(&[])?))
}

/// The names of all classes that a user can name.
pub fn names(libraries: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let all = disk(libraries)?.searched(true);
    Ok(all.iter().flat_map(declared).collect())
}

/// Names and tags that the suite's files declare, even if the files have errors elsewhere.
#[derive(Default)]
pub struct Suite {
    /// Names of benchmarks, without abstract classes and ports.
    pub names: BTreeSet<String>,
    /// The tags of all classes.
    pub tags: BTreeSet<String>,
    /// The benchmarks that stand for a primitive, with its name.
    pub primitives: BTreeMap<String, String>,
}

/// Reads names and tags of the suite without semantic analysis: fast enough for shell completion.
pub fn suite() -> Result<Suite, Failure> {
    let files = match embedded::suite() {
        Some(files) => files,
        None => disk(&[])?.searched(false),
    };
    let mut suite = Suite::default();
    for class in files.iter().flat_map(classes) {
        suite.tags.extend(class.tags().map(str::to_owned));
        if !class.is_abstract && !matches!(class.parent, Parent::Ports(_)) {
            let name = &class.name.text;
            let primitive = class.primitive().map(str::to_owned);
            suite.primitives.extend(primitive.map(|primitive| (name.clone(), primitive)));
            suite.names.insert(class.name.text);
        }
    }
    Ok(suite)
}

/// `did you mean ...?` with the most similar name of `known`, if one is similar enough.
pub fn did_you_mean(name: &str, known: &[String]) -> Option<String> {
    let distance =
        |k: &String| strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase());
    let nearest = known.iter().min_by_key(|k| distance(k))?;
    let near = distance(nearest) <= name.chars().count().div_ceil(3);
    let holds = || known.iter().find(|k| name.len() > 3 && k.contains(name));
    let meant = if near { Some(nearest) } else { holds() };
    meant.map(|m| format!("did you mean {m}?"))
}

/// The names of the classes that a text declares, even if it has errors elsewhere.
fn declared(input: &Input) -> Vec<String> {
    classes(input).into_iter().map(|c| c.name.text).collect()
}

fn classes(input: &Input) -> Vec<Class> {
    let mut sources = SourceMap::default();
    let file = sources.add(input.path.as_str(), input.text.as_str());
    yamba_lang::syntax::parse(&sources, file).0.classes
}

fn chosen(analysis: &Analysis, requests: &[Request]) -> Vec<Chosen> {
    let mut all: Vec<Chosen> = Vec::new();
    for request in requests {
        for id in analysis.requested() {
            let class = analysis.class(id);
            let same_file = analysis.sources.file(class.file).path == request.input.path;
            let wanted = request.class.as_deref();
            if !same_file || wanted.is_some_and(|name| name != class.name()) {
                continue;
            }
            let how = request.how;
            match all.iter_mut().find(|c| c.class == id) {
                // Selection by name or file takes precedence over one by a pattern.
                Some(old) if old.how == How::Pattern => old.how = how,
                Some(_) => {}
                None => all.push(Chosen { class: id, how }),
            }
        }
    }
    all
}
