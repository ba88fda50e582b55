//! The parameters, and the curve and method of each.

/// The largest ratio of the points around a climb of any length.
pub(crate) const WIDEST_CLIMB: f64 = 3.0;
/// The largest ratio of the points around a climb at whose middle a memory is full. If the address
/// selects one of many sets at random, their loads have a Poisson distribution: with 16 entries in
/// a set, a tenth of the accesses misses at 0.696 and nine tenths miss at 1.331 of the capacity.
/// Each end lies up to an eighth of an octave from a point. With fewer entries the climb is longer.
pub(crate) const WIDEST_SPREAD: f64 = 1.331 / 0.696 * 1.0905 * 1.0905;

/// How a parameter is read from its curve. Levels and steps count from 0. A step that takes more
/// than half of an octave is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The largest point before the only step of a curve that may rise steadily elsewhere.
    OnlyStep,
    /// The largest point before the curve begins to climb from one level to the next.
    Step {
        /// Which step.
        step: usize,
    },
    /// As `Step`, if it is the last one: else levels between are no levels, but parts of a climb.
    LastStep {
        /// Which step.
        step: usize,
    },
    /// The largest point before the last step, if the level beyond takes at least half as long
    /// again as an access at the point `reference`, and the time at the point `flat` is that of the
    /// first level. Neither is a part of the curve.
    StepBeyond {
        /// The point of an access at the level before.
        reference: f64,
        /// The point that shares the first level.
        flat: f64,
    },
    /// As `Step`, if the time at the point `reference`, which is no part of the curve, is that of
    /// the first level.
    StepIfFlat {
        /// The point that shares the first level.
        reference: f64,
    },
    /// The last point below the middle of a climb from one level to the next of up to an octave.
    /// Where an address is spread over the sets of a memory, some sets are full before the others:
    /// at its capacity, half of the accesses miss.
    Middle {
        /// Which step.
        step: usize,
    },
    /// The last point below the middle of the climb to the level of the last octave, if that is at
    /// least this much higher than the first level. Levels between are of no interest.
    LastClimb {
        /// The least difference.
        cycles: f64,
        /// The largest ratio of the points around the climb.
        widest: f64,
    },
    /// The first point beyond the only step of a curve with few points, whose step takes none.
    FirstAbove,
    /// The last point below the middle of a climb of any length, between a level and another one.
    LastBelow,
    /// The point where such a climb is steepest. Of the accesses to a cache that visit its lines in
    /// turn, the share of misses rises most just beyond its size, whichever lines it replaces.
    Steepest,
    /// The cycles of an operation on a level.
    Level {
        /// Which level.
        level: usize,
    },
    /// By how many cycles the level after a step is higher.
    Rise {
        /// Which step.
        step: usize,
    },
    /// The time in ns at a point, or the bytes.
    AtNs {
        /// The point.
        x: f64,
    },
    /// The cycles at a point.
    At {
        /// The point.
        x: f64,
    },
    /// By how many cycles the time at `x` exceeds that at `base`.
    Difference {
        /// The dearer point.
        x: f64,
        /// The cheaper point.
        base: f64,
    },
    /// The most operations in a cycle at any point.
    MostPerCycle,
    /// How many operations overlap: the time of one at the first point over the least time.
    Overlap,
    /// The time in ns of the level before the last step.
    LevelNs {
        /// Which level.
        level: usize,
    },
    /// The time in ns of the last point.
    LastNs,
    /// The time in ns of a level that the last two octaves are on.
    LastLevelNs,
    /// The median in ns over all points; the interval has all of them.
    MedianNs,
    /// The rate in MB/s of the fastest point, if an operation is 1 KiB.
    MegabytesPerSecond,
    /// The rate in MB/s of the last point, if an operation is 1 KiB.
    LastMegabytesPerSecond,
    /// The clock rate in GHz.
    Gigahertz,
    /// The clock rate in GHz at a point whose operation takes one cycle, if it takes one at `base`,
    /// and the same time at `control`, where the rate is that of `base` and all else is as at the
    /// point.
    GigahertzAt {
        /// The point.
        x: f64,
        /// The operation alone.
        base: f64,
        /// The same competitors for units of the core, without their effect on the rate.
        control: f64,
    },
}

