//! Programs that were built before: those of the bundle that packages of Yamba contain, for a
//! machine without a compiler.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use yamba_fleet::bundle::{Executables, Plan, PlannedProgram, unpack};
use yamba_harness::{Job, NoProgram, Program};
use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::run::{BuildInputs, Flags, Provenance, SourceFile};
use yamba_record::system_error;
use yamba_toolchain::build::{self, BuildError, BuildOptions, CompilerSource};
use yamba_toolchain::{embedded, provenance};

use super::jobs::{absent, build_failure, described, jobs_while};
use super::{Failure, NoUsualCompiler, Observer, Warning, home_failure};

/// The variable that names the bundle.
const VARIABLE: &str = "YAMBA_PREBUILT";

/// The bundle's name below the folder of the package, from the folder of the program.
const PLACE: &str = "../lib/yamba/suite.bundle";

/// The programs of benchmarks.
pub(super) struct Programs {
    pub(super) jobs: Vec<Job>,
    /// The compiler of the prebuilt programs; `None` if these were compiled here.
    pub(super) prebuilt_by: Option<String>,
}

/// Compiles the benchmarks, or takes them from the bundle: where `is_wanted`, and on a machine with
/// a bundle and without an installed compiler. The compiler of a Python package is used only for
/// benchmarks that the bundle does not have. `may_begin` is that of [`jobs_while`].
///
/// # Errors
/// If there is no such bundle, or it does not fit, and `is_wanted`; if a source has faults; if the
/// program that is named as compiler cannot compile.
pub(super) fn programs(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    is_wanted: bool,
    may_begin: &(dyn Fn(usize) -> bool + Sync),
    observer: &dyn Observer,
) -> Result<Programs, Failure> {
    let reason = if is_wanted { None } else { no_usual_compiler(analysis, target, observer)? };
    let compile = || {
        let jobs = jobs_while(analysis, classes, target, options, may_begin, observer)?;
        Ok(Programs { jobs, prebuilt_by: None })
    };
    // Those of another platform are measured only on request.
    let is_for_here = *target == build::host();
    if !is_wanted && (reason.is_none() || place().is_none() || !is_for_here) {
        return compile();
    }
    let can_compile = matches!(reason, Some(NoUsualCompiler::PythonPackage));
    if can_compile && options.command_line != Flags::default() {
        return compile();
    }
    if options.command_line != Flags::default() {
        return Err(Failure::new("prebuilt programs take no options of a compiler")
            .help("leave these options out, or install g++ (Debian: apt install g++)"));
    }
    let place = place().ok_or_else(|| {
        Failure::new("there are no prebuilt programs beside this `yamba`").help(format!(
            "packages of Yamba have them; {VARIABLE} names a file that `yamba bundle` wrote"
        ))
    })?;
    let bytes = fs::read(&place).map_err(|e| unusable(&place, &system_error::reason(&e)))?;
    let bundle = Bundle::open(&place, &bytes, analysis, target)?;
    if can_compile && !classes.iter().all(|class| bundle.has(analysis, *class, target)) {
        return compile();
    }
    if let Some(reason) = &reason {
        observer.warning(&Warning::Prebuilt(reason));
    }
    let jobs = classes.iter().map(|class| bundle.job(analysis, *class, target, observer));
    let jobs = jobs.collect::<Result<Vec<Job>, Failure>>()?;
    let compiler = bundle.plan.producer.compiler.clone();
    Ok(Programs { jobs, prebuilt_by: Some(compiler.unwrap_or_else(|| "unknown".to_owned())) })
}

