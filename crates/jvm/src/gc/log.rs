//! Reads the output of `-Xlog:gc*,gc+age=trace`, with the decorations `uptime,level,tags`.
//!
//! Each collection has lines that depend on each other: the begin and the end of a pause, the sizes
//! of all spaces, a sum and its parts. A log in which one of them is missing or has another form is
//! refused, so a number of another locale or version never counts as 0.

mod details;
mod line;
mod spaces;

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::Collector;
use details::Row;
use line::{Line, bytes, change, decimal};
use spaces::Space;

/// The work of a GC id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Marks objects while the application runs; reclaims nothing by itself. A cycle of G1.
    ConcurrentMark,
    /// Collects while the application runs: Shenandoah and Z.
    Cycle,
    /// Collects the young generation.
    #[default]
    Young,
    /// Collects the young generation and some old regions of G1.
    Mixed,
    /// Collects the whole heap in one pause.
    Full,
}

/// A collection or a concurrent cycle: the data of one GC id in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    /// The highest kind among its phases.
    pub kind: Option<Kind>,
    /// Duration of each pause, in ns.
    pub pauses_ns: Vec<f64>,
    /// Bytes in Eden before, for collectors with an Eden.
    pub eden_bytes: f64,
    /// Bytes in Eden and the survivor spaces before and after. Only of Serial and Parallel.
    pub young_bytes: (f64, f64),
    /// Bytes in the survivor spaces after the collection.
    pub survivor_bytes: f64,
    /// Bytes in the old generation before and after.
    pub old_bytes: (f64, f64),
    /// Bytes that it copied, as the log says. Only of G1 with `gc+phases=debug`, and of young
    /// collections that Serial gave up.
    pub logged_copied_bytes: Option<f64>,
    /// Cards that were dirty at the start. Only of G1 with `gc+phases=debug`.
    pub pending_cards: f64,
    /// Cards that threads of G1 refined since the collection before. Only with
    /// `gc+refine+stats=debug`.
    pub refined_cards: f64,
    /// Cards that threads of the application refined, since there were too many.
    pub cards_refined_by_application: f64,
    /// Bytes of class metadata.
    pub metaspace_bytes: f64,
    /// Survivors by age; index 0 is age 1. Only with `gc+age=trace`.
    pub bytes_by_age: Vec<f64>,
}

impl Collection {
    /// Bytes that a young or mixed collection copied: to a survivor space or to the old generation.
    /// Without a log of them, those that mixed collections move within the old generation are
    /// unknown.
    pub fn copied_bytes(&self) -> f64 {
        let grown = self.survivor_bytes + (self.old_bytes.1 - self.old_bytes.0).max(0.0);
        self.logged_copied_bytes.unwrap_or(grown)
    }

    /// Bytes in the heap after the collection. Only of Serial and Parallel.
    pub fn left_bytes(&self) -> f64 {
        self.young_bytes.1 + self.old_bytes.1
    }

    /// Bytes that the collection freed. Only of Serial and Parallel.
    pub fn freed_bytes(&self) -> f64 {
        (self.young_bytes.0 + self.old_bytes.0 - self.left_bytes()).max(0.0)
    }
}

/// The collections of a log, by GC id.
///
/// # Errors
/// If the log has another form, or ends within a line. The message has the line.
pub fn read(text: &str, collector: Collector) -> Result<BTreeMap<u32, Collection>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut log = Log::new(collector);
    for (index, text) in text.lines().enumerate() {
        let added = line::line(text).and_then(|line| line.map_or(Ok(()), |line| log.add(line)));
        added.map_err(|fault| refusal(&format!("line {}: {fault}: {text}", index + 1)))?;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(refusal("it ends within a line"));
    }
    log.ended().map_err(|fault| refusal(&fault))
}

fn refusal(fault: &str) -> String {
    format!("the log of collections cannot be read: {fault}")
}

