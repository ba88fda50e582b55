//! The run document itself.

use std::io::{self, Write};

use yamba_record::Run;

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, run)?;
    out.write_all(b"\n")
}
