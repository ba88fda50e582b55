//! Texts about a row and a study, shared by the document and the terminal output.

use yamba_record::{Run, Status};

use yamba_session::study::{
    Figure, Measurement, Predicted, PredictionVerdict, Study, StudyRow, WITHIN,
};

/// The machine, the program and the time of the measurement.
pub fn origin(run: &Run) -> String {
    let machine = &run.machine;
    let cpu = machine.cpu.as_deref().unwrap_or("an unnamed processor");
    let started = run
        .started_unix_s
        .and_then(|s| chrono::DateTime::from_timestamp_millis((s * 1e3).round() as i64));
    let started =
        started.map_or(String::new(), |t| t.format(", started %Y-%m-%d %H:%M UTC").to_string());
    let id = match run.id.as_str() {
        "" => "without an id",
        id => id,
    };
    format!(
        "Measured on {cpu} ({} processors, {} {}){started}, run {id}.",
        machine.cpus, machine.system, machine.kernel
    )
}

/// The label, followed by the point if the measurement has several.
pub fn operation(row: &StudyRow<'_>) -> String {
    let label = &row.measurement.label;
    match row.point.as_str() {
        "" => label.clone(),
        point => format!("{label} ({point})"),
    }
}

/// The prediction in words; empty without a prediction.
pub fn predicted(study: &Study, measurement: &Measurement) -> String {
    match measurement.prediction.as_ref().map(|p| &p.kind) {
        None => String::new(),
        Some(Predicted::Invalid) => "invalid".to_owned(),
        Some(Predicted::In(range)) => range.to_string(),
        Some(Predicted::Times(range, other)) => {
            format!("{range} \u{201c}{}\u{201d}", study.measurements[*other].label)
        }
    }
}

/// The figure and its multiple, in words.
pub fn figure(row: &StudyRow<'_>) -> String {
    let figure = row.figure.as_ref().map(Figure::text);
    let multiple = row.multiple.as_ref().map(Figure::text);
    match (figure, multiple) {
        (Some(figure), Some(multiple)) => format!("{figure}, which is {multiple}"),
        (figure, _) => figure.unwrap_or_default(),
    }
}

/// The verdict in words, marked with [`WITHIN`] if another run may give another verdict.
pub fn verdict(row: &StudyRow<'_>) -> String {
    let word = row.verdict.map_or("", PredictionVerdict::word);
    let mark = if row.is_within_launches() { WITHIN } else { "" };
    format!("{word}{mark}")
}

/// The remarks below a study's tables: notes of all rows, the explanation of the mark, and the
/// number of each verdict.
pub fn remarks(rows: &[StudyRow<'_>]) -> Vec<String> {
    let common = common(rows);
    let common = common.iter().map(|note| format!("All figures: {note}."));
    common.chain(footnote(rows)).chain([sum(rows)]).collect()
}

/// The explanation of the mark, if any row has it.
fn footnote(rows: &[StudyRow<'_>]) -> Option<String> {
    let mut figures = rows.iter().flat_map(|r| [&r.figure, &r.multiple]).flatten();
    figures.any(Figure::is_within_launches).then(|| {
        format!("{WITHIN} The interval is within launches: it speaks of these processes alone, and neither it nor the verdict says anything of the next run.")
    })
}

/// The problem with a figure, in a word or two.
pub fn marked(row: &StudyRow<'_>) -> Option<&'static str> {
    match row.status {
        None => Some("not measured"),
        Some(Status::Skipped | Status::NotStarted) => Some("skipped"),
        Some(Status::Crashed) => Some("CRASHED"),
        Some(Status::Invalid) if !row.is_valid() => Some("INVALID"),
        Some(_) if row.figure.is_none() => Some("no figure"),
        Some(_) => None,
    }
}

/// The command that runs this measurement alone, quoted for a shell.
pub fn command(measurement: &Measurement) -> String {
    let mut words: Vec<String> =
        ["yamba", "run", &measurement.benchmark].map(str::to_owned).to_vec();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    for (name, value) in &measurement.set {
        option("--set", format!("{name}={value}"));
    }
    for (name, values) in &measurement.sweep {
        option("--sweep", format!("{name}={}", values.join(",")));
    }
    if let Some(workers) = measurement.workers {
        match workers.threads {
            1 => option("-P", workers.processes.to_string()),
            threads => option("-T", threads.to_string()),
        }
    }
    yamba_report::command_line(words.iter().map(String::as_str))
}

/// Counts the verdicts: `20 predictions: 14 within, 3 above, 1 unknown, 2 without a figure.`
fn sum(rows: &[StudyRow<'_>]) -> String {
    let predicted = rows.iter().filter(|r| r.measurement.prediction.is_some());
    let predicted: Vec<&StudyRow<'_>> = predicted.collect();
    let count = |verdict| predicted.iter().filter(|r| r.verdict == verdict).count();
    let kinds = [
        Some(PredictionVerdict::Within),
        Some(PredictionVerdict::Below),
        Some(PredictionVerdict::Above),
        Some(PredictionVerdict::Valid),
        Some(PredictionVerdict::Unknown),
        None,
    ];
    let counts = kinds.into_iter().filter_map(|kind| {
        let word = kind.map_or("without a figure", PredictionVerdict::word);
        let count = count(kind);
        (count > 0).then(|| format!("{count} {word}"))
    });
    let counts = counts.collect::<Vec<String>>().join(", ");
    match predicted.len() {
        0 => "Nothing is predicted.".to_owned(),
        1 => format!("1 prediction: {counts}."),
        n => format!("{n} predictions: {counts}."),
    }
}

/// The notes shared by all rows with a figure. They are printed once.
pub fn common<'a>(rows: &'a [StudyRow<'_>]) -> Vec<&'a String> {
    let with_figure = || rows.iter().filter(|r| r.figure.is_some());
    let Some(first) = with_figure().next().filter(|_| with_figure().count() > 1) else {
        return Vec::new();
    };
    let of_all = |note: &&String| with_figure().all(|r| r.notes.contains(note));
    first.notes.iter().filter(of_all).collect()
}
