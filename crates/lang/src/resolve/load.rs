//! Finds the classes in use: follows `extends`, `ports` and `import` from the requested files, and
//! adds all ports of these classes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::suggest;
use crate::ast::{Atom, Ident, MemberKind, Parent};
use crate::diagnostic::{Diagnostic, Severity, error};
use crate::input::{Files, Input};
use crate::model::{Analysis, Class, ClassId, Role};
use crate::source::{FileId, Span};
use crate::{cpp, syntax};

/// The default parent.
const DEFAULT_PARENT: &str = "Latency";
const ISA_ROOT: &str = "InstructionSet";
const SYSTEM_ROOT: &str = "OperatingSystem";

/// Loads all files that `roots` need. The classes of the result know their parents, roles and
/// imports.
pub(super) fn load(roots: Vec<Input>, files: &dyn Files) -> Analysis {
    let mut loader = Loader::new(files);
    loader.read_roots(roots);
    loader.add_platforms();
    loader.settle();
    loader.cut_cycles();
    loader.assign_roles();
    loader.analysis
}

struct Loader<'a> {
    files: &'a dyn Files,
    analysis: Analysis,
    by_path: HashMap<String, FileId>,
    by_place: HashMap<(FileId, usize), ClassId>,
    /// Classes whose parent, imports, condition and ports are not resolved yet.
    pending: VecDeque<ClassId>,
    folders: HashSet<String>,
    /// Names of nearby files, for suggestions.
    stems: BTreeSet<String>,
    /// Nearby files with ports, by the name of the ported class.
    ports: BTreeMap<String, Vec<Input>>,
    /// Nearby files that declare an instruction set or operating system, in order of path.
    platforms: BTreeMap<String, Input>,
    reported: BTreeSet<(Span, &'static str)>,
}

impl<'a> Loader<'a> {
    fn new(files: &'a dyn Files) -> Loader<'a> {
        Loader {
            files,
            analysis: Analysis::default(),
            by_path: HashMap::new(),
            by_place: HashMap::new(),
            pending: VecDeque::new(),
            folders: HashSet::new(),
            stems: BTreeSet::new(),
            ports: BTreeMap::new(),
            platforms: BTreeMap::new(),
            reported: BTreeSet::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.primary.span, diagnostic.code)) {
            self.analysis.diagnostics.push(diagnostic);
        }
    }

    fn read_roots(&mut self, roots: Vec<Input>) {
        let mut paths = Vec::new();
        for root in roots {
            paths.push(root.path.clone());
            if let (id, true) = self.parse(root) {
                let count = self.analysis.files[id.0 as usize].classes.len();
                for index in 0..count {
                    let class = self.admit(id, index);
                    self.analysis.classes[class.0].is_requested = true;
                }
            }
        }
        self.refuse_duplicates();
        for path in paths {
            self.look_around(&path);
        }
        if self.folders.is_empty() {
            self.look_around("");
        }
    }

    /// Parses a text once for each path; returns `false` if it was already parsed. Reports its
    /// diagnostics.
    fn parse(&mut self, input: Input) -> (FileId, bool) {
        if let Some(id) = self.by_path.get(&input.path) {
            return (*id, false);
        }
        let (id, diagnostics) = self.add(input);
        diagnostics.into_iter().for_each(|d| self.report(d));
        (id, true)
    }

    fn add(&mut self, input: Input) -> (FileId, Vec<Diagnostic>) {
        let id = self.analysis.sources.add(input.path.clone(), input.text);
        self.by_path.insert(input.path, id);
        let (file, diagnostics) = syntax::parse(&self.analysis.sources, id);
        self.analysis.files.push(file);
        (id, diagnostics)
    }

    fn admit(&mut self, file: FileId, index: usize) -> ClassId {
        if let Some(id) = self.by_place.get(&(file, index)) {
            return *id;
        }
        let id = ClassId(self.analysis.classes.len());
        let ast = self.analysis.files[file.0 as usize].classes[index].clone();
        let is_port = matches!(ast.parent, Parent::Ports(_));
        self.analysis.classes.push(Class {
            id,
            file,
            ast,
            parent: None,
            is_port,
            role: Role::Part,
            imports: Vec::new(),
            is_requested: false,
        });
        self.by_place.insert((file, index), id);
        self.pending.push_back(id);
        id
    }

