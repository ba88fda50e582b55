//! All constants of predictions. Each says whether it is a definition, comes from a measurement, or
//! was chosen.
//!
//! docs/notes/prediction.md and docs/notes/tracing.md have most of the measurements, and
//! tests/data/machines has some of the data. Names and lists of primitives are in `vector`.

// Precision of a trace (`vector/rounds.rs`).

/// The confidence of all intervals of traced times.
pub(crate) const CONFIDENCE: f64 = 0.9;

/// Quantile of the normal distribution for [`CONFIDENCE`]: 5 % lie above.
pub(crate) const NORMAL_QUANTILE: f64 = 1.645;

/// The longest time between two clock ticks, in ns: Linux has 100 to 1000 in a second.
pub(crate) const LONGEST_TICK_NS: f64 = 1e7;

/// Standard deviation of the tracer's cost of a call in an application, as a share of it. For 14
/// servers on a Granite Rapids, the user time of the trace was off by -53 to 147 ns a call, since
/// the calibration finds other code and data in the caches (docs/notes/tracing.md, "Two clocks").
pub(crate) const UNCERTAIN_COST: f64 = 0.5;

/// Standard deviation of the time that clock ticks miss, as a share of it: 35 to 43 ns of a call
/// and 95 to 110 ns of a page fault, whatever the call does (docs/notes/prediction.md, "The
/// measured side").
pub(crate) const UNCERTAIN_MISSED: f64 = 0.1;

/// Two mean sizes of a call are the same size if their ratio is less than this. A trace counts the
/// sizes within one power of two as one use with their mean (docs/tracing.md).
pub(crate) const NEAR_SIZE: f64 = 2.0;

// Costs (`costs`).

/// The processes of the benchmark whose switch is part of a call that sleeps: the thread itself and
/// the one that wakes it.
pub(crate) const SWITCHING_PROCESSES: f64 = 2.0;

/// A clock reading that costs at least this share of a null call enters the kernel. A reading in
/// user mode costs 0.14 of a null call on a Zen 3 (tests/data/machines/zen3), one that enters the
/// kernel does all that a null call does. The benchmark of a real system call for a clock
/// requires the same share of its figure.
pub(crate) const ENTERS_KERNEL: f64 = 0.8;

/// Half-width of a cost's part of the interval that is good enough, as a share of the kernel time:
/// a tenth of the median half-width of 29 traced applications, 8 to 11 %.
pub(crate) const PRECISE: f64 = 0.01;

/// Half-width of a cost's part that is good enough, as a share of the half-width of all costs
/// together. Without that part, the interval would be 3 % narrower: `1 - sqrt(1 - 0.25²)`.
pub(crate) const SMALL_PART: f64 = 0.25;

// Orders of magnitude of unknown costs, which only decide what is measured first. In
// tests/data/machines/zen3, making or replacing a process takes 114 to 381 us, a page fault 0.9 to
// 2.6 us, a null call 0.2 us and a switch 3 us.

/// A call that makes, replaces or ends a process, in ns.
pub(crate) const ROUGH_PROCESS_NS: f64 = 100_000.0;

/// A page fault, or a call that may wait, in ns.
pub(crate) const ROUGH_WAIT_NS: f64 = 1000.0;

/// The size of a call that may wait, in ns for each byte or descriptor: 0.07 (`read(unix)`) to 76
/// ns (`poll`) in tests/data/machines/zen3. It was chosen, since most of these calls take less than
/// 0.25 ns for a byte.
pub(crate) const ROUGH_SIZE_NS: f64 = 0.25;

/// Another call, in ns.
pub(crate) const ROUGH_CALL_NS: f64 = 500.0;

// Reads of files (`prediction/file_time.rs`).

/// The bytes whose time is the cost of a sequential read: a device needs twice the time for twice
/// the bytes. The benchmark of `read(file,sequential)` gives its figure for a page.
pub(crate) const SEQUENTIAL_BYTES: f64 = 4096.0;

// From one system to another (`carry`).

/// Times whose share of all is below this are errors of rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

/// The least share of a benchmark's cost that must be left without the primitives that it contains,
/// for a ratio of the rest. The rests on a Zen 3 are 0.48 (`execve`) or more, see
/// tests/data/machines/zen3: the limit acts only where the costs of the parts are wrong. It was
/// chosen, since no such system was measured.
pub(crate) const LEAST_REST: f64 = 0.1;

/// How deep primitives contain others: `execve` contains a `fork`, which contains page faults.
pub(crate) const DEPTH: u32 = 4;

/// The ratio of a primitive that was not measured yet may be outside of the known ratios by this
/// factor. It was chosen.
pub(crate) const UNMEASURED: f64 = 2.0;

// Changes of the application (`change`).

/// A call that another application makes less often than this share is rare there, as those at the
/// start of a connection are: its code and data may not be in the caches. It was chosen.
pub(crate) const RARE: f64 = 0.01;

// User time by counts (`carry/user_work.rs`).

/// The most instructions that a processor does in the time of an addition. Chosen: current
/// processors decode 4 to 10 in a cycle, and no program reaches that for long. The other bound is
/// an assumption without a number: apart from misses and mispredictions, an instruction takes at
/// most as long as a load from the first cache. Divisions and square roots take longer.
pub(crate) const MOST_AT_ONCE: f64 = 8.0;

/// By how much another processor may do the same instructions faster or slower than both of the
/// figures that carry them. Chosen, and not measured: makers say that a generation does 10 to 20 %
/// more in a cycle than the one before.
pub(crate) const OTHER_CORE: f64 = 1.25;
