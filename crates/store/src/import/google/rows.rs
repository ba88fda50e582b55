//! The rows of Google Benchmark's JSON, grouped by benchmark.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::Status;

use super::super::members::{Members, is_non_number};

/// The name of the time in a row.
pub(super) const TIME: &str = "real_time";

/// Aggregates in files without `run_type`, by the end of their names. Of these, only mean and
/// median are figures.
const OLD_AGGREGATES: [&str; 4] = ["mean", "median", "stddev", "cv"];

/// A row with a name.
pub(super) struct Row {
    pub(super) members: Members,
    name: String,
    /// The aggregate that a row of an old file is.
    old_aggregate: Option<&'static str>,
}

/// The place of a benchmark among those that the program registered, and among its instances. Two
/// benchmarks may have one name.
type Registration = [Option<u64>; 2];

enum RowKind<'a> {
    Iteration,
    Aggregate(&'a str),
}

impl Row {
    /// `None`: it has no name.
    pub(super) fn read(members: Members) -> Option<Row> {
        let name = members.text("name").ok()??.to_owned();
        Some(Row { members, name, old_aggregate: None })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The kind of the row. The error says why it is unclear.
    fn kind(&self) -> Result<RowKind<'_>, String> {
        if let Some(name) = self.old_aggregate {
            return Ok(RowKind::Aggregate(name));
        }
        let aggregate = self.members.text("aggregate_name")?;
        match (self.members.text("run_type")?, aggregate) {
            (Some("aggregate") | None, Some(name)) => Ok(RowKind::Aggregate(name)),
            (Some("iteration") | None, None) => Ok(RowKind::Iteration),
            (Some("aggregate"), None) => Err("an aggregate without aggregate_name".to_owned()),
            (Some(other), _) => Err(format!("a row of run_type {other}")),
        }
    }

    /// The benchmark's name, without that of an aggregate. The error says how the row contradicts
    /// itself.
    fn benchmark(&self) -> Result<&str, String> {
        let without_aggregate = match self.kind()? {
            RowKind::Iteration => Some(self.name()),
            RowKind::Aggregate(aggregate) => {
                let name = self.name().strip_suffix(aggregate);
                name.and_then(|n| n.strip_suffix('_'))
            }
        };
        let named = self.members.text("run_name")?;
        match (named, without_aggregate) {
            (Some(named), Some(name)) if named == name => Ok(named),
            (None, Some(name)) => Ok(name),
            _ => Err("name, run_name and aggregate_name contradict each other".to_owned()),
        }
    }

    fn registration(&self) -> Result<Registration, String> {
        let family = self.members.count("family_index")?;
        Ok([family, self.members.count("per_family_instance_index")?])
    }

    /// Members in the place of numbers whose values are not numbers.
    pub(super) fn non_numbers<'a>(&'a self, except: &'a [&str]) -> impl Iterator<Item = String> {
        let texts = self.members.texts();
        let texts = texts.filter(|(_, text)| is_non_number(text));
        let others = texts.chain(self.members.too_large());
        let others = others.filter(|(key, _)| !except.contains(key));
        others.map(|(key, text)| format!("{key} is {text}"))
    }

    fn failure(&self) -> Option<(Status, String)> {
        let is_set = |flag| matches!(self.members.flag(flag), Ok(Some(true)));
        let failed = [
            (Status::Crashed, "error_occurred", "error_message"),
            (Status::Skipped, "skipped", "skip_message"),
        ];
        failed.into_iter().find_map(|(status, flag, message)| {
            let text = self.members.text(message).ok().flatten();
            let text = text.filter(|text| !text.is_empty());
            let is_it = is_set(flag) || text.is_some();
            is_it.then(|| (status, text.unwrap_or("without a reason").to_owned()))
        })
    }
}

