//! Which fields of Common Log Format's lines are the client and the latency. Servers write more
//! fields before and after those of the format, so all lines decide.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use super::fields::Field;
use super::latency::{is_seconds, key};
use super::line::{CommonLine, whole};
use super::reason::{LogFault, Note, Reason};
use super::{FieldChoice, LatencyField};

/// Fields of Common Log Format before its time: client, identity, user.
const BEFORE: usize = 3;

/// Share of the lines in which a field has the form of all.
const MOST: f64 = 0.9;

/// The places of the fields.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Number of fields before the time.
    before: usize,
    /// Number of fields before the client.
    skipped: usize,
    /// Whether the user says which field is the client.
    is_chosen: bool,
    /// Whether clients are addresses.
    has_addresses: bool,
    /// Whether most lines have a number between the client and the time, such as a user's.
    has_numbers: bool,
    /// Number of fields after the bytes.
    after: usize,
    /// The latency among the fields after the bytes.
    pub latency: Option<LatencyField>,
    /// The text before the number of the latency, such as `rt=`.
    latency_key: String,
    /// The fields after the bytes that may be the latency, from 1, if there are several.
    candidates: Vec<usize>,
}

impl Layout {
    /// Decides by these lines.
    pub(super) fn find(lines: &[CommonLine], choice: FieldChoice) -> Result<Layout, LogFault> {
        let (after, count) = most_frequent(lines.iter().map(|line| line.after.len()));
        if count * 2 <= lines.len() {
            return Err(LogFault::MixedLines);
        }
        let skipped = skipped(lines, choice.client)?;
        let is_address = |line: &&CommonLine| is_client(line, skipped);
        let has_number = |line: &&CommonLine| is_number_after(line, skipped);
        if choice.latency.is_some_and(|latency| latency.field > after) {
            return Err(LogFault::NoField { option: "--latency-field", fields: after });
        }
        let mut candidates = match choice.latency {
            Some(_) => Vec::new(),
            None => request_times(lines, after),
        };
        let latency = choice.latency.or_else(|| match candidates[..] {
            [field] => Some(LatencyField { field, unit: None }),
            _ => None,
        });
        candidates.retain(|_| latency.is_none());
        Ok(Layout {
            before: before(lines, skipped),
            skipped,
            is_chosen: choice.client.is_some(),
            has_addresses: is_most(lines.iter().filter(is_address).count(), lines.len()),
            has_numbers: lines.iter().filter(has_number).count() * 2 > lines.len(),
            after,
            latency,
            latency_key: latency.map_or_else(String::new, |field| latency_key(lines, field)),
            candidates,
        })
    }

    /// The client of a line, or why the line does not have these places.
    pub(super) fn client<'a>(&self, line: &CommonLine<'a>) -> Result<Cow<'a, str>, Reason> {
        if line.after.len() != self.after {
            return Err(Reason::FieldsAfter { found: line.after.len(), usual: self.after });
        }
        let (found, usual) = (line.before.len(), self.before);
        // A user may have spaces. If the identity is `-`, the fields after it are the user.
        let has_user = usual == self.skipped + BEFORE;
        let has_long_user = has_user && found > usual && line.before[self.skipped + 1].text == "-";
        if found != usual && !has_long_user {
            return Err(Reason::FieldsBefore { found, usual });
        }
        // Servers write `-` for an empty body. If a number stands before the time, fields were
        // exchanged.
        let is_exchanged = !self.has_numbers && is_number_after(line, self.skipped);
        if line.bytes.is_none() && has_body(line.status) && is_exchanged {
            return Err(Reason::NumberBefore);
        }
        let mut others = line.before[self.skipped + 1..].iter();
        let is_list = |field: &Field| field.text.contains(',') && address(*field).is_some();
        if !self.is_chosen && others.any(is_list) {
            return Err(Reason::ListAfter);
        }
        let field = line.before[self.skipped];
        match address(field) {
            Some(address) => Ok(Cow::Owned(address.to_string())),
            None if self.has_addresses || field.text == "-" => Err(Reason::Client),
            None => Ok(Cow::Borrowed(field.text)),
        }
    }

    /// The latency of a line, in seconds.
    pub(super) fn latency_s(&self, line: &CommonLine) -> Option<f64> {
        let latency = self.latency.as_ref()?;
        latency.seconds(line.after.get(latency.field - 1)?.text, &self.latency_key)
    }

    /// The text before the number of the latency.
    pub(super) fn latency_key(&self) -> &str {
        &self.latency_key
    }

    /// Number of fields before the time.
    pub(super) fn before(&self) -> usize {
        self.before
    }

    /// The unused fields before the time, with their places: those before the client, and what
    /// stands in the place of the identity, since many servers write the virtual host there. The
    /// user does not change what a path is.
    pub(super) fn unused<'l, 'a>(
        &self,
        line: &'l CommonLine<'a>,
    ) -> impl Iterator<Item = (usize, Field<'a>)> + use<'l, 'a> {
        let skipped = self.skipped;
        let has_user = self.before == skipped + BEFORE;
        let end = self.before - usize::from(has_user);
        let fields = line.before[..end].iter().copied().enumerate();
        fields.filter(move |(place, field)| {
            *place < skipped || (*place > skipped && field.text != "-")
        })
    }

    /// Finds the clients of the lines, and their unused fields after the bytes.
    pub(super) fn notes(&self, lines: &[CommonLine]) -> Vec<Note> {
        let fitting = || lines.iter().filter(|line| self.client(line).is_ok());
        let mut notes = Vec::new();
        if let Some(first) = fitting().next().filter(|_| !self.has_addresses) {
            let example = first.before[self.skipped].text.to_owned();
            notes.push(Note::Names { example });
        }
        if fitting().any(|line| line.before[self.skipped].text.contains(',')) {
            notes.push(Note::Lists);
        }
        let latency = self.latency.map(|latency| latency.field);
        let unused = |field: &usize| {
            Some(*field) != latency && !(*field <= 2 && self.after >= 2 && is_quoted(lines, *field))
        };
        let example = |field: usize| -> Option<(usize, String)> {
            let texts = || fitting().map(|line| line.after[field - 1].text);
            let example = texts().find(|text| *text != "-").or(texts().next())?;
            Some((field, example.to_owned()))
        };
        let (candidates, unused): (Vec<_>, Vec<_>) = (1..=self.after)
            .filter(unused)
            .filter_map(example)
            .partition(|(field, _)| self.candidates.contains(field));
        let has_latency = latency.is_some() || !candidates.is_empty();
        if !candidates.is_empty() {
            notes.push(Note::Latencies(candidates));
        }
        if !unused.is_empty() {
            notes.push(Note::After { fields: unused, has_latency });
        }
        notes
    }
}

