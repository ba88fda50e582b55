//! The run document itself.

use std::io::{self, Write};

use yamba_record::{Run, document};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    document::write(run, out)?;
    Ok(run.benchmarks.len())
}
