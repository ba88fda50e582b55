//! Makes a file to carry to another machine, and computes the run that it recorded there.

mod import;

use std::fs;
use std::path::Path;

use yamba_fleet::bundle::{Contents, Packed, Plan, PlannedProgram, pack};
use yamba_harness::replay::{FixedLaunch, fixed_launch};
use yamba_harness::{Job, NoProgram, Options};
use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::system_error::reason;
use yamba_toolchain::build::{self, BuildOptions};
use yamba_toolchain::{embedded, suite_topics};

use super::failure::help_for_home;
use super::jobs::{build_failure, jobs, origin};
use super::measure::{self, Request};
use super::select::{self, Names, Selection};
use super::{Failure, Observer};

pub use import::{Imported, import};

/// The tag of classes that load shared libraries at run time. A bundle has none.
const LIBRARIES: &str = "libraries";

/// Why a bundle has none of these.
const DYNAMIC: &str = "it loads shared libraries at run time";

/// A bundle that is ready to be written.
#[derive(Debug)]
pub struct Bundle {
    /// The file.
    pub packed: Packed,
    /// The benchmarks that it contains.
    pub programs: usize,
    /// Benchmarks that it does not contain: class and reason.
    pub absent: Vec<(String, String)>,
    /// Whether one of these has a fault in its source, which has been shown.
    pub has_faults: bool,
}

/// Builds the benchmarks of a request and packs them.
///
/// # Errors
/// If a name is invalid, or nothing can be built.
pub fn bundle(request: Request, observer: &dyn Observer) -> Result<Bundle, Failure> {
    let (selection, classes) = selected(&request, observer)?;
    let analysis = &selection.analysis;
    let target = super::target(request.target.as_deref(), analysis)?;
    let carried = |class: &ClassId| !analysis.has_tag(*class, LIBRARIES);
    let (classes, dynamic): (Vec<ClassId>, Vec<ClassId>) = classes.into_iter().partition(carried);
    let options = BuildOptions { elsewhere: true, ..BuildOptions::default() };
    let jobs = jobs(analysis, &classes, &target, &options, observer)?;
    let built = classes.iter().zip(&jobs).find(|(_, job)| job.program.is_ok());
    let Some((first, _)) = built else {
        return Err(no_program(&names_of(analysis, &dynamic), &target));
    };
    let runner = build::bundle_runner(analysis, *first, &target);
    let runner = runner.map_err(|e| build_failure(observer, analysis, e))?;
    let fixed = fixed_launch(&request.options);
    let mut plan = plan(&jobs, &request.options, &fixed, &target);
    let dynamic = names_of(analysis, &dynamic).into_iter();
    plan.absent.extend(dynamic.map(|class| (class, DYNAMIC.to_owned())));
    let origin = origin(analysis, &jobs, &target, &request.arguments);
    plan.producer = origin.producer;
    plan.producer.elsewhere = true;
    plan.home = if embedded::is_checkout() { String::new() } else { embedded::content_hash() };
    let absent = plan.absent.clone();
    let contents = Contents {
        runner: read(&runner)?,
        programs: programs(&jobs)?,
        plan,
        sources: origin.sources,
        arguments: fixed.arguments,
        silence_ns: fixed.silence.as_nanos() as u64,
        timeout_ns: fixed.timeout.as_nanos() as u64,
        short_batch_ns: fixed.short_batch_ns,
        files: yamba_machine::FILES.iter().map(|f| (*f).to_owned()).collect(),
    };
    let all = contents.programs.len();
    observer.building(0, all);
    let packed = pack(&contents, |packed| observer.building(packed, all));
    observer.building_ended();
    let is_faulty = |job: &Job| matches!(job.program, Err(NoProgram::Unbuilt(_)));
    Ok(Bundle { packed, programs: all, absent, has_faults: jobs.iter().any(is_faulty) })
}

fn read(program: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(program).map_err(|e| {
        Failure::new(format!("{}: {}", program.display(), reason(&e))).help(help_for_home())
    })
}

fn names_of(analysis: &Analysis, classes: &[ClassId]) -> Vec<String> {
    classes.iter().map(|class| analysis.class(*class).name().to_owned()).collect()
}

/// The failure of a request without any program. `dynamic` has the names of those that no bundle
/// can contain.
fn no_program(dynamic: &[String], target: &Target) -> Failure {
    if let [name, ..] = dynamic {
        return Failure::new(format!("no bundle can contain {name}: {DYNAMIC}"))
            .help("name another benchmark, too");
    }
    Failure::new(format!("no benchmark could be built for {target}"))
        .help("`yamba list --platforms` shows on which platforms each exists")
}

/// The classes of a request. A name may also be that of a folder of the suite, such as `memory`.
pub(super) fn selected(
    request: &Request,
    observer: &dyn Observer,
) -> Result<(Selection, Vec<ClassId>), Failure> {
    let is_topic = |name: &&String| suite_topics::is_known(name);
    let topics = &request.names.names;
    let topic = topics.iter().find(is_topic);
    if let (Some(topic), Some(other)) = (topic, topics.iter().find(|name| !is_topic(name))) {
        return Err(Failure::new(format!("{topic} is a folder of the suite, and {other} is not"))
            .help("name folders alone, or benchmarks alone: 'lat_*' is a pattern of their names"));
    }
    if topic.is_none() {
        let selection = select::select(&request.names, observer)?;
        let classes = request.classes(&selection)?;
        return Ok((selection, classes));
    }
    let whole = Names { names: Vec::new(), libraries: request.names.libraries.clone() };
    let selection = select::select(&whole, observer)?;
    let mut classes = selection.benchmarks()?;
    classes.retain(|class| is_of(&selection.analysis, *class, topics));
    measure::by_topic(&selection.analysis, &mut classes);
    Ok((selection, classes))
}

fn is_of(analysis: &Analysis, class: ClassId, topics: &[String]) -> bool {
    let folder = suite_topics::folder(analysis, class);
    topics.iter().any(|topic| topic == folder)
}

fn plan(jobs: &[Job], options: &Options, fixed: &FixedLaunch, target: &Target) -> Plan {
    let built = jobs.iter().filter(|job| job.program.is_ok());
    let absent = jobs.iter().filter_map(|job| {
        let reason = job.program.as_ref().err()?;
        Some((job.class.clone(), reason.text().to_owned()))
    });
    Plan {
        isa: target.isa.clone(),
        system: target.system.clone(),
        quick: options.quick,
        launches: fixed.launches,
        time_ns: options.time.as_nanos() as u64,
        batches: fixed.request.batches,
        launch_time_ns: fixed.request.time_ns,
        warmup_ns: fixed.request.warmup_ns,
        precision: options.precision,
        programs: built
            .map(|job| PlannedProgram {
                class: job.class.clone(),
                provenance: job.provenance.clone(),
            })
            .collect(),
        absent: absent.collect(),
        ..Plan::default()
    }
}

fn programs(jobs: &[Job]) -> Result<Vec<Vec<u8>>, Failure> {
    let built = jobs.iter().filter_map(|job| job.program.as_ref().ok());
    built.map(|program| read(&program.path)).collect()
}
