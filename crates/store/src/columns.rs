//! The timed batches, the sizing and the curves of an entry in stored form: columns as JSON,
//! compressed by LZ4.

use yamba_record::{Benchmark, document};

use crate::error::StoreFault;

/// Compresses the batches, the sizing and the curves of an entry.
pub(crate) fn compress(benchmark: &Benchmark) -> serde_json::Result<Vec<u8>> {
    let is_empty = benchmark.batches.is_empty() && benchmark.sizing.is_empty();
    if is_empty && benchmark.curves.is_empty() {
        return Ok(Vec::new());
    }
    let text = document::write_records(benchmark)?;
    Ok(lz4_flex::compress_prepend_size(&text))
}

/// Restores the batches, the sizing and the curves of an entry.
pub(crate) fn unpack(bytes: &[u8], benchmark: &mut Benchmark) -> Result<(), StoreFault> {
    if bytes.is_empty() {
        return Ok(());
    }
    Ok(document::read_records(&decompressed(bytes)?, benchmark)?)
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
