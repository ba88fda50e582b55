//! Reads the TOML file of a study and reports its faults.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};
use yamba_record::Workers;

use super::fit::{Fit, PARTS};
use super::{
    Measurement, Places, Position, Predicted, Prediction, Range, STATISTICS, Statistic, Study,
    TIMES,
};

/// The greatest number of measurements of a study.
const MOST_MEASUREMENTS: usize = 1000;

/// An error in a study file, with its position and a help text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFault {
    /// The position in the file.
    pub place: Position,
    /// One sentence that states the error.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    title: Spanned<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    measurement: Vec<Spanned<RawMeasurement>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMeasurement {
    id: Option<Spanned<String>>,
    #[serde(default)]
    category: String,
    label: Spanned<String>,
    benchmark: Spanned<String>,
    parameters: Option<Spanned<BTreeMap<String, Value>>>,
    processes: Option<Spanned<u64>>,
    threads: Option<Spanned<u64>>,
    evidence: Option<Spanned<String>>,
    statistic: Option<Spanned<String>>,
    fit: Option<Spanned<String>>,
    against: Option<Spanned<String>>,
    unit: Option<Spanned<String>>,
    base: Option<String>,
    overhead: Option<String>,
    predicted: Option<Spanned<String>>,
    of: Option<Spanned<String>>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    text: String,
}

/// Reads a study. Does not check that its benchmarks exist.
///
/// # Errors
/// The first error in the file.
pub fn read(text: &str) -> Result<Study, StudyFault> {
    let raw: RawStudy = toml::from_str(text).map_err(|e| malformed(text, &e))?;
    let file = File { text, ids: ids(text, &raw.measurement)? };
    file.is_filled(&raw.title, "title")?;
    let count = raw.measurement.len();
    if count == 0 || count > MOST_MEASUREMENTS {
        let message = match count {
            0 => "a study measures something, and there is no [[measurement]]".to_owned(),
            _ => format!("{count} measurements are more than {MOST_MEASUREMENTS}"),
        };
        let help = "`yamba study new` writes a study to begin with";
        return Err(file.fault(raw.title.span().start, message, help));
    }
    let measurements = raw.measurement.iter().map(|m| file.measurement(m));
    let study = Study {
        measurements: measurements.collect::<Result<_, _>>()?,
        title: raw.title.into_inner(),
        text: raw.text,
    };
    all_say_what_one_says(&study)?;
    multiples_are_of_figures(&study)?;
    Ok(study)
}

/// The position of a byte of the text.
fn place(text: &str, at: usize) -> Position {
    let before = &text.as_bytes()[..at.min(text.len())];
    let lines: Vec<&[u8]> = before.split(|b| *b == b'\n').collect();
    Position {
        line: lines.len(),
        column: String::from_utf8_lossy(lines[lines.len() - 1]).chars().count() + 1,
    }
}

/// The fault for an error of the TOML parser, reworded if our message is clearer.
fn malformed(text: &str, error: &toml::de::Error) -> StudyFault {
    let at = error.span().map_or(0, |s| s.start);
    let message = error.message().replace('\n', " ");
    // The parser quotes the wrong or missing key, and then the known ones.
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (message, help) = match quoted[..] {
        [key, ref known @ ..] if message.starts_with("unknown field") => {
            (format!("unknown key `{key}`"), meant(key, known))
        }
        ["title"] if message.starts_with("missing field") => {
            let help = "begin the file with title = \"...\"";
            ("`title` is missing".to_owned(), help.to_owned())
        }
        [key] if message.starts_with("missing field") => {
            let help = format!("each [[measurement]] has a {key} = \"...\"");
            (format!("`{key}` is missing"), help)
        }
        _ => {
            let help = "`yamba study new` writes a study that can be read";
            (message.clone(), help.to_owned())
        }
    };
    place(text, at).fault(message, help)
}

/// `did you mean ...?`, or a list of all known words.
fn meant(word: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), k))
        .filter(|(distance, _)| *distance <= 1 + word.chars().count() / 4)
        .min();
    match near {
        Some((_, key)) => format!("did you mean `{key}`?"),
        None => format!("there are {}", known.join(", ")),
    }
}

