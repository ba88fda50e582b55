//! `yamba bundle`

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use clap::Args;
use yamba_record::number::{bytes, counted};
use yamba_session::bundle::bundle;
use yamba_session::measure::Request;

use super::{Failure, Names, TargetOption, Terminal, arguments, output};

/// Make one executable that measures on a machine without Yamba
///
/// The file contains the programs of the benchmarks and a runner. It needs no compiler, shell,
/// shared library or writable folder. It prints a capture, from which `yamba import` computes the
/// figures. A NAME can also be a folder of the suite: cpu, memory, process, ipc.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba bundle lat_pipe bw_pipe -o measure       two benchmarks, for machines like this one
  yamba bundle cpu memory process ipc -o measure --target aarch64-linux
  ./measure > capture.json                       there; then here: yamba import capture.json
  ./measure --serial                             frames with checksums, for a serial line
  ./measure --help                               its other options")]
pub(super) struct Bundle {
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    target: TargetOption,
    /// Measure briefly: shorter sweeps, 0.3 s a point, two launches
    #[arg(long)]
    quick: bool,
    /// The file to write
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

impl Bundle {
    pub(super) fn run(self) -> Result<(), Failure> {
        let names = self.names.request();
        let target = self.target.target.clone();
        let request = Request::for_bundle(names, target, self.quick, arguments());
        let made = bundle(request, &Terminal::default())?;
        let to = &self.output;
        let cannot = |e| output::cannot_write(to, &e).help("name another file with -o");
        output::whole(to, |out| out.write_all(&made.packed.bytes))?;
        fs::set_permissions(to, fs::Permissions::from_mode(0o755)).map_err(cannot)?;
        for (class, reason) in &made.absent {
            output::note(&format!("note: without {class}: {reason}\n"));
        }
        output::note(&format!(
            "{}: {}, {}\n",
            to.display(),
            counted(made.programs, "benchmark", "benchmarks"),
            bytes(made.packed.bytes.len() as u64)
        ));
        Ok(())
    }
}
