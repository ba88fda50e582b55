//! The rules for the values of a vector.

use super::names::canonical;
use super::{Round, SCHEMA, Started, Use, Vector};

/// By how much the times of all uses may exceed the whole, as a share: their digits are rounded.
const MORE: f64 = 1e-3;

impl Vector {
    /// Reads and checks a document. The error names the place and the fault.
    pub fn read(text: &str) -> Result<Vector, String> {
        // Some editors write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut vector: Vector = serde_json::from_str(text).map_err(|e| e.to_string())?;
        for used in &mut vector.primitives {
            used.name = canonical(&used.name);
        }
        vector.check()?;
        Ok(vector)
    }

    /// Checks the values. The error names the place and the fault.
    pub fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("schema: it must be {SCHEMA:?}, not {:?}", self.schema));
        }
        if self.primitives.is_empty() {
            return Err("primitives: the list is empty".to_owned());
        }
        let whole = [
            ("user_ns", self.user_ns),
            ("kernel_ns", self.kernel_ns),
            ("started_user_ns", self.started_user_ns),
            ("clock_reads", self.clock_reads),
            ("elapsed.ready_ns", self.elapsed.map(|elapsed| elapsed.ready_ns)),
            (
                "traced.cost_ns_per_call",
                self.traced.as_ref().and_then(|traced| traced.cost_ns_per_call),
            ),
        ];
        for (key, value) in whole {
            not_negative(key, value)?;
        }
        if self.units.is_some_and(|units| !(units > 0.0 && units.is_finite())) {
            return Err("units: it must be a number above 0".to_owned());
        }
        if self.traced.as_ref().is_some_and(|traced| traced.runs == Some(0)) {
            return Err("traced.runs: it must be above 0".to_owned());
        }
        if self.elapsed.is_some_and(|e| !(e.parallelism >= 1.0 && e.parallelism.is_finite())) {
            return Err("elapsed.parallelism: it must be a finite number of 1 or more".to_owned());
        }
        if let Some(work) = &self.user_work {
            work.check(not_negative)?;
        }
        if self.started_user_ns > self.user_ns {
            return Err("started_user_ns: more than user_ns".to_owned());
        }
        let listed_ns: f64 = self.primitives.iter().filter_map(|used| used.time_ns).sum();
        if self.kernel_ns.is_some_and(|kernel_ns| kernel_ns < listed_ns * (1.0 - MORE)) {
            return Err(format!(
                "kernel_ns: less than the sum of all time_ns, which is {listed_ns}"
            ));
        }
        let rounds = self.traced.iter().flat_map(|traced| &traced.rounds);
        for (index, round) in rounds.enumerate() {
            round.check(&format!("traced.rounds[{index}]"))?;
        }
        for (index, used) in self.primitives.iter().enumerate() {
            used.check(&format!("primitives[{index}]"))?;
            let before = self.primitives[..index].iter();
            let twin = before.filter(|u| u.is_same(&used.name, used.size)).count();
            if twin > 0 {
                return Err(format!("primitives[{index}]: {} is listed twice", used.label()));
            }
        }
        Ok(())
    }
}

impl Round {
    fn check(&self, place: &str) -> Result<(), String> {
        let times = [
            ("untraced_ns", self.untraced_ns),
            ("untraced_kernel_ns", self.untraced_kernel_ns),
            ("missed_ns", self.missed_ns),
            ("user_ns", self.user_ns),
            ("kernel_ns", self.kernel_ns),
        ];
        not_negative(&format!("{place}.untraced_elapsed_ns"), self.untraced_elapsed_ns)?;
        not_negative(&format!("{place}.waited_ns"), self.waited_ns)?;
        for (key, ns) in times {
            not_negative(&format!("{place}.{key}"), Some(ns))?;
            // No tick may have hit the kernel, and user time may be shorter than the tracer's own.
            if ns == 0.0 && ["untraced_ns", "kernel_ns"].contains(&key) {
                return Err(format!("{place}.{key}: it must be above 0"));
            }
        }
        Ok(())
    }
}

impl Use {
    fn check(&self, place: &str) -> Result<(), String> {
        if self.name.is_empty() {
            return Err(format!("{place}.name: it is empty"));
        }
        not_negative(&format!("{place}.count"), Some(self.count))?;
        not_negative(&format!("{place}.size"), self.size)?;
        not_negative(&format!("{place}.errors"), self.errors)?;
        if self.errors > Some(self.count) {
            return Err(format!("{place}.errors: more than count"));
        }
        not_negative(&format!("{place}.time_ns"), self.time_ns)?;
        not_negative(&format!("{place}.waited_ns"), self.waited_ns)?;
        self.started.map_or(Ok(()), |started| started.check(place, self))
    }
}

impl Started {
    /// `place` and `whole` are the use that this is a part of.
    fn check(&self, place: &str, whole: &Use) -> Result<(), String> {
        not_negative(&format!("{place}.started.count"), Some(self.count))?;
        not_negative(&format!("{place}.started.size"), self.size)?;
        not_negative(&format!("{place}.started.time_ns"), self.time_ns)?;
        if self.time_ns.is_some() != whole.time_ns.is_some() {
            return Err(format!(
                "{place}.started.time_ns: it must be there exactly if {place}.time_ns is"
            ));
        }
        if self.count > whole.count {
            return Err(format!("{place}.started.count: more than count"));
        }
        if self.time_ns > whole.time_ns {
            return Err(format!("{place}.started.time_ns: more than time_ns"));
        }
        Ok(())
    }
}

/// A document has no NaN; a vector that a program made may have one.
fn not_negative(place: &str, value: Option<f64>) -> Result<(), String> {
    match value {
        Some(value) if !(value >= 0.0 && value.is_finite()) => {
            Err(format!("{place}: it must be a finite number of 0 or more, not {value}"))
        }
        _ => Ok(()),
    }
}
