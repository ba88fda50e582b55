//! Hypothetical changes: of costs (`--cost`) and of the application's calls (`--replace`).
//!
//! [`without_started`] removes processes (`--without-processes`), and `other_context` takes the
//! times of another application (`--context`).

mod other_context;

use crate::carry::user_work;
use crate::constants::ROUNDING;
use crate::costs::Costs;
use crate::vector::names::{CLOCK_READING, canonical};
use crate::vector::{Use, Vector, nearest_size};

/// A changed cost: `connect(tcp)=0.5x`.
#[derive(Clone, Debug, PartialEq)]
pub struct CostChange {
    name: String,
    factor: f64,
}

/// Calls that are replaced by others: `read(file)@4K*16=read(file)@64K`. Without others, they are
/// removed; others alone are added.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    from: Option<Calls>,
    to: Option<Calls>,
}

/// A number of calls of one primitive at one size: `NAME[@SIZE][*COUNT]`.
#[derive(Clone, Debug, PartialEq)]
struct Calls {
    name: String,
    size: Option<f64>,
    count: f64,
}

/// Removes the processes that the application starts, with all their calls, faults and times. Calls
/// of the application that start them and wait for them stay. Returns the removed kernel time per
/// unit, in ns. Fails if the vector has no started processes.
pub fn without_started(vector: &mut Vector) -> Result<f64, String> {
    if vector.primitives.iter().all(|used| used.started.is_none()) {
        let name = &vector.application;
        return Err(format!(
            "{name} has no `started` calls: it started no process, or an older version of yamba traced it"
        ));
    }
    let parts = vector.primitives.iter().filter_map(|used| used.started);
    let removed_ns: f64 = parts.filter_map(|started| started.time_ns).sum();
    let listed_ns = |vector: &Vector| -> f64 {
        let times = vector.primitives.iter().filter_map(|used| used.time_ns);
        times.sum()
    };
    let outside_ns = vector.kernel_ns.map(|ns| ns - listed_ns(vector));
    vector.primitives.iter_mut().for_each(remove_started);
    vector.primitives.retain(|used| used.count > 0.0);
    if vector.primitives.is_empty() {
        let name = &vector.application;
        return Err(format!("nothing of {name} is left without the processes that it starts"));
    }
    vector.kernel_ns = outside_ns.map(|ns| (ns + listed_ns(vector)).max(0.0));
    // The parts of the started processes are unknown.
    vector.clock_reads = None;
    vector.elapsed = None;
    vector.user_work = None;
    let user_ns = vector.started_user_ns.take().unwrap_or_default();
    vector.user_ns = vector.user_ns.map(|ns| (ns - user_ns).max(0.0));
    Ok(removed_ns)
}

fn remove_started(used: &mut Use) {
    let Some(started) = used.started.take() else {
        return;
    };
    // Counts are quotients, and their difference may miss 0 by the last digits.
    let left = used.count - started.count;
    let left = if left < ROUNDING * used.count { 0.0 } else { left };
    used.size = match (used.size, started.size) {
        // Both are means.
        (Some(all), Some(part)) if left > 0.0 => {
            Some(((all * used.count - part * started.count) / left).max(0.0))
        }
        (all, _) => all,
    };
    used.count = left;
    // The number of failed calls among the others is unknown.
    used.errors = None;
    let part_ns = started.time_ns.unwrap_or_default();
    used.time_ns = used.time_ns.map(|ns| (ns - part_ns).max(0.0));
}

impl CostChange {
    /// Reads `NAME=FACTORx`. The error names the fault.
    pub fn read(text: &str) -> Result<CostChange, String> {
        const FORM: &str = "write NAME=FACTORx, for example 'connect(tcp)=0.5x'";
        let (name, factor) = text.split_once('=').ok_or(FORM)?;
        let factor = factor.trim().strip_suffix('x').ok_or(FORM)?;
        let factor = positive(factor).ok_or(format!("{factor:?} is no factor above 0; {FORM}"))?;
        let name = canonical(name);
        if user_work::NAMES.contains(&&*name) {
            return Err(format!("{name} is a cost of user time: only costs of kernel time change"));
        }
        Ok(CostChange { name, factor })
    }

    /// The primitive.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Multiplies the cost of the primitive. Fails if the system has none.
    pub fn apply(&self, costs: &mut Costs) -> Result<(), String> {
        if !costs.primitives.contains_key(&self.name) {
            let known: Vec<&str> = costs.primitives.keys().map(String::as_str).collect();
            return Err(format!("there is no cost of {}, only of {}", self.name, known.join(", ")));
        }
        *costs.changes.entry(self.name.clone()).or_insert(1.0) *= self.factor;
        Ok(())
    }
}

impl Replacement {
    /// Reads `NAME[@SIZE][*COUNT]=NAME[@SIZE][*COUNT]`, where one side may be empty. The error
    /// names the fault.
    pub fn read(text: &str) -> Result<Replacement, String> {
        const FORM: &str =
            "write NAME@SIZE*COUNT=NAME@SIZE*COUNT, for example 'read(file)@4K*16=read(file)@64K'";
        let (from, to) = text.split_once('=').ok_or(FORM)?;
        let side = |text: &str| match text.trim() {
            "" => Ok(None),
            text => Calls::read(text).map(Some),
        };
        let (from, to) = (side(from)?, side(to)?);
        if from.is_none() && to.is_none() {
            return Err(FORM.to_owned());
        }
        Ok(Replacement { from, to })
    }

