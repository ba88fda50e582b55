//! The runs in captures. Several captures of one run are merged, and what is missing is named.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use yamba_record::program::Program;
use yamba_record::run::FleetMember;

use crate::bundle::item::{Begin, End, Item, Launch, Point, bytes};
use crate::bundle::plan::Plan;
use crate::bundle::{document, frames, shortened};

/// A run as a bundle recorded it.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    pub bundle: String,
    /// The id of the run: sixteen hexadecimal digits.
    pub run: String,
    /// Start of the run, in seconds since 1970 (UTC).
    pub started_unix_s: f64,
    /// The fleet that the run belongs to.
    pub fleet: Option<FleetMember>,
    /// End of the run. `None` if the capture does not have it.
    pub finished_unix_s: Option<f64>,
    /// Whether the run was stopped before its end. Unknown, and `false`, if the capture does not
    /// have the end.
    pub interrupted: bool,
    /// Seed of the order of launches.
    pub seed: u64,
    /// The emulator that ran the programs.
    pub emulator: Option<String>,
    /// The plan. `None` if it was lost.
    pub plan: Option<Plan>,
    /// The source texts of the benchmarks, by hash.
    pub sources: BTreeMap<String, String>,
    /// Answers of the system about itself.
    pub answers: Value,
    /// Files with facts about the machine.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The points, in the order of the bundle.
    pub points: Vec<RecordedPoint>,
    /// The records of the width probes before the first launch.
    pub probes: Vec<u8>,
    /// The launches, in the order in which they ran.
    pub launches: Vec<RecordedLaunch>,
    /// Number of items that the runner wrote and that are not here. `None` if the end of the run,
    /// which says how many it wrote, is not here either.
    pub missing_items: Option<u64>,
    /// The missing parts, in words.
    pub lost: Vec<String>,
    /// The names of the documents and logs that have parts of the run.
    pub files_of_run: Vec<String>,
}

/// A program's answer at one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedPoint {
    /// Number of the entry.
    pub entry: u64,
    /// Number of the program.
    pub program: usize,
    /// The values of the swept parameters.
    pub set: Vec<(String, String)>,
    /// The exit status; negative if the program ended otherwise.
    pub status: i64,
    /// The description, if the program gave one.
    pub description: Option<Program>,
    /// The program's standard error.
    pub messages: String,
}

/// A launch, with the records as the program wrote them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedLaunch {
    /// Number of the entry.
    pub entry: u64,
    /// Number of the round.
    pub round: u64,
    /// The quiet width that the launch was given, in core cycles of 10 000 instructions.
    pub quiet_width: Option<f64>,
    /// The length of a batch that the launch was given, in ns.
    pub batch_ns: Option<u64>,
    /// Start since the start of the run, in ns.
    pub started_ns: u64,
    /// Duration, in ns.
    pub took_ns: u64,
    /// From the record of the first batch to that of the last, in ns.
    pub batches_took_ns: u64,
    /// How the process ended: `exited`, `signalled`, `hung`, `timed_out`, `flooded` or
    /// `not_started`.
    pub exit: String,
    /// The exit status or the signal.
    pub number: i32,
    /// The program's standard error.
    pub messages: String,
    /// Names of processes that outlived the launch.
    pub orphans: Vec<String>,
    /// The lines that the program wrote.
    pub records: Vec<u8>,
}

/// A document or log, under its name.
type Named<'a> = (&'a str, &'a [u8]);

