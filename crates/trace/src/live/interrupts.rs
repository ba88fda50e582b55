//! Times interrupt work in a part of the time.
//!
//! The programs at interrupt work run at each soft interrupt. Many soft interrupts belong to calls:
//! on the loopback interface, each packet that a call sends has one. There these programs cost more
//! than those at calls. So they are attached all the time only at first, and then for about a
//! twentieth of the time.

use std::io;
use std::time::{Duration, Instant};

use crate::bpf::{EventReader, Tracer};

/// How long the programs are attached at first. Short commands are timed as a whole.
const AT_FIRST: Duration = Duration::from_millis(100);

/// How long they are attached at once later.
const ATTACHED: Duration = Duration::from_millis(10);

/// The shortest and the longest pause between two of these times. The pauses are distributed
/// evenly, so that no work of a fixed period is met always or never.
const PAUSE_MS: [f64; 2] = [100.0, 300.0];

/// How long the program at the end of interrupt work stays attached after the one at its beginning.
const TO_END: Duration = Duration::from_millis(1);

/// The golden ratio: the fractional parts of its multiples are distributed evenly.
const STEP: f64 = 0.618_033_988_749_894_9;

/// When interrupt work is timed.
#[derive(Debug)]
pub struct InterruptTiming {
    /// Whether the programs have been attached all the time so far.
    is_first: bool,
    /// How long events were counted later.
    counted: Duration,
    /// The part of it in which interrupt work was timed.
    timed: Duration,
    /// The end of the times above.
    last: Instant,
    /// When the programs are attached or detached next.
    next: Instant,
    /// The place of the next pause between the shortest and the longest one, from 0 to 1.
    pause_place: f64,
}

impl InterruptTiming {
    /// Nothing is timed yet.
    pub fn new() -> InterruptTiming {
        let now = Instant::now();
        InterruptTiming {
            is_first: true,
            counted: Duration::ZERO,
            timed: Duration::ZERO,
            last: now,
            next: now,
            pause_place: 0.0,
        }
    }

    /// Begins a count, with the programs attached.
    pub fn begin(&mut self, tracer: &mut Tracer) -> io::Result<()> {
        attach(tracer)?;
        self.is_first = true;
        (self.counted, self.timed) = (Duration::ZERO, Duration::ZERO);
        self.last = Instant::now();
        self.next = self.last + AT_FIRST;
        Ok(())
    }

    /// The time until the programs are attached or detached next.
    pub fn left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Adds the time until now, whose events `reader` has taken. Attaches or detaches the programs
    /// if it is time to.
    pub fn pass(&mut self, tracer: &mut Tracer, reader: &mut EventReader) -> io::Result<()> {
        self.add(tracer.times_interrupts());
        if self.last < self.next {
            return Ok(());
        }
        if tracer.times_interrupts() {
            self.end_first(reader);
            tracer.detach_from_interrupts();
            self.next = self.last + TO_END;
        } else if tracer.is_at_interrupts() {
            tracer.detach_from_interrupts();
            let [least, most] = PAUSE_MS;
            let pause_ms = least + (most - least) * self.pause_place;
            self.pause_place = (self.pause_place + STEP).fract();
            self.next = self.last + Duration::from_secs_f64(pause_ms / 1e3);
        } else {
            attach(tracer)?;
            // That takes up to 16 ms, in which nothing is timed.
            self.add(false);
            self.next = self.last + ATTACHED;
        }
        Ok(())
    }

    /// Counts the interrupt work since the last count, whose events `reader` has taken.
    pub fn end(&mut self, reader: &mut EventReader) {
        let factor = if self.is_first || self.timed.is_zero() {
            1.0
        } else {
            self.counted.as_secs_f64() / self.timed.as_secs_f64()
        };
        reader.count_interrupts(factor);
    }

    /// Counts the interrupt work of the time at first. Later times say nothing about it.
    fn end_first(&mut self, reader: &mut EventReader) {
        if self.is_first {
            self.end(reader);
            self.is_first = false;
        }
    }

    fn add(&mut self, is_timed: bool) {
        let now = Instant::now();
        let passed = now - self.last;
        self.last = now;
        if self.is_first {
            return;
        }
        self.counted += passed;
        if is_timed {
            self.timed += passed;
        }
    }
}

fn attach(tracer: &mut Tracer) -> io::Result<()> {
    if tracer.times_interrupts() {
        return Ok(());
    }
    let attached = tracer.attach_to_interrupts();
    attached.map_err(|reason| io::Error::other(reason.to_string()))
}