/// Why the programs of the bundle may be better than compiled ones; `None` with an installed
/// compiler.
fn no_usual_compiler(
    analysis: &Analysis,
    target: &Target,
    observer: &dyn Observer,
) -> Result<Option<NoUsualCompiler>, Failure> {
    match build::compiler_source(analysis, target) {
        Ok(CompilerSource::Installed) => Ok(None),
        Ok(CompilerSource::PythonPackage) => Ok(Some(NoUsualCompiler::PythonPackage)),
        Err(BuildError::MissingCompiler { help, .. }) => Ok(Some(NoUsualCompiler::None { help })),
        Err(other) => Err(build_failure(observer, analysis, other)),
    }
}

/// The file of the bundle, if there is one.
fn place() -> Option<PathBuf> {
    if let Some(named) = named() {
        return Some(named);
    }
    let own = std::env::current_exe().ok()?;
    let beside = own.parent()?.join(PLACE);
    beside.is_file().then_some(beside)
}

fn named() -> Option<PathBuf> {
    let value = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

fn unusable(place: &Path, why: &str) -> Failure {
    let help = if named().is_some() {
        format!("{VARIABLE} names this file: correct or unset it")
    } else {
        "install the package again, or a compiler (Debian: apt install g++)".to_owned()
    };
    Failure::new(format!("{}: {why}", place.display())).help(help)
}

/// A bundle whose programs were built from the sources that this program contains.
struct Bundle<'a> {
    place: &'a Path,
    bytes: &'a [u8],
    plan: Plan,
    /// The source texts of its programs, by hash.
    sources: BTreeMap<String, String>,
    /// Where its programs are unpacked.
    folder: PathBuf,
    /// The command prefix that runs a program here.
    runner: Vec<String>,
    /// Its programs, once one is unpacked. `None` if the file is damaged.
    executables: OnceCell<Option<Executables<'a>>>,
}