/// Whether a field after the bytes is in quotation marks, as referer and agent are. Counted from 1.
fn is_quoted(lines: &[CommonLine], field: usize) -> bool {
    let quoted = lines.iter().filter(|l| l.after.get(field - 1).is_some_and(|f| f.is_quoted));
    is_most(quoted.count(), lines.len())
}

fn has_body(status: u16) -> bool {
    !matches!(status, 100..200 | 204 | 304)
}

fn is_most(count: usize, all: usize) -> bool {
    count as f64 >= MOST * all as f64
}

/// The most frequent value, and how often it occurs.
fn most_frequent<T: Ord + Default>(values: impl Iterator<Item = T>) -> (T, usize) {
    let mut counts = std::collections::BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).unwrap_or_default()
}

/// Whether a field between the client and the time is a number.
fn is_number_after(line: &CommonLine, client: usize) -> bool {
    let mut others = line.before.iter().skip(client + 1);
    others.any(|field| whole(field.text).is_some())
}

/// Number of fields before the time: the most frequent one, unless it is that of users with spaces.
fn before(lines: &[CommonLine], skipped: usize) -> usize {
    let (before, count) = most_frequent(lines.iter().map(|line| line.before.len()));
    let standard = skipped + BEFORE;
    let has_standard = lines.iter().any(|line| line.before.len() == standard);
    if before > standard && has_standard && !is_most(count, lines.len()) {
        standard
    } else {
        before
    }
}

/// The text before the number of the latency in most lines.
fn latency_key(lines: &[CommonLine], latency: LatencyField) -> String {
    let fields = lines.iter().filter_map(|l| l.after.get(latency.field - 1));
    most_frequent(fields.map(|field| key(field.text))).0.to_owned()
}

/// Number of fields before the client.
fn skipped(lines: &[CommonLine], choice: Option<usize>) -> Result<usize, LogFault> {
    let (before, _) = most_frequent(lines.iter().map(|line| line.before.len()));
    if let Some(field) = choice {
        let is_present = field <= before;
        return is_present
            .then_some(field - 1)
            .ok_or(LogFault::NoField { option: "--client-field", fields: before });
    }
    let is_often = |has_form: fn(&CommonLine, usize) -> bool| -> Vec<usize> {
        let count = |place: usize| lines.iter().filter(|line| has_form(line, place)).count();
        (0..before).filter(|place| is_most(count(*place), lines.len())).collect()
    };
    // An address with a port may be that of a virtual host before the client.
    let plain = is_often(is_plain_client);
    let found = if plain.is_empty() { is_often(is_client) } else { plain };
    match found[..] {
        [place] => Ok(place),
        [] if before == BEFORE => Ok(0),
        [] => Err(LogFault::NoClient(before)),
        _ => Err(LogFault::SeveralClients(found.iter().map(|place| place + 1).collect())),
    }
}

fn is_client(line: &CommonLine, place: usize) -> bool {
    line.before.get(place).is_some_and(|field| address(*field).is_some())
}

fn is_plain_client(line: &CommonLine, place: usize) -> bool {
    let field = line.before.get(place);
    field.is_some_and(|field| first(field.text).parse::<IpAddr>().is_ok())
}

/// The address of a client, without its port. Of a list, as in `X-Forwarded-For`, the first one.
fn address(field: Field) -> Option<IpAddr> {
    let text = first(field.text);
    let address = text.parse::<IpAddr>().ok();
    let with_port = || Some(text.parse::<SocketAddr>().ok()?.ip());
    Some(address.or_else(with_port)?.to_canonical())
}

fn first(list: &str) -> &str {
    list.split(',').next().unwrap_or(list).trim()
}

/// The fields after the bytes that are times in seconds, from 1.
fn request_times(lines: &[CommonLine], fields: usize) -> Vec<usize> {
    let usual: Vec<&CommonLine> = lines.iter().filter(|l| l.after.len() == fields).collect();
    let often = |place: &usize| {
        let each = usual.iter().map(|line| line.after[*place]);
        let known: Vec<Field> = each.filter(|f| !f.is_quoted && f.text != "-").collect();
        let times = known.iter().filter(|f| is_seconds(f.text)).count();
        // A time of an upstream is missing where the server answers by itself.
        times * 2 > usual.len() && is_most(times, known.len())
    };
    let places = (0..fields).filter(often);
    places.map(|place| place + 1).collect()
}