/// Bytes in Eden at the end, from the log's lines about the heap at exit. Only of Serial. `None`:
/// the log has no such line, or more than one, or it has another form.
pub fn rest_of_eden(text: &str) -> Option<f64> {
    let mut found = text.lines().filter(|line| line.contains("eden space"));
    let (text, None) = (found.next()?, found.next()) else {
        return None;
    };
    let message = line::line(text).ok()??.message;
    let words: Vec<&str> = message.split_whitespace().collect();
    let ["eden", "space", size, share, "used", bottom, top, end] = words[..] else {
        return None;
    };
    bytes(size.strip_suffix(',')?)?;
    line::number(share.strip_suffix('%')?)?;
    let bottom = address(bottom.strip_prefix('[')?.strip_suffix(',')?)?;
    let top = address(top.strip_suffix(',')?)?;
    let end = address(end.strip_suffix(')')?)?;
    let is_size = bytes(size.strip_suffix(',')?) == Some(end.checked_sub(bottom)? as f64);
    (is_size && top <= end).then_some(())?;
    Some(top.checked_sub(bottom)? as f64)
}

/// `0x00000000f80aebf0`
fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// A collection with lines that wait for others.
#[derive(Default)]
struct Draft {
    collection: Collection,
    /// Pauses that began and did not end.
    begun: Vec<String>,
    spaces: BTreeSet<Space>,
    /// Used bytes of the heap before and after the last pause.
    heap_bytes: Option<(f64, f64)>,
    /// Whether the old generation was full before all survivors were there.
    has_failed_promotion: bool,
    /// Sum of the survivors of all ages so far. `None`: the log has no ages.
    ages_bytes: Option<f64>,
    /// Whether the log has cards. Then it has copied bytes, too.
    has_cards: bool,
    /// Refined cards in all.
    refined: Option<f64>,
}

struct Log {
    collector: Collector,
    region_bytes: Option<f64>,
    drafts: BTreeMap<u32, Draft>,
}

/// Tags whose lines belong to a collection.
const OF_COLLECTIONS: [&str; 4] = ["gc,start", "gc,phases", "gc,age", "gc,refine,stats"];

impl Log {
    fn new(collector: Collector) -> Self {
        Self { collector, region_bytes: None, drafts: BTreeMap::new() }
    }

    fn add(&mut self, line: Line<'_>) -> Result<(), &'static str> {
        let Some(id) = line.id else {
            return self.add_general(line);
        };
        let draft = self.drafts.entry(id).or_default();
        match line.tags {
            "gc,start" => draft.begin(line.message),
            "gc" => draft.add_end(line.message),
            "gc,phases" if self.collector == Collector::Z => draft.add_pause_of_z(line.message),
            "gc,phases" if self.collector == Collector::G1 => draft.add_row(line.message),
            "gc,heap" | "gc,metaspace" if !Space::needed(self.collector).is_empty() => {
                draft.add_space(line.message, self.region_bytes)
            }
            "gc,promotion" => draft.add_promotion(line.message),
            "gc,age" => draft.add_age(line.message),
            "gc,refine,stats" => draft.add_refinement(line.message),
            _ => Ok(()),
        }
    }

    /// A line that belongs to no collection.
    fn add_general(&mut self, line: Line<'_>) -> Result<(), &'static str> {
        let lacks_id = OF_COLLECTIONS.contains(&line.tags)
            || (line.tags == "gc" && line.message.contains("Pause "));
        if lacks_id {
            return Err("it has no GC id");
        }
        if let Some(size) = line.message.strip_prefix("Heap Region Size: ") {
            self.region_bytes = Some(bytes(size).ok_or("the size of a region is no number")?);
        }
        Ok(())
    }

    fn ended(self) -> Result<BTreeMap<u32, Collection>, String> {
        let mut found = BTreeMap::new();
        for (id, draft) in self.drafts {
            let collection = draft.ended(self.collector);
            let collection = collection.map_err(|fault| format!("collection {id}: {fault}"))?;
            found.extend(collection.map(|collection| (id, collection)));
        }
        let pauses = || found.values().flat_map(|c| &c.pauses_ns);
        if pauses().next().is_some() && pauses().all(|ns| *ns == 0.0) {
            return Err("all pauses are 0".to_owned());
        }
        Ok(found)
    }
}

impl Draft {
    /// A line that has nothing but a kind of work, or the begin of a pause.
    fn begin(&mut self, message: &str) -> Result<(), &'static str> {
        self.add_kind(message);
        if message.starts_with("Pause ") {
            self.begun.push(message.to_owned());
            Ok(())
        } else {
            no_pause(message)
        }
    }

    /// `Pause Young (Allocation Failure) 87M->5M(2176M) 2.438ms`, or another work that ended.
    fn add_end(&mut self, message: &str) -> Result<(), &'static str> {
        if !message.starts_with("Pause ") {
            self.add_kind(message);
            return no_pause(message);
        }
        let (rest, ns) = timed(message).ok_or("the pause has no duration in ms")?;
        let (name, heap_bytes) = without_sizes(rest);
        self.heap_bytes = heap_bytes;
        let at = self.begun.iter().position(|begun| is_end_of(begun, name));
        let at = at.ok_or("the pause has another name at its begin")?;
        self.begun.remove(at);
        self.add_kind(message);
        self.collection.pauses_ns.push(ns);
        Ok(())
    }