/// Marks the aggregates among rows that do not say what they are: their names are those of other
/// rows, or of other aggregates, with an end.
pub(super) fn mark_old_aggregates(rows: &mut [Row]) {
    let says_nothing = |row: &Row| {
        let keys = ["run_type", "aggregate_name", "run_name"];
        !keys.iter().any(|key| row.members.has(key))
    };
    let names: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    for row in rows.iter_mut().filter(|row| says_nothing(row)) {
        row.old_aggregate = OLD_AGGREGATES.into_iter().find(|aggregate| {
            let base = row.name.strip_suffix(aggregate);
            base.and_then(|b| b.strip_suffix('_')).is_some_and(|base| {
                let has = |end: &str| names.contains(&format!("{base}_{end}"));
                names.contains(base) || (has("mean") && has("stddev"))
            })
        });
    }
}

/// The rows of one benchmark.
pub(super) struct Family<'a> {
    pub(super) name: &'a str,
    pub(super) rows: Vec<&'a Row>,
    registration: Registration,
    /// Why a row is unclear, so that no figure of the benchmark is sure.
    unclear: Option<String>,
}

/// A figure with the repetitions behind it, and a note on how it was computed.
pub(super) struct FamilyFigure {
    pub(super) value: f64,
    pub(super) samples: Vec<f64>,
    pub(super) note: Option<String>,
}

/// Groups rows by benchmark, in order of first occurrence.
pub(super) fn families(rows: &[Row]) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, Registration), usize> = BTreeMap::new();
    let mut doubtful = BTreeSet::new();
    for row in rows {
        let (name, registration, unclear) =
            match row.benchmark().and_then(|name| Ok((name, row.registration()?))) {
                Ok((name, registration)) => (name, registration, None),
                Err(reason) => {
                    let names = [Some(row.name()), row.members.text("run_name").ok().flatten()];
                    doubtful.extend(names.into_iter().flatten().map(|name| format!("{name}_")));
                    (row.name(), Registration::default(), Some(reason))
                }
            };
        let place = *places.entry((name, registration)).or_insert(families.len());
        if place == families.len() {
            families.push(Family { name, rows: Vec::new(), registration, unclear: None });
        }
        families[place].rows.push(row);
        let known = families[place].unclear.take();
        families[place].unclear = known.or(unclear);
    }
    spread_doubt(&mut families, doubtful);
    families
}

