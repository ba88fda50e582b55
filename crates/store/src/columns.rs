//! The timed batches and the sizing of an entry in stored form: columns as JSON, compressed by LZ4.

use serde::{Deserialize, Serialize};
use yamba_record::event::Sizing;
use yamba_record::{Batches, Benchmark};

use crate::error::StoreFault;

#[derive(Serialize)]
struct Written<'a> {
    batches: &'a Batches,
    sizing: &'a [Sizing],
}

#[derive(Deserialize)]
struct Read {
    batches: Batches,
    sizing: Vec<Sizing>,
}

/// Compresses the batches and the sizing of an entry.
pub(crate) fn compress(benchmark: &Benchmark) -> serde_json::Result<Vec<u8>> {
    let (batches, sizing) = (&benchmark.batches, &benchmark.sizing);
    if batches.is_empty() && sizing.is_empty() {
        return Ok(Vec::new());
    }
    let text = serde_json::to_vec(&Written { batches, sizing })?;
    Ok(lz4_flex::compress_prepend_size(&text))
}

/// Restores the batches and the sizing of an entry.
pub(crate) fn unpack(bytes: &[u8], benchmark: &mut Benchmark) -> Result<(), StoreFault> {
    if bytes.is_empty() {
        return Ok(());
    }
    let read: Read = serde_json::from_slice(&decompressed(bytes)?)?;
    (benchmark.batches, benchmark.sizing) = (read.batches, read.sizing);
    Ok(())
}

/// Maximum expansion of an LZ4 block. A larger length is damaged, and must not allocate memory.
const GROWTH: usize = 255;

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, StoreFault> {
    let damaged = |text: String| StoreFault::Damaged(text);
    let (length, block) =
        lz4_flex::block::uncompressed_size(bytes).map_err(|e| damaged(e.to_string()))?;
    if length / GROWTH > block.len() {
        return Err(damaged("batches have no such length".to_owned()));
    }
    lz4_flex::decompress(block, length).map_err(|e| damaged(e.to_string()))
}