impl Method {
    /// Whether the value is a point of the curve.
    pub(crate) fn is_point(self) -> bool {
        matches!(
            self,
            Method::OnlyStep
                | Method::Step { .. }
                | Method::LastStep { .. }
                | Method::StepBeyond { .. }
                | Method::StepIfFlat { .. }
                | Method::Middle { .. }
                | Method::LastClimb { .. }
                | Method::FirstAbove
                | Method::LastBelow
                | Method::Steepest
        )
    }
}

/// A parameter of a processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, such as `rob.entries`.
    pub name: &'static str,
    /// Its unit, such as `entries`.
    pub unit: &'static str,
    /// Its meaning in a few words.
    pub meaning: &'static str,
    /// The benchmark that records its curve.
    pub curve: &'static str,
    /// How it is read from the curve.
    pub method: Method,
    /// Whether a neighbour on the core changes it, so that only quiet passes count.
    pub is_shared: bool,
}

/// The parameter of this name.
#[must_use]
pub fn parameter(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|p| p.name == name)
}

/// All parameters, in the order of the table.
pub const PARAMETERS: &[Parameter] = &[
    shared("l1d.size", "B", "first data cache", "load_sizes", Method::Step { step: 0 }),
    shared("l1d.ways", "ways", "lines of a set", "load_sets", Method::Step { step: 0 }),
    of("l1d.line", "B", "cache line", "line_pairs", Method::FirstAbove),
    of("l1d.latency", "cycles", "a load that hits", "load_latency", Method::Level { level: 0 }),
    shared(
        "l1d.loads",
        "loads/cycle",
        "words that a loop reads",
        "memory_mountain",
        Method::MostPerCycle,
    ),
    shared("l1i.size", "B", "first instruction cache", "code_size", Method::Steepest),
    shared("l2.size", "B", "second cache", "load_sizes", Method::Step { step: 1 }),
    shared(
        "l2.ways",
        "ways",
        "lines of a set",
        "load_sets_far",
        Method::StepBeyond { reference: 1000.0, flat: 1001.0 },
    ),
    of("l2.latency", "cycles", "a load that hits", "load_latency", Method::Level { level: 1 }),
    of("l3.size", "B", "third cache", "load_sizes", Method::LastStep { step: 2 }),
    of("l3.latency", "ns", "a load that hits", "load_sizes", Method::LevelNs { level: 2 }),
    shared(
        "tlb1.entries",
        "entries",
        "first level of translations",
        "pages",
        Method::Step { step: 0 },
    ),
    shared("tlb1.ways", "ways", "translations of a set", "page_sets", Method::Step { step: 0 }),
    shared("tlb1.miss", "cycles", "a miss of the first level", "pages", Method::Rise { step: 0 }),
    shared(
        "tlb2.entries",
        "entries",
        "second level of translations",
        "pages",
        Method::Middle { step: 1 },
    ),
    shared("tlb2.miss", "cycles", "a miss of the second level", "pages", Method::Rise { step: 1 }),
    shared(
        "tlb1.huge_entries",
        "entries",
        "first level, of huge pages",
        "pages_huge",
        Method::StepIfFlat { reference: 1000.0 },
    ),
    shared(
        "issue.width",
        "instructions/cycle",
        "instructions started",
        "issue_width",
        Method::MostPerCycle,
    ),
    buffer("rob.entries", "instructions in flight", "rob"),
    buffer("loads.entries", "loads in flight", "loads"),
    buffer("stores.entries", "stores in flight", "stores"),
    buffer("registers.integer", "integer results in flight", "registers_integer"),
    buffer("registers.vector", "vector results in flight", "registers_vector"),
    shared("branch.penalty", "cycles", "a mispredicted branch", "branch_penalty", DIFFERENCE),
    shared(
        "branch.pattern",
        "branches",
        "longest pattern that is learnt",
        "branch_pattern",
        // Half of the branches are mispredicted. A second, slower predictor costs a cycle.
        Method::LastClimb { cycles: 3.0, widest: WIDEST_CLIMB },
    ),
    shared(
        "branch.targets",
        "branches",
        "jumps whose targets are known",
        "branch_targets",
        // A jump to an unknown target waits until it is decoded: the earliest stages of a pipeline.
        Method::LastClimb { cycles: 5.0, widest: WIDEST_SPREAD },
    ),
    shared("returns.entries", "entries", "return addresses", "returns", Method::OnlyStep),
    shared(
        "forwarding.hit",
        "cycles",
        "a load of the last store",
        "forwarding",
        Method::At { x: 1.0 },
    ),
    shared(
        "forwarding.miss",
        "cycles",
        "a load of more than the last store",
        "forwarding",
        Method::At { x: 2.0 },
    ),
    shared("alias4k.penalty", "cycles", "a load 4 KiB beside a store", "alias_4k", DIFFERENCE),
    shared("split.penalty", "cycles", "a load across two lines", "split_line", DIFFERENCE),
    of("denormal.penalty", "cycles", "a subnormal number", "denormal", DIFFERENCE),
    of("memory.latency", "ns", "a load from memory", "load_sizes", Method::LastLevelNs),
    of(
        "memory.loaded_latency",
        "ns",
        "beside reads of all processors",
        "loaded_latency",
        Method::LastNs,
    ),
    of(
        "memory.loaded_bandwidth",
        "MB/s",
        "reads of the others beside that load",
        "loaded_reads",
        Method::LastMegabytesPerSecond,
    ),
    of(
        "memory.bandwidth",
        "MB/s",
        "reads of all processors",
        "read_bandwidth",
        Method::MegabytesPerSecond,
    ),
    shared(
        "memory.lines_in_flight",
        "lines",
        "misses of one processor at once",
        "lines_in_flight",
        Method::Overlap,
    ),
    shared(
        "prefetch.streams",
        "streams",
        "sequences fetched ahead at once",
        "prefetch_streams",
        Method::LastBelow,
    ),
    shared(
        "prefetch.distance",
        "lines",
        "fetched beyond a sequence",
        "prefetch_distance",
        Method::LastBelow,
    ),
    of(
        "core_to_core.latency",
        "ns",
        "a write until another processor sees it",
        "core_to_core",
        Method::MedianNs,
    ),
    of("clock.frequency", "GHz", "clock rate of the core", "load_latency", Method::Gigahertz),
    shared(
        "clock.wide_vectors",
        "GHz",
        "clock rate beside the widest vectors",
        "vector_clock",
        Method::GigahertzAt { x: 2.0, base: 1.0, control: 3.0 },
    ),
    of(
        "clock.cost",
        "ns",
        "a reading of the system's clock",
        "clock_cost",
        Method::AtNs { x: 1.0 },
    ),
    of("clock.step", "ns", "step of the system's clock", "clock_cost", Method::AtNs { x: 2.0 }),
    of("cpuid.cost", "ns", "a CPUID instruction", "cpuid_cost", Method::AtNs { x: 1.0 }),
    of("storage.block", "B", "least that a read fetches", "read_ahead", Method::AtNs { x: 1.0 }),
    of(
        "readahead.bytes",
        "B",
        "most that a read in sequence fetches",
        "read_ahead",
        Method::AtNs { x: 2.0 },
    ),
];

/// By how much the second of two points is dearer.
const DIFFERENCE: Method = Method::Difference { x: 2.0, base: 1.0 };

/// A parameter that a neighbour on the core does not change, or only in a part of the passes.
const fn of(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    curve: &'static str,
    method: Method,
) -> Parameter {
    Parameter { name, unit, meaning, curve, method, is_shared: false }
}

/// A buffer of the core.
const fn buffer(name: &'static str, meaning: &'static str, curve: &'static str) -> Parameter {
    shared(name, "entries", meaning, curve, Method::OnlyStep)
}

/// A parameter of the core, which a neighbour on the core changes.
const fn shared(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    curve: &'static str,
    method: Method,
) -> Parameter {
    Parameter { name, unit, meaning, curve, method, is_shared: true }
}