/// An unclear row `a_b` may belong to benchmark `a`; then `a` is unclear, too. `doubtful` has the
/// names of unclear rows with `_` after them. Of rows of one name, either all or none say their
/// place.
fn spread_doubt(families: &mut [Family<'_>], doubtful: BTreeSet<String>) {
    let mut named: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for family in families.iter() {
        let places = named.entry(family.name.to_owned()).or_default();
        places.push(family.registration.iter().all(Option::is_some));
    }
    for family in families.iter_mut().filter(|f| f.unclear.is_none()) {
        let begin = format!("{}_", family.name);
        let next = doubtful.range(begin.clone()..).next();
        let places = &named[family.name];
        if let Some(row) = next.filter(|name| name.starts_with(&begin)) {
            let row = row.trim_end_matches('_');
            family.unclear = Some(format!("its row {row} is unclear"));
        } else if places.len() > 1 && places.contains(&false) {
            family.unclear = Some("rows with family_index and rows without it".to_owned());
        }
    }
}

impl<'a> Family<'a> {
    /// Why the benchmark has no figure, by its program.
    pub(super) fn failure(&self) -> Option<(Status, String)> {
        self.rows.iter().find_map(|row| row.failure())
    }

    /// Why no figure of the benchmark is sure.
    pub(super) fn fault(&self) -> Option<String> {
        let repetitions = || self.check_repetitions().err();
        self.unclear.clone().or_else(repetitions)
    }

    fn iterations(&self) -> Vec<&'a Row> {
        let is_iteration = |row: &&&Row| matches!(row.kind(), Ok(RowKind::Iteration));
        self.rows.iter().filter(is_iteration).copied().collect()
    }

    fn aggregates(&self, name: &str) -> Vec<&'a Row> {
        let is_it = |row: &&&Row| matches!(row.kind(), Ok(RowKind::Aggregate(n)) if n == name);
        self.rows.iter().filter(is_it).copied().collect()
    }

    /// Whether each repetition stands in the file once. Older versions do not write their number or
    /// index.
    fn check_repetitions(&self) -> Result<(), String> {
        let rows = self.iterations();
        let members = |name: &str| -> Result<Vec<u64>, String> {
            let each = rows.iter().map(|row| row.members.count(name));
            Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        };
        let (counts, mut indices) = (members("repetitions")?, members("repetition_index")?);
        let number = rows.len();
        let is_known = |all: &[u64]| !all.is_empty();
        // Versions before 1.5.1 write 0 for one repetition.
        let is_right = |count: &u64| (*count).max(1) == number as u64;
        if is_known(&counts) && (counts.len() != number || !counts.iter().all(is_right)) {
            let most = counts.iter().max().copied().unwrap_or_default();
            return Err(format!("{number} rows for {most} repetitions"));
        }
        indices.sort_unstable();
        if is_known(&indices) && !indices.iter().copied().eq(0..number as u64) {
            return Err("a repetition is missing, or stands twice".to_owned());
        }
        Ok(())
    }

    /// The unit of the times.
    pub(super) fn time_unit(&self) -> Result<&'a str, String> {
        let timed = self.rows.iter().filter(|row| row.members.has(TIME));
        let units = timed.map(|row| row.members.text("time_unit"));
        let units: BTreeSet<&str> = units
            .map(|unit| unit?.ok_or_else(|| "no time_unit".to_owned()))
            .collect::<Result<_, _>>()?;
        let units: Vec<&str> = units.into_iter().collect();
        match units[..] {
            [unit @ ("ns" | "us" | "ms" | "s")] => Ok(unit),
            [] => Err("no time in it".to_owned()),
            [other] => Err(format!("time_unit is {other}")),
            _ => Err(format!("times in several units: {}", units.join(", "))),
        }
    }

    /// The figure of the member `key`. `None` if no row has it.
    pub(super) fn figure(&self, key: &str) -> Result<Option<FamilyFigure>, String> {
        let rows = self.iterations();
        if rows.is_empty() {
            return self.aggregate(key);
        }
        let values = rows.iter().map(|row| row.members.number(key));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let samples: Vec<f64> = values.into_iter().flatten().collect();
        let Some(value) = yamba_stats::median(&samples) else {
            return Ok(None);
        };
        if samples.len() < rows.len() {
            return Err(format!("{key} in {} of {} rows", samples.len(), rows.len()));
        }
        let is_alone = samples.len() == 1;
        let note = format!("the median of {} repetitions in one process", samples.len());
        Ok(Some(FamilyFigure {
            value,
            samples: if is_alone { Vec::new() } else { samples },
            note: (!is_alone).then_some(note),
        }))
    }

    fn aggregate(&self, key: &str) -> Result<Option<FamilyFigure>, String> {
        let both = ["median", "mean"].map(|name| (name, self.aggregates(name)));
        let has_key = |(_, rows): &(_, Vec<&Row>)| rows.iter().any(|row| row.members.has(key));
        if !both.iter().any(has_key) {
            return Ok(None);
        }
        let Some((name, rows)) = both.iter().find(|(_, rows)| !rows.is_empty()) else {
            return Ok(None);
        };
        let values = rows.iter().map(|row| row.members.number(key));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        match values[..] {
            [Some(value), ..] if values.iter().all(|v| *v == Some(value)) => {
                Ok(Some(FamilyFigure {
                    value,
                    samples: Vec::new(),
                    note: Some(format!("the {name} of repetitions in one process")),
                }))
            }
            [None, ..] => Err(format!("{key} is missing in its {name}")),
            _ => Err(format!("its {name} stands twice")),
        }
    }
}