    /// `y: Pause Mark Start 0.009ms`. The log of Z has no begins of pauses.
    fn add_pause_of_z(&mut self, message: &str) -> Result<(), &'static str> {
        let prefixes = ["y: ", "Y: ", "O: "];
        let own = prefixes.iter().find_map(|p| message.strip_prefix(p));
        let own = own.unwrap_or(message);
        const NAMES: [&str; 4] = ["Pause", "Mark Start", "Mark End", "Relocate Start"];
        if !NAMES.iter().any(|name| own.contains(name)) {
            return Ok(());
        }
        let (name, ns) = timed(own).ok_or("the pause has no duration in ms")?;
        let is_name = |c: char| c.is_ascii_alphabetic() || " ()".contains(c);
        if !name.starts_with("Pause ") || !name.chars().all(is_name) {
            return Err("the pause has another form");
        }
        self.collection.pauses_ns.push(ns);
        Ok(())
    }

    fn add_kind(&mut self, message: &str) {
        if let Some(kind) = kind(message) {
            self.collection.kind = self.collection.kind.max(Some(kind));
        }
    }

    fn add_space(&mut self, message: &str, region_bytes: Option<f64>) -> Result<(), &'static str> {
        let Some(space) = message.split_once(": ").and_then(|s| Space::named(s.0)) else {
            return Ok(());
        };
        if !self.spaces.insert(space) {
            return Err("the sizes of a space are there twice");
        }
        let needs_size = [Space::EdenRegions, Space::SurvivorRegions, Space::OldRegions];
        if region_bytes.is_none() && needs_size.contains(&space) {
            return Err("the line `Heap Region Size` is missing before it");
        }
        let added = space.add(&mut self.collection, message, region_bytes.unwrap_or(0.0));
        added.ok_or("the sizes of a space have another form")
    }

    /// Only the failure is logged as information.
    fn add_promotion(&mut self, message: &str) -> Result<(), &'static str> {
        self.has_failed_promotion |= message == "Promotion failed";
        Ok(())
    }

    /// Serial of JDK 17 logs no spaces of a young collection that it gives up: at its begin, and
    /// then the heap is as full as before, or when a promotion fails. Then the heap has the
    /// survivors twice, and its growth is that of their copies. `None`: it was not given up.
    fn given_up_copied_bytes(&self) -> Option<f64> {
        let (before, after) = self.heap_bytes?;
        let is_given_up = self.has_failed_promotion || before == after;
        (self.spaces.is_empty() && is_given_up).then(|| (after - before).max(0.0))
    }

    fn add_age(&mut self, message: &str) -> Result<(), &'static str> {
        let is_title = ["Desired survivor size ", "Age table"];
        let sum = self.ages_bytes.get_or_insert(0.0);
        if is_title.iter().any(|title| message.starts_with(title)) {
            return Ok(());
        }
        let (age, size, total) = details::age(message).ok_or("the age has another form")?;
        let ages = &mut self.collection.bytes_by_age;
        *sum += size;
        if age <= ages.len() || *sum != total {
            return Err("the total is not the sum of the ages up to here");
        }
        ages.resize(age, 0.0);
        ages[age - 1] = size;
        Ok(())
    }

    fn add_row(&mut self, message: &str) -> Result<(), &'static str> {
        match details::row(message).ok_or("the row has another form")? {
            Row::CopiedBytes(bytes) => {
                let earlier = self.collection.logged_copied_bytes.replace(bytes);
                if earlier.is_some() {
                    return Err("the copied bytes are there twice");
                }
            }
            Row::DirtyCards(cards) => {
                self.has_cards = true;
                self.collection.pending_cards += cards;
            }
            Row::Other => {}
        }
        Ok(())
    }

    /// `Mutator refinement`, `Concurrent refinement` and their sum, `Total refinement`.
    fn add_refinement(&mut self, message: &str) -> Result<(), &'static str> {
        if message.contains(" rate: ") {
            return Ok(());
        }
        let to = match message.split(' ').next() {
            Some("Mutator") => &mut self.collection.cards_refined_by_application,
            Some("Concurrent") => &mut self.collection.refined_cards,
            Some("Total") => self.refined.get_or_insert(0.0),
            _ => return Err("the refinement has another form"),
        };
        *to += details::refined(message).ok_or("the refinement has another form")?;
        Ok(())
    }

    /// Checks that no line is missing. `None`: the id has no kind of work that counts.
    fn ended(self, collector: Collector) -> Result<Option<Collection>, String> {
        let given_up = self.given_up_copied_bytes();
        let mut found = self.collection;
        if let Some(pause) = self.begun.first() {
            return Err(format!("`{pause}` has no end"));
        }
        let Some(kind) = found.kind else {
            let is_lost = !found.pauses_ns.is_empty();
            return if is_lost { Err("its kind is missing".to_owned()) } else { Ok(None) };
        };
        let needs_spaces = matches!(kind, Kind::Young | Kind::Mixed | Kind::Full);
        let mut needed = Space::needed(collector).iter();
        if needs_spaces && !needed.all(|space| self.spaces.contains(space)) {
            let copied_bytes = given_up.ok_or("the sizes of a space are missing")?;
            found.logged_copied_bytes.get_or_insert(copied_bytes);
        }
        let copies = matches!(kind, Kind::Young | Kind::Mixed);
        if copies && self.has_cards && found.logged_copied_bytes.is_none() {
            return Err("the copied bytes are missing".to_owned());
        }
        let refined = found.refined_cards + found.cards_refined_by_application;
        if self.refined.unwrap_or(0.0) != refined {
            return Err("the refined cards are not the sum of their parts".to_owned());
        }
        let survivors = found.survivor_bytes;
        let is_survivors = |ages: f64| (0.0..1024.0).contains(&(ages - survivors));
        if !self.ages_bytes.is_none_or(is_survivors) {
            return Err("the ages are not all of the survivors".to_owned());
        }
        Ok(Some(found))
    }
}

