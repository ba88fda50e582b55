//! Checks that the benchmarks, parameters, evidence and units that a study names exist.

use yamba_lang::ast::MemberKind;
use yamba_lang::model::Composition;
use yamba_lang::units::is_unit;
use yamba_lang::{Analysis, Target};

use super::super::Failure;
use super::super::select::did_you_mean;
use super::find::Source;
use super::{Measurement, Part, Position, Predicted, Study, StudyFault, converts};

/// Checks that each benchmark is among the `known` names.
pub(super) fn benchmarks(study: &Study, source: &Source, known: &[String]) -> Result<(), Failure> {
    for measurement in &study.measurements {
        let name = &measurement.benchmark;
        if !known.contains(name) {
            let help = did_you_mean(name, known);
            return Err(source.failure(StudyFault {
                place: measurement.places.benchmark,
                message: format!("no benchmark is named {name}"),
                help: help.unwrap_or_else(|| {
                    "`yamba list` shows what there is; --lib DIR adds a folder".to_owned()
                }),
            }));
        }
    }
    Ok(())
}

/// Checks parameters, evidence and units. Benchmarks without a port to this platform are not
/// checked: they are skipped with a note.
pub(super) fn all(
    study: &Study,
    source: &Source,
    analysis: &Analysis,
    target: &Target,
) -> Result<(), Failure> {
    let each = study.measurements.iter();
    let mut faults = each.filter_map(|m| fault(m, analysis, target));
    faults.next().map_or(Ok(()), |f| Err(source.failure(f)))
}

fn fault(measurement: &Measurement, analysis: &Analysis, target: &Target) -> Option<StudyFault> {
    let name = &measurement.benchmark;
    let mut all = analysis.requested().into_iter();
    let class = all.find(|c| analysis.class(*c).name() == name)?;
    if !analysis.is_listed(class) {
        let message = format!("{name} is no benchmark");
        let help = "`yamba list` shows what there is";
        return Some(measurement.places.benchmark.fault(message, help));
    }
    let variants = analysis.program(class, target).variants;
    if variants.is_empty() {
        return None;
    }
    let mut named = measurement.parameters();
    let parameters = known(&variants, |v| v.parameters.iter().map(|p| p.name.clone()).collect());
    if let Some(wrong) = named.find(|p| !parameters.contains(p)) {
        let place = measurement.places.parameters;
        return Some(unknown(place, name, "parameter", wrong, &parameters));
    }
    let evidence = known(&variants, |v| v.evidence.iter().map(|e| e.name.clone()).collect());
    let wanted = measurement.evidence.as_ref();
    if let Some(wrong) = wanted.filter(|e| !evidence.contains(e)) {
        let place = measurement.places.evidence;
        return Some(unknown(place, name, "evidence", wrong, &evidence));
    }
    if let Some(fit) = &measurement.fit {
        let all = [parameters, evidence].concat();
        if !all.contains(&fit.against) {
            let what = "parameter or evidence";
            let place = measurement.places.against;
            return Some(unknown(place, name, what, &fit.against, &all));
        }
    }
    match (&measurement.evidence, measurement.statistic) {
        (None, None) => unit_fault(measurement, unit(analysis, &variants[0])),
        _ => None,
    }
}

/// The names that any of the variants has, sorted.
fn known(variants: &[Composition], names: impl Fn(&Composition) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = variants.iter().flat_map(names).collect();
    all.sort();
    all.dedup();
    all
}

fn unknown(
    place: Position,
    benchmark: &str,
    what: &str,
    wrong: &str,
    known: &[String],
) -> StudyFault {
    let has = match known {
        [] => "it has none at all".to_owned(),
        _ => format!("it has {}", known.join(", ")),
    };
    let message = format!("{benchmark} has no {what} `{wrong}`");
    place.fault(message, did_you_mean(wrong, known).unwrap_or(has))
}

/// The unit of a class's figure, if its function `unit()` is a plain `return "ns";`.
fn unit<'a>(analysis: &'a Analysis, composition: &Composition) -> Option<&'a str> {
    let member = analysis.member(*composition.members.get("unit()")?);
    let MemberKind::Function { body, .. } = &member.kind else {
        return None;
    };
    let text = analysis.cpp((*body)?).trim();
    text.strip_prefix("return \"")?.strip_suffix("\";")
}

/// The fault of a unit that the figure cannot be converted to.
fn unit_fault(measurement: &Measurement, own: Option<&str>) -> Option<StudyFault> {
    let fit = measurement.fit.as_ref();
    let is_share = fit.is_some_and(|f| f.part == Part::RSquared);
    let predicted = match measurement.prediction.as_ref().map(|p| &p.kind) {
        Some(Predicted::In(range)) if !is_share => {
            Some((range.unit.as_str(), measurement.places.predicted))
        }
        _ => None,
    };
    let shown = measurement.unit.as_deref();
    let shown = shown.map(|u| (u, measurement.places.unit));
    let fits = |unit: &str| own.map_or(is_unit(unit), |own| converts(own, unit));
    let mut all = shown.into_iter().chain(predicted);
    let (wrong, place) = all.find(|(unit, _)| !fits(unit))?;
    let help = match own {
        Some("ns") => "its figure is a time: write cycles, ps, ns, us, ms, s or min".to_owned(),
        Some(own) if own.ends_with("/s") => {
            format!("its figure is in {own}: write B/s, kB/s, MB/s, GB/s, MiB/s or GiB/s")
        }
        Some(own) => format!("its figure is in {own}"),
        None => "write a unit of time, of bandwidth, of bytes or of frequency".to_owned(),
    };
    let what = if is_unit(wrong) {
        format!("no figure of {} is in {wrong}", measurement.benchmark)
    } else {
        format!("`{wrong}` is no unit")
    };
    Some(place.fault(what, help))
}
