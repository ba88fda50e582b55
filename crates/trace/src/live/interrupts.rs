//! Times interrupt work in a part of the time.
//!
//! The programs at interrupt work run at each soft interrupt, also at those within calls, which are part of the calls: a network server's packets on the loopback interface. There they cost more than the
//! programs at the calls themselves, so they are attached for about a twentieth of the time.

use std::io;
use std::time::{Duration, Instant};

use crate::bpf::Tracer;

/// How long the programs are attached at once. To attach them takes up to 16 ms.
const ATTACHED: Duration = Duration::from_millis(10);

/// The shortest and the longest time between two of these times. The times between are distributed evenly, so that no work of a fixed period is met always or never.
const DETACHED_MS: [f64; 2] = [100.0, 300.0];

/// The golden ratio: the fractional parts of its multiples are distributed evenly.
const STEP: f64 = 0.618_033_988_749_894_9;

/// When interrupt work is timed.
#[derive(Debug)]
pub struct Interrupts {
    /// How long events were counted.
    counted: Duration,
    /// The part of it in which interrupt work was timed.
    timed: Duration,
    /// When the programs are attached or detached next.
    next: Instant,
    /// The end of the times above.
    last: Instant,
    detached: f64,
}

impl Interrupts {
    /// Nothing is timed yet.
    pub fn new() -> Interrupts {
        let now = Instant::now();
        Interrupts {
            counted: Duration::ZERO,
            timed: Duration::ZERO,
            next: now,
            last: now,
            detached: 0.0,
        }
    }

    /// Begins a count, with the programs attached.
    pub fn begin(&mut self, tracer: &mut Tracer) -> io::Result<()> {
        (self.counted, self.timed) = (Duration::ZERO, Duration::ZERO);
        self.attach(tracer)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Adds the time until now, in which events were counted. Attaches or detaches the programs if it is time to.
    pub fn pass(&mut self, tracer: &mut Tracer) -> io::Result<()> {
        let now = Instant::now();
        let passed = now - self.last;
        self.counted += passed;
        if tracer.is_at_interrupts() {
            self.timed += passed;
        }
        self.last = now;
        if now < self.next {
            return Ok(());
        }
        if !tracer.is_at_interrupts() {
            self.attach(tracer)?;
            // Interrupt work while they were being attached was not timed.
            self.counted += self.last.elapsed();
            self.last = Instant::now();
            return Ok(());
        }
        tracer.detach_from_interrupts();
        let [least, most] = DETACHED_MS;
        let wait_ms = least + (most - least) * self.detached;
        self.detached = (self.detached + STEP).fract();
        self.next = now + Duration::from_secs_f64(wait_ms / 1e3);
        Ok(())
    }

    /// The counted time by the part of it in which interrupt work was timed.
    pub fn factor(&self) -> f64 {
        if self.timed.is_zero() {
            return 1.0;
        }
        self.counted.as_secs_f64() / self.timed.as_secs_f64()
    }

    fn attach(&mut self, tracer: &mut Tracer) -> io::Result<()> {
        if !tracer.is_at_interrupts() {
            let attached = tracer.attach_to_interrupts();
            attached.map_err(|reason| io::Error::other(reason.to_string()))?;
        }
        self.next = Instant::now() + ATTACHED;
        Ok(())
    }
}
