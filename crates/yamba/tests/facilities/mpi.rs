//! Benchmarks of MPI: two ranks that `mpirun` provides on this machine.

use std::path::Path;

use serde_json::Value;

use crate::Missing;
use crate::network::{figure_of, is_caught_by};
use crate::remote::{places, said, without};
use crate::support::{Answer, Yamba, json, processes_of, until};

/// Why these tests cannot run, if they cannot.
fn check() -> Result<(), Missing> {
    if !Path::new("/usr/bin/mpirun").exists() {
        let why = "needs mpirun: scripts/install-missing cluster installs it";
        return Err(Missing::new(why));
    }
    if std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return Err(Missing::new("two ranks need two processors"));
    }
    Ok(())
}

pub fn ranks_of_mpirun_are_measured() -> Result<(), Missing> {
    check()?;
    let words = "run lat_mpi bw_mpi --set message=4Ki --quick --launches 1 --json";
    let run = json(&mut Yamba::new(), words);
    for class in ["lat_mpi", "bw_mpi"] {
        let figure = figure_of(&run, class);
        assert_eq!(figure["status"], "ok", "{figure}");
        assert_eq!(figure["evidence"]["bytes_received_per_byte"]["median"], 1.0);
    }
    Ok(())
}

const FALSE_ONES: &str = "
yamba short_message extends lat_mpi
{
    void pass()
    {
        must(mpi_ranks.send(buffer, int(message) - 1, mpi_ranks.byte_type, 1, mpi_ranks.message_tag, mpi_ranks.world) == 0);
        must(mpi_ranks.receive(buffer, int(message), mpi_ranks.byte_type, 1, mpi_ranks.message_tag, mpi_ranks.world, nullptr) == 0);
    }
}
yamba other_bytes extends lat_mpi
{
    void pass() { super::pass(); buffer[0]++; }
}
yamba no_pass extends lat_mpi
{
    void pass() {}
}
yamba no_window extends bw_mpi
{
    void benchmark() {}
}
";

pub fn mpi_benchmark_of_something_else_is_invalid() -> Result<(), Missing> {
    check()?;
    let mut yamba = Yamba::new().file("false_ones.yamba", FALSE_ONES);
    let answer = yamba.run("run false_ones.yamba --quick --launches 1 --set message=64 --json");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    is_caught_by(figure_of(&run, "short_message"), "bytes_received_per_byte");
    is_caught_by(figure_of(&run, "other_bytes"), "message_unchanged");
    is_caught_by(figure_of(&run, "no_pass"), "answers_per_pass");
    is_caught_by(figure_of(&run, "no_window"), "messages_per_request");
    Ok(())
}

/// Hides the launcher, then the library.
pub fn missing_mpi_is_reported() -> Result<(), Missing> {
    check()?;
    let libraries = ["/usr/lib/*", "/usr/lib64", "/usr/lib"];
    let libraries = libraries.map(|folder| format!("{folder}/libmpi.so.40"));
    for (files, part) in
        [(places("mpirun"), "mpirun is not installed"), (libraries.to_vec(), "libmpi.so.40")]
    {
        let Some(mut command) = without(&files) else {
            return Err(Missing::new("only root can mount over files"));
        };
        let yamba = Yamba::new();
        let inner =
            yamba.command(&["run", "lat_mpi", "bw_mpi", "--quick", "--launches", "1", "--json"]);
        command.arg(inner.get_program()).args(inner.get_args());
        command.current_dir(yamba.folder.path());
        command.envs(inner.get_envs().filter_map(|(k, v)| Some((k, v?))));
        let all = said(&Answer::read(command.output().unwrap()).ok());
        assert!(all.len() >= 2, "{all:?}");
        for (class, status, notes) in &all {
            let is_clear = notes.contains(part) && notes.contains("`apt install openmpi-bin`");
            assert!(status == "skipped" && is_clear, "{class}: {notes}");
        }
    }
    Ok(())
}

pub fn killed_run_ends_mpirun() -> Result<(), Missing> {
    check()?;
    let place = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().env("TMPDIR", place.path());
    yamba.run("build lat_mpi").ok();
    let mut run = yamba.begin(&["run", "lat_mpi", "--time", "300s", "--set", "message=8"]);
    // The command, its cleanup process, the measuring process, its partner, mpirun and the two
    // processes that wait.
    until("it does not start", || processes_of(place.path()).len() >= 7);
    run.kill().unwrap();
    run.wait().unwrap();
    until("a process is left", || processes_of(place.path()).is_empty());
    Ok(())
}
