//! Parameters of the processor that were found in recorded curves.

use serde::{Deserialize, Serialize};

/// A parameter: its value, or why the curves do not show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HardwareParameter {
    /// Its name, such as `rob.entries`.
    pub name: String,
    /// Its unit, such as `entries`.
    pub unit: String,
    /// The value. `None` if it was not found.
    pub found: Option<f64>,
    /// The interval of the value. It holds the values of the launches alone, and that of 95 % over
    /// their halves.
    pub interval: Option<[f64; 2]>,
    /// The claim of the system or the processor. `None` without one.
    #[serde(default)]
    pub claimed: Option<f64>,
    /// Why it was not found. `None` if it was.
    pub reason: Option<String>,
}

/// A parameter as `yamba hardware` found it on this machine, with the time of that run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeptParameter {
    /// The parameter.
    #[serde(flatten)]
    pub parameter: HardwareParameter,
    /// The time of the measurement, in seconds since 1970.
    pub unix_s: f64,
}

/// The reorder buffer.
pub const ROB: &str = "rob.entries";

/// Buffers that the methods show only if they are smaller than the reorder buffer.
pub const HIDDEN_BY_ROB: [&str; 4] =
    ["loads.entries", "stores.entries", "registers.integer", "registers.vector"];

/// Replaces the value of a buffer by a reason, if it may be the size of the reorder buffer.
pub fn refuse_hidden(parameters: &mut [HardwareParameter]) {
    let rob = parameters.iter().find(|p| p.name == ROB).and_then(|p| p.interval);
    for parameter in parameters.iter_mut().filter(|p| HIDDEN_BY_ROB.contains(&p.name.as_str())) {
        let Some(high) = parameter.interval.map(|[_, high]| high) else { continue };
        let why = match rob {
            None => "the size of the reorder buffer is not known",
            Some([low, _]) if high >= low => "the reorder buffer ends first",
            Some(_) => continue,
        };
        let found = parameter.found.take().unwrap_or_default();
        parameter.interval = None;
        parameter.reason = Some(format!("at least {found}: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, low: f64, high: f64) -> HardwareParameter {
        HardwareParameter {
            name: name.to_owned(),
            found: Some(low),
            interval: Some([low, high]),
            ..HardwareParameter::default()
        }
    }

    #[test]
    fn buffers_beyond_the_reorder_buffer_have_no_value() {
        let buffers =
            [known("registers.vector", 432.0, 441.0), known("loads.entries", 195.0, 209.0)];
        let mut all = [vec![known(ROB, 440.0, 448.0)], buffers.to_vec()].concat();
        refuse_hidden(&mut all);
        assert_eq!(all[0].found, Some(440.0));
        assert_eq!((all[1].found, all[1].interval), (None, None));
        let reason = all[1].reason.as_deref();
        assert_eq!(reason, Some("at least 432: the reorder buffer ends first"));
        assert_eq!((all[2].found, &all[2].reason), (Some(195.0), &None));
        let mut alone = buffers;
        refuse_hidden(&mut alone);
        assert!(alone.iter().all(|p| p.found.is_none() && p.interval.is_none()));
    }
}