    /// Replaces all uses of the first primitive at its size. Fails if the vector has none.
    pub fn apply(&self, vector: &mut Vector) -> Result<(), String> {
        let wait_ns = self.to.as_ref().and_then(|to| to.traced_wait_ns(&vector.primitives));
        let number = match &self.from {
            Some(from) => from.taken(vector)? / from.count,
            None => 1.0,
        };
        if let Some(to) = &self.to {
            to.add(number * to.count, wait_ns, vector)?;
        }
        Ok(())
    }
}

impl Calls {
    fn read(text: &str) -> Result<Calls, String> {
        let (rest, count) = match text.rsplit_once('*') {
            None => (text, 1.0),
            Some((rest, count)) => {
                let number =
                    positive(count).ok_or(format!("{count:?} is no number of calls above 0"))?;
                (rest, number)
            }
        };
        let (name, size) = match rest.rsplit_once('@') {
            None => (rest, None),
            Some((name, size)) => {
                let number =
                    bytes(size).ok_or(format!("{size:?} is no size, such as 512 or 64K"))?;
                (name, Some(number))
            }
        };
        let name = canonical(name);
        if name.is_empty() {
            return Err(format!("{text:?} names no primitive; write NAME@SIZE*COUNT"));
        }
        Ok(Calls { name, size, count })
    }

    /// Removes the uses from a vector, and returns their number. Without a size, uses of all sizes
    /// are removed.
    fn taken(&self, vector: &mut Vector) -> Result<f64, String> {
        if let Some(number) = self.number_in(vector)? {
            let taken = std::mem::take(number);
            return if taken > 0.0 {
                Ok(taken)
            } else {
                Err(format!("{} has no {}", vector.application, self.name))
            };
        }
        let size = self.size_in(&vector.primitives);
        let is_it =
            |used: &mut Use| used.name == self.name && (size.is_none() || used.size == size);
        let taken: Vec<Use> = vector.primitives.extract_if(.., is_it).collect();
        if taken.is_empty() {
            let known: Vec<String> = vector.primitives.iter().map(Use::label).collect();
            return Err(format!(
                "{} has no {}, only {}",
                vector.application,
                self.label(),
                known.join(", ")
            ));
        }
        Ok(taken.iter().map(|used| used.count).sum())
    }

    /// The number of uses, if the trace counts them apart from its primitives. The error is the
    /// reason why it cannot change.
    fn number_in<'a>(&self, vector: &'a mut Vector) -> Result<Option<&'a mut f64>, String> {
        let is_listed = vector.primitives.iter().any(|used| used.name == self.name);
        if is_listed || self.name != CLOCK_READING {
            return Ok(None);
        }
        if self.size.is_some() {
            return Err(format!("{} has no size", self.name));
        }
        let unknown = || format!("the number of {} is unknown in this vector", self.name);
        vector.clock_reads.as_mut().map(Some).ok_or_else(unknown)
    }

    /// The size itself, or the nearest one of a vector that is less than twice or more than half of
    /// it: the sizes of a trace are means.
    fn size_in(&self, uses: &[Use]) -> Option<f64> {
        let size = self.size?;
        let own = uses.iter().filter(|used| used.name == self.name);
        let nearest = nearest_size(own.filter_map(|used| used.size), size);
        nearest.or(Some(size))
    }

    /// How long a traced use of the primitive waits on average, of any size. `None`: none was
    /// traced.
    fn traced_wait_ns(&self, uses: &[Use]) -> Option<f64> {
        let own = || uses.iter().filter(|used| used.name == self.name && used.time_ns.is_some());
        let count: f64 = own().map(|used| used.count).sum();
        let waited: f64 = own().filter_map(|used| used.waited_ns).sum();
        (count > 0.0).then(|| waited / count)
    }

    /// Adds uses, each of which waits so long. Traced uses to which some are added lose their time:
    /// it is then estimated from other uses.
    fn add(&self, count: f64, wait_ns: Option<f64>, vector: &mut Vector) -> Result<(), String> {
        if let Some(number) = self.number_in(vector)? {
            *number += count;
            return Ok(());
        }
        let uses = &mut vector.primitives;
        let is_it = |used: &&mut Use| used.is_same(&self.name, self.size);
        match uses.iter_mut().find(is_it) {
            Some(used) => {
                if let Some(each_ns) = wait_ns {
                    used.waited_ns = Some(used.waited_ns.unwrap_or(0.0) + each_ns * count);
                }
                used.count += count;
                (used.errors, used.time_ns) = (None, None);
            }
            None => {
                let waited_ns = wait_ns.map(|ns| ns * count);
                uses.push(Use { waited_ns, ..self.used(count) });
            }
        }
        Ok(())
    }

    fn used(&self, count: f64) -> Use {
        Use::untimed(&self.name, self.size, count)
    }

    fn label(&self) -> String {
        self.used(0.0).label()
    }
}

fn positive(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// A size with an optional binary prefix: `64K` is 65536.
fn bytes(text: &str) -> Option<f64> {
    let text = text.trim();
    let prefixes = [('K', 10), ('M', 20), ('G', 30)];
    let found =
        prefixes.iter().find_map(|(prefix, bits)| Some((text.strip_suffix(*prefix)?, *bits)));
    let (digits, bits) = found.unwrap_or((text, 0));
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * f64::from(1u32 << bits))
}
