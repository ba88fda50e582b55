//! Files that all programs of a target share. Each is built once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use super::cache::{self, Cache};
use super::command::{contained, copy, show};
use super::command_lines::{CommandLines, Shared};
use super::error::BuildError;
use super::manifest::{Manifest, Product};
use super::observe::Observer;
use super::{first_key, support};

const HEADER: &str = "yamba/program.h.gch";
const HARNESS: &str = "harness.o";
const RUNNER: &str = "bundle-runner";

/// Finds the shared files of the program with the C++ `generated`. Builds missing ones, except the
/// precompiled header.
pub(super) fn find(
    cache: &Cache,
    lines: &CommandLines,
    generated: &str,
) -> Result<Shared, BuildError> {
    thread::scope(|scope| {
        let harness = scope.spawn(|| harness(cache, lines));
        let support = support_objects(cache, lines, generated);
        Ok(Shared { header: header(cache, lines)?, harness: joined(harness)?, support: support? })
    })
}

/// The result of a thread. Continues its panic.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The folder of the precompiled header, if it has been built. The compiler searches it before the
/// runtime's folder and ignores a header that does not fit.
fn header(cache: &Cache, lines: &CommandLines) -> Result<Option<PathBuf>, BuildError> {
    // The header is compiled without the options of the user, and fits only a program without them.
    let Some(command) = lines.header().filter(|_| !lines.has_own_options()) else {
        return Ok(None);
    };
    let key = first_key::command_key(lines, &command)?.finish();
    let _alone = cache::alone(&key);
    Ok(cache.find_shared(&key, HEADER))
}

/// Builds the precompiled header. That takes longer than it saves for one program.
pub(super) fn make_header(cache: &Cache, lines: &CommandLines) -> Result<(), BuildError> {
    match lines.header() {
        Some(command) => beside(cache, lines, HEADER, command).map(drop),
        None => Ok(()),
    }
}

/// The object file of the code that does not depend on the benchmark. It is most of the compiler's
/// work, so it is compiled once.
pub(super) fn harness(cache: &Cache, lines: &CommandLines) -> Result<PathBuf, BuildError> {
    let folder = beside(cache, lines, HARNESS, lines.harness())?;
    Ok(folder.join(HARNESS))
}

/// The runner of a bundle.
pub(super) fn runner(cache: &Cache, lines: &CommandLines) -> Result<PathBuf, BuildError> {
    let folder = beside(cache, lines, RUNNER, lines.runner())?;
    Ok(folder.join(RUNNER))
}

/// The object files of `runtime/support` that a program needs. Each is compiled once for all
/// programs.
fn support_objects(
    cache: &Cache,
    lines: &CommandLines,
    generated: &str,
) -> Result<Vec<PathBuf>, BuildError> {
    let sources = support::sources(generated, &lines.runtime)?;
    let compile = |source: &Path| {
        let name = source.with_extension("o");
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        Ok(beside(cache, lines, &name, lines.support(source))?.join(&*name))
    };
    // In parallel, because a cold build waits for all of them.
    thread::scope(|scope| {
        let started: Vec<_> =
            sources.iter().map(|source| scope.spawn(move || compile(source))).collect();
        started.into_iter().map(joined).collect()
    })
}

/// The folder with the shared product of `command`. Concurrent requests build it once.
fn beside(
    cache: &Cache,
    lines: &CommandLines,
    name: &str,
    command: Command,
) -> Result<PathBuf, BuildError> {
    let key = first_key::command_key(lines, &command)?.finish();
    let _alone = cache::alone(&key);
    if let Some(folder) = cache.find_shared(&key, name) {
        return Ok(folder);
    }
    let make = |staging: &Path| {
        let out = staging.join(name);
        std::fs::create_dir_all(out.parent().unwrap_or(staging))?;
        let mut command = copy(&command);
        command.arg("-o").arg(out);
        compile(lines, command, staging)
    };
    Ok(cache.fill(&key, name, make)?.folder)
}

/// Runs `command` and lists the files that it read.
fn compile(
    lines: &CommandLines,
    mut command: Command,
    staging: &Path,
) -> Result<Manifest, BuildError> {
    let observer = Observer::new(lines, staging);
    observer.ask(&mut command, false);
    let output = contained(&mut command, staging).output()?;
    if !output.status.success() {
        return Err(BuildError::Tool {
            command: show(&command),
            output: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    let mut manifest = Manifest::new(Product::default(), true);
    observer.enter(&observer.observed(&output, None)?, &mut manifest);
    Ok(manifest)
}