/// The ids of the measurements with their indices. Fails if two are the same.
fn ids(text: &str, all: &[Spanned<RawMeasurement>]) -> Result<Vec<(String, usize)>, StudyFault> {
    let mut ids: Vec<(String, usize)> = Vec::new();
    for (number, measurement) in all.iter().enumerate() {
        let Some(id) = &measurement.get_ref().id else {
            continue;
        };
        if ids.iter().any(|(known, _)| known == id.get_ref()) {
            let message = format!("two measurements have the id `{}`", id.get_ref());
            return Err(place(text, id.span().start).fault(message, "give one of them another"));
        }
        ids.push((id.get_ref().clone(), number));
    }
    Ok(ids)
}

/// Parameters with one value, then those with several.
type Settings = (Vec<(String, String)>, Vec<(String, Vec<String>)>);

/// The text of the file and the ids of its measurements.
struct File<'a> {
    text: &'a str,
    ids: Vec<(String, usize)>,
}

impl File<'_> {
    /// The number of processes or of threads.
    fn workers(&self, raw: &RawMeasurement) -> Result<Option<Workers>, StudyFault> {
        let processes = raw.processes.as_ref().map(|p| (p, "processes"));
        let threads = raw.threads.as_ref().map(|t| (t, "threads"));
        if let (Some(_), Some((threads, _))) = (processes, threads) {
            let message = "a measurement has several processes or several threads, not both";
            let at = threads.span().start;
            return Err(self.fault(at, message.to_owned(), "leave out one of them"));
        }
        let number_of_workers = processes.or(threads);
        if let Some((number, kinds)) =
            number_of_workers.filter(|(n, _)| !(1..=4096).contains(n.get_ref()))
        {
            let message = format!("{} is no number of {kinds}", number.get_ref());
            return Err(self.fault(number.span().start, message, "write 1 to 4096"));
        }
        let threads = threads.map(|(t, _)| Workers::threads(*t.get_ref()));
        let processes = processes.map(|(p, _)| Workers::processes(*p.get_ref()));
        Ok(threads.or(processes))
    }

    fn measurement(&self, spanned: &Spanned<RawMeasurement>) -> Result<Measurement, StudyFault> {
        let raw = spanned.get_ref();
        self.is_filled(&raw.label, "label")?;
        let (set, sweep) = self.parameters(raw)?;
        let at = |span: Option<usize>| place(self.text, span.unwrap_or(spanned.span().start));
        let start = |s: &Spanned<String>| s.span().start;
        Ok(Measurement {
            id: raw.id.as_ref().map(|id| id.get_ref().clone()),
            category: raw.category.clone(),
            label: raw.label.get_ref().clone(),
            benchmark: raw.benchmark.get_ref().clone(),
            set,
            sweep,
            workers: self.workers(raw)?,
            evidence: raw.evidence.as_ref().map(|e| e.get_ref().clone()),
            statistic: self.statistic(raw)?,
            fit: self.fit(raw)?,
            unit: filled(raw.unit.as_ref().map(Spanned::get_ref)),
            base: filled(raw.base.as_ref()),
            overhead: filled(raw.overhead.as_ref()),
            prediction: self.prediction(raw)?,
            text: raw.text.clone(),
            places: Places {
                whole: at(None),
                benchmark: at(Some(start(&raw.benchmark))),
                parameters: at(raw.parameters.as_ref().map(|p| p.span().start)),
                evidence: at(raw.evidence.as_ref().map(start)),
                against: at(raw.against.as_ref().map(start)),
                unit: at(raw.unit.as_ref().map(start)),
                predicted: at(raw.predicted.as_ref().map(start)),
            },
        })
    }

    fn fault(&self, at: usize, message: impl Into<String>, help: impl Into<String>) -> StudyFault {
        place(self.text, at).fault(message, help)
    }

    fn is_filled(&self, text: &Spanned<String>, key: &str) -> Result<(), StudyFault> {
        if !text.get_ref().trim().is_empty() {
            return Ok(());
        }
        let message = format!("the {key} is empty");
        Err(self.fault(text.span().start, message, "write a few words"))
    }

    /// The parameters with one value, and those with several.
    fn parameters(&self, raw: &RawMeasurement) -> Result<Settings, StudyFault> {
        let mut set = Vec::new();
        let mut sweep = Vec::new();
        let Some(parameters) = &raw.parameters else {
            return Ok((set, sweep));
        };
        let wrong = |name: &str| {
            let message = format!("`{name}` has neither a value nor a list of values");
            let help = "write a number, a word in quotation marks, true or false, or a list of them: [1, 2]";
            self.fault(parameters.span().start, message, help)
        };
        for (name, value) in parameters.get_ref() {
            match value {
                Value::Array(values) => {
                    let all: Option<Vec<String>> = values.iter().map(word).collect();
                    let all = all.filter(|v| !v.is_empty()).ok_or_else(|| wrong(name))?;
                    sweep.push((name.clone(), all));
                }
                value => set.push((name.clone(), word(value).ok_or_else(|| wrong(name))?)),
            }
        }
        Ok((set, sweep))
    }

    fn statistic(&self, raw: &RawMeasurement) -> Result<Option<Statistic>, StudyFault> {
        let Some(written) = &raw.statistic else {
            return Ok(None);
        };
        let statistic = self.known(written, &STATISTICS, "statistic")?;
        let (evidence, fit, unit, of) = (&raw.evidence, &raw.fit, &raw.unit, &raw.of);
        for (key, at) in [("evidence", evidence), ("fit", fit), ("unit", unit), ("of", of)] {
            if let Some(at) = at {
                let word = written.get_ref();
                let message =
                    format!("a {word} has no `{key}`: it is a share of the figure itself");
                let help = format!("leave out `{key}`, or `statistic`");
                return Err(self.fault(at.span().start, message, help));
            }
        }
        Ok(Some(statistic))
    }

    /// The meaning of a word of the file.
    fn known<T: Copy>(
        &self,
        written: &Spanned<String>,
        known: &[(&str, T)],
        what: &str,
    ) -> Result<T, StudyFault> {
        let word = written.get_ref();
        let found = known.iter().find(|(name, _)| name == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let message = format!("`{word}` is no {what}");
            self.fault(written.span().start, message, meant(word, &names))
        })
    }

    fn fit(&self, raw: &RawMeasurement) -> Result<Option<Fit>, StudyFault> {
        let (fit, against) = match (&raw.fit, &raw.against) {
            (None, None) => return Ok(None),
            (Some(fit), Some(against)) => (fit, against),
            (Some(alone), None) | (None, Some(alone)) => {
                let message = "`fit` and `against` belong together";
                let help =
                    "write fit = \"slope\" and against = \"the parameter or evidence that is x\"";
                return Err(self.fault(alone.span().start, message, help));
            }
        };
        Ok(Some(Fit {
            part: self.known(fit, &PARTS, "part of a line")?,
            against: against.get_ref().clone(),
        }))
    }

    fn prediction(&self, raw: &RawMeasurement) -> Result<Option<Prediction>, StudyFault> {
        let written = raw.predicted.as_ref();
        let Some(written) = written.filter(|p| !p.get_ref().trim().is_empty()) else {
            if let Some(of) = &raw.of {
                let message =
                    "`of` says what a prediction is a multiple of, and nothing is predicted";
                let help = "write predicted = \"1.2..1.8 times\" beside it, or take it out";
                return Err(self.fault(of.span().start, message, help));
            }
            return Ok(None);
        };
        let at = written.span().start;
        let kind = self.predicted(raw, written.get_ref().trim(), at)?;
        if raw.reason.trim().is_empty() {
            let message = "a prediction without a reason";
            let help = "write reason = \"...\": what of the hardware or the software makes it so";
            return Err(self.fault(at, message, help));
        }
        Ok(Some(Prediction { kind, reason: raw.reason.clone() }))
    }

    fn predicted(
        &self,
        raw: &RawMeasurement,
        text: &str,
        at: usize,
    ) -> Result<Predicted, StudyFault> {
        if text == "invalid" {
            let mut others = [&raw.evidence, &raw.fit, &raw.statistic].into_iter();
            if others.all(Option::is_none) {
                return Ok(Predicted::Invalid);
            }
            let message = "only a benchmark's own figure is invalid or not";
            let help = "predict a range, or leave out `evidence`, `fit` and `statistic`";
            return Err(self.fault(at, message, help));
        }
        let range = Range::parse(text).map_err(|(message, help)| self.fault(at, message, help))?;
        if let Some(fit) = &raw.fit {
            return self.predicted_of_line(raw, fit.get_ref(), range, at);
        }
        if raw.statistic.is_some() && !range.unit.is_empty() {
            let message = format!("`{text}` has a unit, and a statistic is a share");
            return Err(self.fault(at, message, "write the numbers alone, as 0..0.1"));
        }
        match (&raw.of, range.unit == TIMES) {
            (Some(of), true) => Ok(Predicted::Times(range, self.meant(of)?)),
            (None, false) => {
                let is_bare = raw.evidence.is_some() || raw.statistic.is_some();
                if range.unit.is_empty() && !is_bare {
                    let message = format!("`{text}` has no unit");
                    let help = "write one behind the numbers, as in 20..100 cycles";
                    return Err(self.fault(at, message, help));
                }
                Ok(Predicted::In(range))
            }
            (None, true) => Err(self.fault(
                at,
                "`times` without `of`: it has no other measurement to multiply",
                "name the other measurement's id with of = \"...\"",
            )),
            (Some(of), false) => Err(self.fault(
                of.span().start,
                format!("with `of` a prediction is a number of times, and not `{text}`"),
                "write predicted = \"1.2..1.8 times\", or take `of` out",
            )),
        }
    }

    /// A prediction about a fitted line. R^2 has no unit, slope and intercept have that of the
    /// figure, and none is a multiple of another figure.
    fn predicted_of_line(
        &self,
        raw: &RawMeasurement,
        part: &str,
        range: Range,
        at: usize,
    ) -> Result<Predicted, StudyFault> {
        let is_share = part == "r_squared";
        if raw.of.is_some() || range.unit == TIMES {
            let message = "the slope of a line is no multiple of a figure";
            return Err(self.fault(at, message, "write its range in the unit of the figure"));
        }
        if is_share != range.unit.is_empty() && raw.evidence.is_none() {
            let help = if is_share {
                "R squared has no unit: write 0.95..1"
            } else {
                "write one behind the numbers, as in 20..100 cycles"
            };
            return Err(self.fault(at, format!("`{range}` is in the wrong unit"), help));
        }
        Ok(Predicted::In(range))
    }

    /// The index of the measurement that an `of` names.
    fn meant(&self, of: &Spanned<String>) -> Result<usize, StudyFault> {
        let found = self.ids.iter().find(|(id, _)| id == of.get_ref());
        found.map(|(_, number)| *number).ok_or_else(|| {
            let known: Vec<&str> = self.ids.iter().map(|(id, _)| id.as_str()).collect();
            let help = match known[..] {
                [] => "give the other measurement an id = \"...\"".to_owned(),
                _ => meant(of.get_ref(), &known),
            };
            let message = format!("no measurement has the id `{}`", of.get_ref());
            self.fault(of.span().start, message, help)
        })
    }
}