    fn refuse_duplicates(&mut self) {
        let mut seen: HashMap<String, Span> = HashMap::new();
        let mut found = Vec::new();
        for class in &self.analysis.classes {
            let name = &class.ast.name;
            match seen.get(&name.text) {
                None => {
                    seen.insert(name.text.clone(), name.span);
                }
                Some(first) => found.push(
                    error!("duplicate-class" at name.span, "the class `{name}` is defined twice";
                    help "give one of them another name")
                    .here("again here")
                    .also(*first, "first defined here"),
                ),
            }
        }
        for diagnostic in found {
            self.report(diagnostic);
        }
    }

    /// Finds the ports in the folder of `path` without parsing its files.
    fn look_around(&mut self, path: &str) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !self.folders.insert(folder.to_owned()) {
            return;
        }
        for input in self.files.around(path) {
            let file_name = input.path.rsplit('/').next().unwrap_or_default();
            self.stems.extend(file_name.strip_suffix(".yamba").map(str::to_owned));
            let declared = declarations(&input.text);
            if declared.platform {
                self.platforms.entry(input.path.clone()).or_insert_with(|| input.clone());
            }
            for name in declared.ports {
                let known = self.ports.entry(name).or_default();
                if known.iter().all(|k| k.path != input.path) {
                    known.push(input.clone());
                }
            }
        }
    }

    /// Adds all instruction sets and operating systems, which are always in use as possible
    /// targets.
    fn add_platforms(&mut self) {
        for input in std::mem::take(&mut self.platforms).into_values() {
            let (id, _) = self.parse(input);
            for index in 0..self.analysis.files[id.0 as usize].classes.len() {
                let class = &self.analysis.files[id.0 as usize].classes[index];
                if matches!(&class.parent, Parent::Extends(base) if base.text == ISA_ROOT || base.text == SYSTEM_ROOT)
                {
                    self.admit(id, index);
                }
            }
        }
    }

    fn settle(&mut self) {
        while let Some(id) = self.pending.pop_front() {
            self.resolve_parent(id);
            self.resolve_imports(id);
            self.resolve_condition_names(id);
            let path = self.analysis.sources.file(self.analysis.class(id).file).path.clone();
            self.look_around(&path);
            // A folder that is new in this round may contain ports of classes resolved before.
            self.find_ports();
        }
    }

    fn find_ports(&mut self) {
        let names: BTreeSet<String> =
            self.analysis.classes.iter().map(|c| c.name().to_owned()).collect();
        for name in names {
            for input in self.ports.remove(&name).unwrap_or_default() {
                self.admit_ports(input, &name);
            }
        }
    }

    fn admit_ports(&mut self, input: Input, name: &str) {
        let id = match self.by_path.get(&input.path) {
            Some(id) => *id,
            None => self.parse_port(input, name),
        };
        let ported: Vec<(usize, Ident)> = self.analysis.files[id.0 as usize]
            .classes
            .iter()
            .enumerate()
            .filter_map(|(i, c)| match &c.parent {
                Parent::Ports(base) if base.text == name => Some((i, base.clone())),
                _ => None,
            })
            .collect();
        for (index, base) in ported {
            if self.is_in_use(id, &base) {
                self.admit(id, index);
            }
        }
    }

    /// Parses the file of a port. Faults there become a warning, so that they do not stop other
    /// benchmarks.
    fn parse_port(&mut self, input: Input, name: &str) -> FileId {
        let (id, mut diagnostics) = self.add(input);
        let fault = diagnostics.iter().find(|d| d.severity == Severity::Error);
        if let Some(fault) = fault {
            let warning = error!("unreadable-port" at fault.primary.span,
                "this file declares a port of `{name}` and is left out: {}", fault.message;
                help "fix the file, or move it out of this folder")
            .as_warning();
            diagnostics = vec![warning];
            self.analysis.files[id.0 as usize].classes.clear();
            self.analysis.files[id.0 as usize].natives.clear();
        }
        diagnostics.into_iter().for_each(|d| self.report(d));
        id
    }

    /// Whether `base`, resolved from `file`, is one of the classes in use.
    fn is_in_use(&mut self, file: FileId, base: &Ident) -> bool {
        match self.locate(file, &base.text) {
            Lookup::Class(file, index) => self.by_place.contains_key(&(file, index)),
            _ => false,
        }
    }

    fn locate(&mut self, from: FileId, name: &str) -> Lookup {
        if let Some(index) = self.class_in(from, name) {
            return Lookup::Class(from, index);
        }
        let path = self.analysis.sources.file(from).path.clone();
        let Some(input) = self.files.find(&path, name) else {
            return self.locate_requested(name);
        };
        let found_path = input.path.clone();
        let (id, _) = self.parse(input);
        match self.class_in(id, name) {
            Some(index) => Lookup::Class(id, index),
            None => Lookup::FileWithout(found_path),
        }
    }

    /// A class of another file on the same command line.
    fn locate_requested(&self, name: &str) -> Lookup {
        let requested = self.analysis.classes.iter().find(|c| c.is_requested && c.name() == name);
        let place =
            requested.and_then(|class| self.by_place.iter().find(|(_, id)| **id == class.id));
        place.map_or(Lookup::Nothing, |((file, index), _)| Lookup::Class(*file, *index))
    }

    fn class_in(&self, file: FileId, name: &str) -> Option<usize> {
        self.analysis.files[file.0 as usize].classes.iter().position(|c| c.name.text == name)
    }

    fn lookup(&mut self, from: FileId, name: &Ident, purpose: &str) -> Option<ClassId> {
        match self.locate(from, &name.text) {
            Lookup::Class(file, index) => Some(self.admit(file, index)),
            Lookup::FileWithout(path) => {
                self.report(error!("file-without-class" at name.span,
                    "the file `{path}` defines no class `{name}`";
                    help format!("a class that is looked up by name stands in a file of its name: define `{name}` there"))
                    .here(purpose.to_owned()));
                None
            }
            Lookup::Nothing => {
                self.report_unknown(name, purpose);
                None
            }
        }
    }

    fn report_unknown(&mut self, name: &Ident, purpose: &str) {
        let classes = self.analysis.classes.iter().map(|c| c.name());
        let known: BTreeSet<&str> = classes.chain(self.stems.iter().map(String::as_str)).collect();
        let otherwise = format!(
            "define it here, or in a file `{name}.yamba` beside this one or in a folder given with --lib"
        );
        let help = suggest::help(&name.text, known.iter().copied(), otherwise);
        self.report(
            error!("unknown-class" at name.span, "there is no class `{name}`"; help help)
                .here(purpose.to_owned()),
        );
    }

    fn resolve_parent(&mut self, id: ClassId) {
        let class = self.analysis.class(id);
        let (file, own_name) = (class.file, class.ast.name.clone());
        let parent = match class.ast.parent.clone() {
            Parent::Nothing => None,
            Parent::Default => {
                let name = Ident { text: DEFAULT_PARENT.to_owned(), span: own_name.span };
                self.lookup(file, &name, "extends `Latency`, as no other base is named")
            }
            Parent::Extends(name) => self.lookup(file, &name, "to be extended"),
            Parent::Ports(name) => self.lookup(file, &name, "to be ported"),
        };
        self.analysis.classes[id.0].parent = parent;
    }

    fn resolve_imports(&mut self, id: ClassId) {
        let class = self.analysis.class(id);
        let file = class.file;
        let names: Vec<Ident> = class
            .ast
            .members
            .iter()
            .filter_map(|m| match &m.kind {
                MemberKind::Import(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        for name in names {
            if let Some(imported) = self.lookup(file, &name, "to be imported") {
                self.analysis.classes[id.0].imports.push((name, imported));
            }
        }
    }

    fn resolve_condition_names(&mut self, id: ClassId) {
        let class = self.analysis.class(id);
        let Some(condition) = class.ast.on.clone() else {
            return;
        };
        let file = class.file;
        for (atom, span) in condition.atoms() {
            let (Atom::Name(name) | Atom::AtLeast(name, _)) = atom else {
                continue;
            };
            if name == self.analysis.class(id).name() {
                continue; // the class of a platform itself: `yamba linux ... on linux`
            }
            match self.locate(file, name) {
                Lookup::Class(file, index) => {
                    self.admit(file, index);
                }
                _ => self.report_unknown_platform(name, span),
            }
        }
    }

    fn report_unknown_platform(&mut self, name: &str, span: Span) {
        let known: Vec<String> = self.platform_names();
        let otherwise =
            format!("known are {}; also cpu(FEATURE), root, file(\"PATH\")", known.join(", "));
        let help = suggest::help(name, known.iter().map(String::as_str), otherwise);
        self.report(error!("unknown-platform" at span,
            "no instruction set or operating system is called `{name}`";
            help help));
    }

    fn platform_names(&self) -> Vec<String> {
        let is_platform = |c: &&Class| matches!(&c.ast.parent, Parent::Extends(base) if base.text == ISA_ROOT || base.text == SYSTEM_ROOT);
        self.analysis.classes.iter().filter(is_platform).map(|c| c.name().to_owned()).collect()
    }

    /// Reports a class that is its own ancestor once, and removes its parent, so that later walks
    /// terminate.
    fn cut_cycles(&mut self) {
        for start in 0..self.analysis.classes.len() {
            let mut path = vec![ClassId(start)];
            while let Some(parent) = self.analysis.class(path[path.len() - 1]).parent {
                if parent == ClassId(start) {
                    self.report_cycle(&path);
                    self.analysis.classes[start].parent = None;
                    break;
                }
                if path.contains(&parent) {
                    break; // a cycle further up, reported from there
                }
                path.push(parent);
            }
        }
    }

    fn report_cycle(&mut self, path: &[ClassId]) {
        let class = self.analysis.class(path[0]);
        let mut names: Vec<&str> = path.iter().map(|id| self.analysis.class(*id).name()).collect();
        names.push(class.name());
        let is_port = path.iter().any(|id| self.analysis.class(*id).is_port);
        let (code, word) =
            if is_port { ("cyclic-ports", "ports") } else { ("cyclic-extends", "extends") };
        let mut diagnostic = error!(code at class.ast.name.span,
            "`{}` {word} itself: {}", class.name(), names.join(" -> ");
            help "one class of the circle must build on something else");
        for id in &path[1..] {
            diagnostic =
                diagnostic.also(self.analysis.class(*id).ast.name.span, "part of the circle");
        }
        self.report(diagnostic);
    }

    fn assign_roles(&mut self) {
        for index in 0..self.analysis.classes.len() {
            let role = self.role_of(ClassId(index));
            self.analysis.classes[index].role = role;
        }
    }

    fn role_of(&self, id: ClassId) -> Role {
        let mut at = Some(id);
        while let Some(id) = at {
            let class = self.analysis.class(id);
            match class.name() {
                "Benchmark" => return Role::Benchmark,
                ISA_ROOT => return Role::InstructionSet,
                SYSTEM_ROOT => return Role::OperatingSystem,
                _ => at = class.parent,
            }
        }
        Role::Part
    }
}

enum Lookup {
    Class(FileId, usize),
    FileWithout(String),
    Nothing,
}

struct Declared {
    ports: BTreeSet<String>,
    platform: bool,
}

/// Finds probable declarations in a text by a scan. Parsing every file of the library at each start
/// would be too slow.
fn declarations(text: &str) -> Declared {
    let mut declared = Declared { ports: BTreeSet::new(), platform: false };
    if text.contains("ports") || text.contains(ISA_ROOT) || text.contains(SYSTEM_ROOT) {
        let words: Vec<&str> = cpp::tokens(text).into_iter().map(|t| &text[t.range]).collect();
        for pair in words.windows(2) {
            match pair {
                ["ports", name] => {
                    declared.ports.insert((*name).to_owned());
                }
                ["extends", base] => declared.platform |= *base == ISA_ROOT || *base == SYSTEM_ROOT,
                _ => {}
            }
        }
    }
    declared
}
