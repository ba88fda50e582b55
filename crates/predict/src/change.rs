//! Hypothetical changes: of costs (`--cost`) and of the application's calls (`--replace`).

use crate::canonical;
use crate::cost::Costs;
use crate::vector::{Use, Vector};

/// A changed cost: `connect(tcp)=0.5x`.
#[derive(Clone, Debug, PartialEq)]
pub struct CostChange {
    name: String,
    factor: f64,
}

/// Calls that are replaced by others: `read(file)@4K*16=read(file)@64K`.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    from: Calls,
    to: Calls,
}

/// A number of calls of one primitive at one size: `NAME[@SIZE][*COUNT]`.
#[derive(Clone, Debug, PartialEq)]
struct Calls {
    name: String,
    size: Option<f64>,
    count: f64,
}

impl CostChange {
    /// Reads `NAME=FACTORx`. The error names the fault.
    pub fn read(text: &str) -> Result<CostChange, String> {
        const FORM: &str = "write NAME=FACTORx, for example 'connect(tcp)=0.5x'";
        let (name, factor) = text.split_once('=').ok_or(FORM)?;
        let factor = factor.trim().strip_suffix('x').ok_or(FORM)?;
        let factor = positive(factor).ok_or(format!("{factor:?} is no factor above 0; {FORM}"))?;
        let name = canonical(name);
        Ok(CostChange { name, factor })
    }

    /// Multiplies the cost of the primitive. Fails if the system has none.
    pub fn apply(&self, costs: &mut Costs) -> Result<(), String> {
        if !costs.primitives.contains_key(&self.name) {
            let known: Vec<&str> = costs.primitives.keys().map(String::as_str).collect();
            return Err(format!(
                "there is no cost of {}, only of {}",
                self.name,
                known.join(", ")
            ));
        }
        *costs.changes.entry(self.name.clone()).or_insert(1.0) *= self.factor;
        Ok(())
    }
}

impl Replacement {
    /// Reads `NAME[@SIZE][*COUNT]=NAME[@SIZE][*COUNT]`. The error names the fault.
    pub fn read(text: &str) -> Result<Replacement, String> {
        let (from, to) = text.split_once('=').ok_or(
            "write NAME@SIZE*COUNT=NAME@SIZE*COUNT, for example 'read(file)@4K*16=read(file)@64K'",
        )?;
        Ok(Replacement {
            from: Calls::read(from)?,
            to: Calls::read(to)?,
        })
    }

    /// Replaces all uses of the first primitive at its size. Fails if the vector has none.
    pub fn apply(&self, vector: &mut Vector) -> Result<(), String> {
        let uses = &mut vector.primitives;
        let is_from = |used: &Use| used.is_of(&self.from.name, self.from.size);
        let Some(at) = uses.iter().position(is_from) else {
            let known: Vec<String> = uses.iter().map(Use::label).collect();
            return Err(format!(
                "{} has no {}, only {}",
                vector.application,
                self.from.label(),
                known.join(", ")
            ));
        };
        let count = uses.remove(at).count * self.to.count / self.from.count;
        match uses
            .iter_mut()
            .find(|u| u.is_of(&self.to.name, self.to.size))
        {
            Some(used) => {
                used.count += count;
                (used.errors, used.time_ns) = (None, None);
            }
            None => uses.push(self.to.used(count)),
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
            return Err(format!(
                "{text:?} names no primitive; write NAME@SIZE*COUNT"
            ));
        }
        Ok(Calls { name, size, count })
    }

    fn used(&self, count: f64) -> Use {
        Use {
            name: self.name.clone(),
            size: self.size,
            count,
            errors: None,
            time_ns: None,
        }
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
    let found = prefixes
        .iter()
        .find_map(|(prefix, bits)| Some((text.strip_suffix(*prefix)?, *bits)));
    let (digits, bits) = found.unwrap_or((text, 0));
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * f64::from(1u32 << bits))
}