/// The runs in these files, which have documents, or frames in the log of a serial line. Documents
/// of one run are merged, and so are its frames. A run in both is returned twice.
///
/// # Errors
/// The name of a file, and why it has no run.
pub fn captures(files: &[Named<'_>]) -> Result<Vec<Capture>, (String, String)> {
    let mut collected: Vec<Collected> = Vec::new();
    let mut logs: BTreeMap<String, (Vec<String>, frames::Frames)> = BTreeMap::new();
    for (name, content) in files {
        for document in document::documents(content) {
            let read = read_document(document).map_err(|why| ((*name).to_owned(), why))?;
            collected.push(Collected { files: vec![(*name).to_owned()], ..read });
        }
        let mut own = BTreeMap::new();
        frames::read(content, &mut own);
        for (run, frames) in own {
            let (files, all) = logs.entry(run).or_default();
            files.push((*name).to_owned());
            all.add(frames);
        }
    }
    let mut runs: Vec<Capture> = merged(collected).into_iter().map(Collected::capture).collect();
    for (run, (files, frames)) in logs {
        runs.push(Capture { files_of_run: files, ..read_frames(&run, &frames) });
    }
    Ok(runs)
}

/// The items of a run that are there.
#[derive(Debug, Default)]
struct Collected {
    begin: Option<Begin>,
    end: Option<End>,
    items: Vec<Item>,
    lost: Vec<String>,
    files: Vec<String>,
}

impl Collected {
    fn add(&mut self, item: Item) {
        match item {
            Item::Begin(begin) => self.begin = Some(begin),
            Item::End(end) => self.end = Some(end),
            item if self.items.contains(&item) => {}
            item => self.items.push(item),
        }
    }

    fn capture(self) -> Capture {
        // Of a lost beginning, only the id of the run may be filled in.
        let has_begin = self.begin.as_ref().is_some_and(|begin| !begin.bundle.is_empty());
        let begin = self.begin.unwrap_or_default();
        let end = self.end;
        let mut capture = Capture {
            bundle: begin.bundle,
            run: begin.run,
            started_unix_s: begin.started_unix_s,
            fleet: begin.fleet,
            seed: begin.seed,
            emulator: begin.emulator,
            finished_unix_s: end.as_ref().map(|end| end.finished_unix_s),
            interrupted: end.as_ref().is_some_and(|end| end.interrupted),
            lost: self.lost,
            files_of_run: self.files,
            ..Capture::default()
        };
        // The beginning and the end are items, too.
        let mut arrived = 1 + u64::from(has_begin);
        for item in self.items {
            arrived += u64::from(capture.enter(item));
        }
        capture.missing_items = end.as_ref().map(|end| end.items.saturating_sub(arrived));
        capture.points.sort_by_key(|point| point.entry);
        capture.launches.sort_by_key(|launch| launch.started_ns);
        capture.name_missing(end.as_ref());
        capture
    }
}

impl Capture {
    /// Enters an item. Returns `false` if it is damaged.
    fn enter(&mut self, item: Item) -> bool {
        match item {
            Item::Plan(plan) => self.plan = Some(plan),
            Item::Sources { texts } => self.sources = texts,
            Item::Machine { answers, files } => {
                self.answers = answers;
                let each = files.into_iter();
                self.files = each.map(|(path, text)| (path, bytes(&text))).collect();
            }
            Item::Point(point) => self.points.push(recorded_point(*point)),
            Item::Probes { records } => match shortened::lines(&records) {
                Some(probes) => self.probes = probes,
                None => {
                    self.lost
                        .push("the probes of the processor: their records are damaged".to_owned());
                    return false;
                }
            },
            Item::Launch(launch) => {
                let (entry, round) = (launch.entry, launch.round);
                // The beginning of the run may be lost.
                self.emulator = self.emulator.take().or_else(|| launch.emulator.clone());
                match recorded_launch(launch) {
                    Some(launch) => self.launches.push(launch),
                    None => {
                        let what = format!("launch {round} of entry {entry}");
                        self.lost.push(format!("{what}: its records are damaged"));
                        return false;
                    }
                }
            }
            Item::Begin(_) | Item::End(_) => {}
        }
        true
    }

    /// Names missing entries and parts of the run, and counts missing items.
    fn name_missing(&mut self, end: Option<&End>) {
        let known: BTreeSet<u64> = self.points.iter().map(|point| point.entry).collect();
        let launched = self.launches.iter().map(|launch| launch.entry + 1).max();
        let entries = end.map(|end| end.entries).max(launched).max(known.last().map(|e| e + 1));
        for entry in (0..entries.unwrap_or(0)).filter(|entry| !known.contains(entry)) {
            self.lost.push(format!("the description of entry {entry}, and so its figure"));
        }
        if self.answers.is_null() {
            self.lost.push("the facts about the machine".to_owned());
        }
        let Some(end) = end else {
            return self.lost.push("the end of the run".to_owned());
        };
        if let Some(missing @ 1..) = self.missing_items {
            self.lost.push(format!("{missing} of its {} items", end.items));
        }
    }

    /// The rounds before `end` of which this entry has no launch.
    pub fn missing_rounds(&self, entry: u64, end: u64) -> Vec<u64> {
        let own = self.launches.iter().filter(|launch| launch.entry == entry);
        let own: BTreeSet<u64> = own.map(|launch| launch.round).collect();
        (0..end).filter(|round| !own.contains(round)).collect()
    }
}

fn recorded_point(point: Point) -> RecordedPoint {
    RecordedPoint {
        entry: point.entry,
        program: point.program,
        set: point.set,
        status: point.status,
        description: point.description,
        messages: messages(&point.text),
    }
}

/// The launch with its records. `None` if these are not what the program wrote.
fn recorded_launch(launch: Launch) -> Option<RecordedLaunch> {
    let records = shortened::lines(&launch.records)?;
    if crc32fast::hash(&records) != launch.crc32 {
        return None;
    }
    Some(RecordedLaunch {
        entry: launch.entry,
        round: launch.round,
        quiet_width: launch.quiet_width,
        batch_ns: launch.batch_ns,
        started_ns: launch.started_ns,
        took_ns: launch.took_ns,
        batches_took_ns: launch.batches_took_ns,
        exit: launch.exit,
        number: launch.number,
        messages: messages(&launch.errors),
        orphans: launch.orphans,
        records,
    })
}

fn messages(text: &str) -> String {
    String::from_utf8_lossy(&bytes(text)).trim().to_owned()
}

/// The id of the first run in a file of documents. Parses no more than its first item. `None`
/// without a run.
pub fn run_of_capture(content: &[u8]) -> Option<String> {
    let (items, _) = document::items(document::documents(content).first()?);
    match serde_json::from_slice(items.first()?).ok()? {
        Item::Begin(begin) => Some(begin.run),
        _ => None,
    }
}

fn read_document(content: &[u8]) -> Result<Collected, String> {
    if !content.starts_with(format!("{{\"schema\":\"{}\"", crate::bundle::SCHEMA).as_bytes()) {
        return Err(format!("its schema is not {}", crate::bundle::SCHEMA));
    }
    let mut collected = Collected::default();
    let (lines, is_complete) = document::items(content);
    let last = lines.len().saturating_sub(1);
    for (number, line) in lines.into_iter().enumerate() {
        match serde_json::from_slice(line) {
            Ok(item) => collected.add(item),
            // The document was cut within this line.
            Err(e) if e.is_eof() && number == last && !is_complete => {}
            Err(e) => return Err(format!("line {}: {e}", number + 2)),
        }
    }
    if collected.begin.is_none() && !is_complete && has_items_on_one_line(content) {
        return Err("is not as the bundle wrote it, with one item on each line".to_owned());
    }
    if collected.begin.is_none() {
        return Err("has no run: it was cut short before the run began".to_owned());
    }
    Ok(collected)
}

/// Whether another program has written the document on fewer lines.
fn has_items_on_one_line(document: &[u8]) -> bool {
    let line = document.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.windows(8).any(|text| text == b"\"item\":\"")
}

/// Merges documents of the same run.
fn merged(documents: Vec<Collected>) -> Vec<Collected> {
    let mut runs: Vec<Collected> = Vec::new();
    for document in documents {
        let id = document.begin.as_ref().map(|begin| begin.run.clone());
        let same = |run: &&mut Collected| run.begin.as_ref().map(|b| b.run.clone()) == id;
        match runs.iter_mut().find(same) {
            Some(run) => {
                run.end = run.end.take().or(document.end);
                run.files.extend(document.files);
                run.files.dedup();
                document.items.into_iter().for_each(|item| run.add(item));
            }
            None => runs.push(document),
        }
    }
    runs
}

fn read_frames(run: &str, frames: &frames::Frames) -> Capture {
    let (items, lost) = frames.items();
    let mut collected = Collected::default();
    for (first, last) in lost {
        collected.lost.push(if first == last {
            format!("frame {first}")
        } else {
            format!("frames {first} to {last}")
        });
    }
    for text in items {
        match serde_json::from_str(&text) {
            Ok(item) => collected.add(item),
            Err(e) => collected.lost.push(format!("an item that is not understood: {e}")),
        }
    }
    let begin = collected.begin.get_or_insert_default();
    if begin.run.is_empty() {
        // The rest of the id was lost with the first item.
        begin.run = format!("{run}00000000");
    }
    collected.capture()
}
