//! `yamba bundle`

use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use yamba_record::number::{bytes, counted};
use yamba_session::bundle::bundle;
use yamba_session::measure::Request;

use super::{Answer, Failure, Names, TargetOption, Terminal, arguments, output};

/// Make one executable that measures on a machine without Yamba
///
/// The file contains the programs of the benchmarks and a runner. It needs no compiler, shell,
/// shared library or writable folder. It prints a capture, from which `yamba import` computes the
/// figures. NAMEs can also be folders of the suite, with their optional benchmarks: cpu, memory,
/// process, ipc, file, network, time, hardware.
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
    /// The file to write; `-` is standard output
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

impl Bundle {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let to = self.output.as_path();
        let is_standard = to == Path::new("-");
        if is_standard && io::stdout().is_terminal() {
            return Err(Failure::new("-o -: standard output is a terminal")
                .help("name a file, or send standard output into one"));
        }
        output::check(Some(to))?;
        let names = self.names.request();
        let target = self.target.target.clone();
        let request = Request::for_bundle(names, target, self.quick, arguments());
        let made = bundle(request, &Terminal::default())?;
        if is_standard {
            output::written(|out| out.write_all(&made.packed.bytes))?;
        } else {
            let cannot = |e| output::cannot_write(to, &e).help("name another file with -o");
            output::whole(to, |out| out.write_all(&made.packed.bytes))?;
            fs::set_permissions(to, fs::Permissions::from_mode(0o755)).map_err(cannot)?;
        }
        for (class, reason) in &made.absent {
            output::note(&format!("note: without {class}: {reason}\n"));
        }
        let place =
            if is_standard { "standard output".to_owned() } else { to.display().to_string() };
        output::note(&format!(
            "{place}: {}, {}\n",
            counted(made.programs, "benchmark", "benchmarks"),
            bytes(made.packed.bytes.len() as u64)
        ));
        Ok(if made.has_faults { Answer::No } else { Answer::Done })
    }
}