impl<'a> Bundle<'a> {
    fn open(
        place: &'a Path,
        bytes: &'a [u8],
        analysis: &Analysis,
        target: &Target,
    ) -> Result<Bundle<'a>, Failure> {
        let archive = unpack(bytes)
            .ok_or_else(|| unusable(place, "it is no bundle of programs, or a damaged one"))?;
        let plan = archive.plan;
        if (&plan.isa, &plan.system) != (&target.isa, &target.system) {
            let own =
                format!("its programs are for {}-{}, not for {target}", plan.isa, plan.system);
            return Err(unusable(place, &own));
        }
        let other = "its programs were built from other files than those of this `yamba`";
        if embedded::is_checkout() {
            return Err(unusable(place, other)
                .help("unset YAMBA_HOME: its files may differ from those of the programs"));
        }
        if plan.home != embedded::content_hash() {
            return Err(unusable(place, other));
        }
        let folder = embedded::folder_for_programs(&archive.id).map_err(home_failure)?;
        let runner = build::runner(analysis, target);
        Ok(Bundle {
            place,
            bytes,
            plan,
            sources: archive.sources,
            folder,
            runner,
            executables: OnceCell::new(),
        })
    }

    /// The job of a class. A class that the bundle does not have, or whose files differ, has none.
    fn job(
        &self,
        analysis: &Analysis,
        class: ClassId,
        target: &Target,
        observer: &dyn Observer,
    ) -> Result<Job, Failure> {
        if analysis.program(class, target).variants.is_empty() {
            return Ok(absent(analysis, class, target));
        }
        let name = analysis.class(class).name();
        let own = described(analysis, class, target);
        let (program, provenance) = match self.planned(analysis, class, &own) {
            Some(planned) => (Ok(self.program(name)?), planned.provenance.clone()),
            None => (Err(self.missing(analysis, class, observer)), own),
        };
        let texts = self.included(&provenance);
        Ok(Job { class: name.to_owned(), program, provenance, texts })
    }

    /// The texts of included files, by hash.
    fn included(&self, program: &Provenance) -> BTreeMap<String, String> {
        let files = program.inputs.iter().flat_map(|inputs| &inputs.includes);
        let texts = files.filter_map(|file| self.sources.get_key_value(&file.hash));
        texts.map(|(hash, text)| (hash.clone(), text.clone())).collect()
    }

    /// Whether it has the program of a class, or this machine has none.
    fn has(&self, analysis: &Analysis, class: ClassId, target: &Target) -> bool {
        let own = described(analysis, class, target);
        analysis.program(class, target).variants.is_empty()
            || self.planned(analysis, class, &own).is_some()
    }

    /// The program of a class, if it was built from the same files.
    fn planned(
        &self,
        analysis: &Analysis,
        class: ClassId,
        own: &Provenance,
    ) -> Option<&PlannedProgram> {
        let name = analysis.class(class).name();
        // The suite's inputs are files of Yamba, which `open` has compared.
        let has_own_inputs = !is_of_suite(analysis, class);
        let same = |p: &&PlannedProgram| {
            let inputs = p.provenance.inputs.as_ref().filter(|_| has_own_inputs);
            p.class == name && are_equal(&p.provenance, own) && inputs.is_none_or(are_unchanged)
        };
        self.plan.programs.iter().find(same)
    }

    /// Why there is no program of a class. No bundle can have some of the suite: these are skipped,
    /// as where a machine lacks what they measure.
    fn missing(&self, analysis: &Analysis, class: ClassId, observer: &dyn Observer) -> NoProgram {
        let name = analysis.class(class).name();
        let help = format!("it needs a compiler: {}", build::how_to_get_compiler());
        let reason = self.plan.absent.iter().find(|(absent, _)| absent == name);
        if let (Some((_, reason)), true) = (reason, is_of_suite(analysis, class)) {
            return NoProgram::Absent(format!("not prebuilt, because {reason}; {help}"));
        }
        let why = format!("{name} is not among the prebuilt programs");
        observer.unbuilt(Failure::new(why.clone()).help(help));
        NoProgram::Unbuilt(why)
    }

    /// The program of a class, unpacked at its first use.
    fn program(&self, class: &str) -> Result<Program, Failure> {
        let path = self.folder.join(class);
        if !path.is_file() {
            let executables = self.executables.get_or_init(|| Executables::read(self.bytes));
            let executable = executables.as_ref().and_then(|all| all.get(class));
            let damaged = || unusable(self.place, &format!("its program of {class} is damaged"));
            write_program(&path, &executable.ok_or_else(damaged)?).map_err(home_failure)?;
        }
        let runner = self.runner.clone();
        Ok(Program { path, emulated: !runner.is_empty(), runner })
    }
}

/// Whether the file of a class is one of the suite, rather than of the user.
fn is_of_suite(analysis: &Analysis, class: ClassId) -> bool {
    let file = analysis.class(class).file;
    let path = Path::new(&analysis.sources.file(file).path);
    embedded::home().is_ok_and(|home| path.starts_with(&home.suite))
}

/// Whether two programs have the same source files. Their order depends on the other benchmarks of
/// the command.
fn are_equal(a: &Provenance, b: &Provenance) -> bool {
    let files = |program: &Provenance| -> BTreeSet<(String, String)> {
        program.files.iter().map(|file| (file.path.clone(), file.hash.clone())).collect()
    };
    files(a) == files(b)
}

/// Whether the files that the program includes are as they were. Of a linked library, and of a
/// file that was no text, the bundle has no hash to compare.
fn are_unchanged(inputs: &BuildInputs) -> bool {
    let is_same = |file: &SourceFile| {
        fs::read_to_string(&file.path).is_ok_and(|text| provenance::hash(&text) == file.hash)
    };
    let is_own = |name: &String| ["library ", "file "].iter().any(|own| name.starts_with(own));
    inputs.unlisted.is_none()
        && inputs.includes.iter().all(is_same)
        && !inputs.facts.keys().any(is_own)
}

/// Writes an executable in such a way that another process finds all of it or none.
fn write_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    // A file that is open for writing cannot be started.
    file.into_temp_path().persist(path).map_err(|e| e.error)
}
