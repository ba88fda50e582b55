//! Reads the runs of a fleet for its report: from the store, from a folder of documents, or one by
//! one.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use yamba_fleet::slow_nodes::{Failed, NodeRun};
use yamba_record::system_error::reason;
use yamba_store::{Detail, import};

use super::fleet::Plan;
use super::run_ref::{Runs, is_path};
use super::{Failure, StoreChoice};

/// The extension of documents in a folder.
const EXTENSION: &str = "json";

#[derive(Debug, Default)]
pub struct FleetRuns {
    /// The runs that were read.
    pub runs: Vec<NodeRun>,
    /// Documents that could not be read.
    pub failed: Vec<Failed>,
    /// Nodes that should have a run, from the plans of fleets.
    pub expected: Vec<String>,
}

/// A document in a folder.
struct File {
    path: PathBuf,
    /// The folder within the named folder, which names the job of a document without one.
    job: Option<String>,
}

/// Reads runs. A reference is the name of a fleet in the store, its folder, a folder of documents,
/// the file of a document, or a stored run. A document that names no node is of the node that its
/// file is named after.
///
/// # Errors
/// If a reference means nothing, or a stored run cannot be read. An unreadable document of a folder
/// only costs itself.
pub fn read(references: &[String], store: &StoreChoice) -> Result<FleetRuns, Failure> {
    let mut found = FleetRuns::default();
    for reference in references {
        let path = Path::new(reference);
        if path.is_dir() {
            match Plan::read(path)? {
                // The runs of the fleet are in the store: the folder has the captures of its nodes.
                Some(plan) => {
                    found.expected.extend(plan.tasks().into_iter().map(|task| task.node));
                    read_stored(&plan.name, store, &mut found)?;
                }
                None => read_folder(path, &mut found)?,
            }
        } else if is_path(reference) {
            let run = Runs::new(store.clone()).load(reference, Detail::Figures)?;
            found.runs.push(NodeRun::new(&run, &stem(path)));
        } else {
            read_stored(reference, store, &mut found)?;
        }
    }
    leave_out_copies(&mut found);
    Ok(found)
}

/// Leaves out further documents of one run: a copy would count as a node of its own, and make the
/// nodes of its class more alike.
fn leave_out_copies(found: &mut FleetRuns) {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    for run in std::mem::take(&mut found.runs) {
        match first.get(&run.id) {
            Some(node) if !run.id.is_empty() => found.failed.push(Failed {
                node: run.node,
                reason: format!("its document has the run {} of {node}", run.id),
            }),
            _ => {
                first.insert(run.id.clone(), run.node.clone());
                found.runs.push(run);
            }
        }
    }
}

/// Reads the runs of a fleet, or one run.
fn read_stored(
    reference: &str,
    choice: &StoreChoice,
    found: &mut FleetRuns,
) -> Result<(), Failure> {
    let mut store = choice.existing()?;
    let members = store.fleet(reference)?;
    if members.is_empty() {
        let id = store.find(reference).map_err(|error| no_fleet(reference, &mut store, error))?;
        let run = store.run(&id, Detail::Figures)?;
        found.runs.push(NodeRun::new(&run, &id));
    }
    for member in members {
        match store.run(&member.id, Detail::Figures) {
            Ok(run) => found.runs.push(NodeRun::new(&run, &member.id)),
            Err(error) => found.failed.push(Failed {
                node: member.fleet.map_or(member.id, |fleet| fleet.node),
                reason: error.to_string(),
            }),
        }
    }
    Ok(())
}

fn no_fleet(
    reference: &str,
    store: &mut yamba_store::Store,
    error: yamba_store::StoreError,
) -> Failure {
    let fleets = store.fleets().unwrap_or_default();
    if fleets.is_empty() {
        return error.into();
    }
    Failure::new(format!("there is no fleet and no run {reference}"))
        .help(format!("fleets are: {}", fleets.join(", ")))
}

/// Reads the documents of a folder and of the folders in it, on all processors.
fn read_folder(folder: &Path, found: &mut FleetRuns) -> Result<(), Failure> {
    let mut files = files(folder, None)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        let place = folder.display();
        return Err(Failure::new(format!("{place}: there is no document"))
            .help("the documents of a fleet are files *.json, in the folder or in one folder for each job"));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push(read_file(file));
        }
        own
    };
    // Threads beyond the CPU quota, if there is one, would only wait.
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let read: Vec<Result<NodeRun, Failed>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let each = workers.into_iter().map(|w| w.join());
        each.flat_map(|own| own.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    for one in read {
        match one {
            Ok(run) => found.runs.push(run),
            Err(failed) => found.failed.push(failed),
        }
    }
    found.runs.sort_by(|a, b| (&a.job, &a.node).cmp(&(&b.job, &b.node)));
    Ok(())
}

/// The documents in a folder, and in its folders if it is not one of these.
fn files(folder: &Path, job: Option<&str>) -> Result<Vec<File>, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::new(format!("{}: cannot be read: {}", folder.display(), reason(&e)))
            .help("the folder must be readable")
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() && job.is_none() {
            found.extend(files(&path, Some(&stem(&path)))?);
        } else if path.is_file() && path.extension().is_some_and(|e| e == EXTENSION) {
            found.push(File { path, job: job.map(str::to_owned) });
        }
    }
    Ok(found)
}

fn read_file(file: &File) -> Result<NodeRun, Failed> {
    let node = stem(&file.path);
    match import::read(&file.path, import::LARGEST, Detail::Figures) {
        Ok(run) => {
            let own = NodeRun::new(&run, &node);
            Ok(NodeRun { job: own.job.or_else(|| file.job.clone()), ..own })
        }
        Err(error) => Err(Failed { node, reason: error.to_string() }),
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