/// Refuses a line that has the word of a pause where no pause can be.
fn no_pause(message: &str) -> Result<(), &'static str> {
    if message.contains("Pause ") {
        return Err("the pause is not at the beginning");
    }
    Ok(())
}

/// Whether a pause that began as `begun` has this name at its end, which may have more:
/// `(Evacuation Failure)`.
fn is_end_of(begun: &str, name: &str) -> bool {
    let more = name.strip_prefix(begun);
    more.is_some_and(|more| more.is_empty() || (more.starts_with(" (") && more.ends_with(')')))
}

/// The text before a duration, and the duration in ns.
fn timed(message: &str) -> Option<(&str, f64)> {
    let (rest, time) = message.rsplit_once(' ')?;
    Some((rest, decimal(time.strip_suffix("ms")?)? * 1e6))
}

/// The name of a pause without the used bytes of the heap, and these before and after.
fn without_sizes(text: &str) -> (&str, Option<(f64, f64)>) {
    let parts = text.rsplit_once(' ');
    let sizes = parts.and_then(|(name, sizes)| Some((name, Some(change(sizes, bytes)?))));
    sizes.unwrap_or((text, None))
}

fn kind(rest: &str) -> Option<Kind> {
    let kinds = [
        ("Pause Young (Mixed)", Kind::Mixed),
        ("Pause Young", Kind::Young),
        ("Pause Full", Kind::Full),
        ("Pause Degenerated", Kind::Full),
        ("Concurrent Mark Cycle", Kind::ConcurrentMark),
        ("Concurrent Undo Cycle", Kind::ConcurrentMark),
        ("Garbage Collection (", Kind::Cycle),
        ("Minor Collection (", Kind::Young),
        ("Major Collection (", Kind::Cycle),
        ("Concurrent marking", Kind::Cycle),
    ];
    kinds.into_iter().find(|(b, _)| rest.starts_with(b)).map(|(_, k)| k)
}

#[cfg(test)]
mod tests;