fn filled(text: Option<&String>) -> Option<String> {
    text.filter(|t| !t.trim().is_empty()).cloned()
}

/// A value in the form that `--set` accepts; `None` for a date, an array or a table.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(is) => Some(is.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// Checks that each predicted multiple relates two figures, or two evidences. The ratio of a
/// latency to a number of faults has no meaning.
fn multiples_are_of_figures(study: &Study) -> Result<(), StudyFault> {
    for measurement in &study.measurements {
        let kind = measurement.prediction.as_ref().map(|p| &p.kind);
        let Some(Predicted::Times(_, other)) = kind else {
            continue;
        };
        let other = &study.measurements[*other];
        let (what, this, meant) = match (&measurement.evidence, &other.evidence) {
            _ if other.statistic.is_some() => ("a statistic", "figure", "without `statistic`"),
            _ if other.fit.is_some() => ("a line", "figure", "without `fit`"),
            (None, Some(_)) => ("an evidence", "figure", "without `evidence`"),
            (Some(_), None) => ("a figure", "evidence", "with `evidence`"),
            _ => continue,
        };
        let label = &other.label;
        let message = format!("`{label}` is {what}, of which no {this} is a multiple");
        let help = format!("name a measurement {meant} in `of`");
        return Err(measurement.places.predicted.fault(message, help));
    }
    Ok(())
}

/// Checks that measurements of one benchmark name the same parameters. Otherwise, entries of a run
/// cannot be assigned to measurements.
fn all_say_what_one_says(study: &Study) -> Result<(), StudyFault> {
    let names = |m: &Measurement| m.parameters().cloned().collect::<Vec<_>>();
    for measurement in &study.measurements {
        let has = names(measurement);
        let same = study.measurements.iter();
        for other in same.filter(|o| o.benchmark == measurement.benchmark) {
            let lacks_processes = other.workers.is_some() && measurement.workers.is_none();
            let lacking = names(other).into_iter().find(|n| !has.contains(n));
            if let Some(name) = lacking.or(lacks_processes.then(|| "processes".to_owned())) {
                let message = format!(
                    "`{}` is measured with a `{name}` in line {}, and here nothing is said of it",
                    other.benchmark, other.places.whole.line
                );
                let help = format!("say the value of `{name}` here, too");
                return Err(measurement.places.whole.fault(message, help));
            }
        }
    }
    Ok(())
}
