//! The SQL statements, in the dialect common to both kinds of database.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::IgnoredAny;
use yamba_record::run::Producer;
use yamba_record::{Benchmark, Machine, Records, Run, RunHead, document};

use crate::connection::Value::{Bytes, Integer, Real, Text, TextIfAny, Truth};
use crate::connection::{Connection, ResultRow, Value};
use crate::error::{StoreError, StoreFault};
use crate::{Detail, Listed, checksum, writer};

/// `entries` of a run that has not finished.
const NOT_KNOWN: i64 = -1;

const LATEST_FIRST: &str = "ORDER BY started DESC NULLS LAST, rowid DESC";

/// The first column of all rows.
fn column(
    connection: &mut dyn Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<String>, StoreFault> {
    let mut all = Vec::new();
    connection.query(sql, values, &mut |row| {
        all.push(row.text(0)?.to_owned());
        Ok(())
    })?;
    Ok(all)
}

/// The first column of the last row.
fn number(
    connection: &mut dyn Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Option<i64>, StoreFault> {
    let mut found = None;
    connection.query(sql, values, &mut |row| {
        found = Some(row.integer(0)?);
        Ok(())
    })?;
    Ok(found)
}

/// Groups the second column by the first.
fn by_run(
    connection: &mut dyn Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<BTreeMap<String, Vec<String>>, StoreFault> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    connection.query(sql, values, &mut |row| {
        let of = all.entry(row.text(0)?.to_owned()).or_default();
        of.push(row.text(1)?.to_owned());
        Ok(())
    })?;
    Ok(all)
}

pub(crate) fn exists(connection: &mut dyn Connection, id: &str) -> Result<bool, StoreFault> {
    let sql = "SELECT id FROM run WHERE id = $1";
    Ok(!column(connection, sql, &[Text(id)])?.is_empty())
}

fn must_exist(connection: &mut dyn Connection, id: &str) -> Result<(), StoreFault> {
    if exists(connection, id)? { Ok(()) } else { Err(no_run(id)) }
}

fn no_run(id: &str) -> StoreFault {
    StoreError::new(format!("there is no run {id}"))
        .help("`yamba runs` lists the stored runs")
        .into()
}

/// The part of a run's checksum besides its document.
fn ending(is_finished: bool, entries: i64) -> String {
    format!("{is_finished} {entries}")
}

fn head_checksum(head: &str, is_finished: bool, entries: i64) -> Vec<u8> {
    checksum::checksum(&[head.as_bytes(), ending(is_finished, entries).as_bytes()])
}

/// The first part of an entry's checksum.
fn placed(id: &str, place: i64, figures: &str) -> String {
    format!("{id} {place} {figures}")
}

/// The run's own document as stored. Tags and sources have tables of their own.
fn head_text(head: &RunHead) -> Result<String, StoreFault> {
    let mut head = head.clone();
    head.tags.clear();
    head.sources.clear();
    Ok(document::write_head(&head)?)
}

/// Inserts a new run. `writer` is the process that measures it.
pub(crate) fn insert(
    connection: &mut dyn Connection,
    run: &RunHead,
    writer: Option<&str>,
) -> Result<(), StoreFault> {
    if run.id.is_empty() {
        return Err(StoreError::new("a run without an id cannot be stored")
            .help("`yamba import` gives a document without one an id")
            .into());
    }
    if exists(connection, &run.id)? {
        return Err(StoreError::new(format!("run {} is there already", run.id))
            .help(format!("`yamba rm {}` removes it", run.id))
            .into());
    }
    let sql = "INSERT INTO run (id, started, finished, head, checksum, writer, fleet) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let head = head_text(run)?;
    let checksum = head_checksum(&head, false, NOT_KNOWN);
    let values = [
        Text(&run.id),
        Real(run.started_unix_s),
        Truth(false),
        Text(&head),
        Bytes(&checksum),
        TextIfAny(writer),
        TextIfAny(run.fleet.as_ref().map(|member| member.name.as_str())),
    ];
    connection.execute(sql, &values)?;
    belongings(connection, run)
}

/// Marks the run as finished with `entries` entries. Tags added in the meantime stay.
pub(crate) fn finish(
    connection: &mut dyn Connection,
    run: &RunHead,
    entries: usize,
) -> Result<(), StoreFault> {
    must_exist(connection, &run.id)?;
    let sql = "UPDATE run SET started = $1, finished = $2, head = $3, checksum = $4, entries = $5, writer = NULL WHERE id = $6";
    let head = head_text(run)?;
    let entries = entries as i64;
    let checksum = head_checksum(&head, true, entries);
    let values = [
        Real(run.started_unix_s),
        Truth(true),
        Text(&head),
        Bytes(&checksum),
        Integer(entries),
        Text(&run.id),
    ];
    connection.execute(sql, &values)?;
    belongings(connection, run)
}

fn belongings(connection: &mut dyn Connection, run: &RunHead) -> Result<(), StoreFault> {
    for tag in &run.tags {
        give(connection, &run.id, tag)?;
    }
    for (hash, text) in &run.sources {
        let source = source(connection, hash, text)?;
        let sql = "INSERT INTO run_source (run, source) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        connection.execute(sql, &[Text(&run.id), Integer(source)])?;
    }
    Ok(())
}

/// Finds or stores a source text and returns its row. Compares the text too, since an imported
/// document may give a text a wrong hash.
fn source(connection: &mut dyn Connection, hash: &str, text: &str) -> Result<i64, StoreFault> {
    let known = "SELECT id FROM source WHERE hash = $1 AND text = $2";
    if let Some(id) = number(connection, known, &[Text(hash), Text(text)])? {
        return Ok(id);
    }
    let new = "INSERT INTO source (hash, text, checksum) VALUES ($1, $2, $3) RETURNING id";
    let checksum = checksum::checksum(&[hash.as_bytes(), text.as_bytes()]);
    let id = number(connection, new, &[Text(hash), Text(text), Bytes(&checksum)])?;
    id.ok_or_else(|| StoreFault::Damaged("a text got no number".to_owned()))
}

/// Inserts or replaces the entry at `place`.
pub(crate) fn put(
    connection: &mut dyn Connection,
    id: &str,
    place: usize,
    entry: &Benchmark,
) -> Result<(), StoreFault> {
    let sql = "INSERT INTO entry (run, place, name, parameters, valid, figures, samples, batches, checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (run, place) DO UPDATE SET name = excluded.name, parameters = excluded.parameters, valid = excluded.valid,
            figures = excluded.figures, samples = excluded.samples, batches = excluded.batches,
            checksum = excluded.checksum";
    let place = place as i64;
    let parameters = serde_json::to_string(&entry.parameters)?;
    let figures = document::write_entry(&entry.figures())?;
    let samples: Vec<u8> = entry.details.samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    let batches = entry.records.stored();
    let of_figures = placed(id, place, &figures);
    let checksum = checksum::checksum(&[of_figures.as_bytes(), &samples, &batches]);
    let values = [
        Text(id),
        Integer(place),
        Text(&entry.name),
        Text(&parameters),
        Truth(entry.valid),
        Text(&figures),
        Bytes(&samples),
        Bytes(&batches),
        Bytes(&checksum),
    ];
    match connection.execute(sql, &values) {
        Err(fault) if fault.is_of_no_run() => {
            Err(StoreError::new(format!("run {id} is not there any more"))
                .help("it was removed while it was measured; `yamba runs` lists the others")
                .into())
        }
        done => done.map(drop),
    }
}

/// Adds a tag to a run, or removes it.
pub(crate) fn tag(
    connection: &mut dyn Connection,
    id: &str,
    tag: &str,
    on: bool,
) -> Result<(), StoreFault> {
    must_exist(connection, id)?;
    if on {
        return give(connection, id, tag);
    }
    let sql = "DELETE FROM tag WHERE run = $1 AND tag = $2";
    match connection.execute(sql, &[Text(id), Text(tag)])? {
        0 => Err(StoreError::new(format!("run {id} has no tag {tag}"))
            .help("`yamba runs` shows the tags of each")
            .into()),
        _ => Ok(()),
    }
}

/// The id of a run that has this tag.
pub(crate) fn holder(
    connection: &mut dyn Connection,
    tag: &str,
) -> Result<Option<String>, StoreFault> {
    Ok(column(connection, "SELECT run FROM tag WHERE tag = $1", &[Text(tag)])?.pop())
}

/// Refuses a tag that a run has.
pub(crate) fn must_be_free(connection: &mut dyn Connection, tag: &str) -> Result<(), StoreFault> {
    match holder(connection, tag)? {
        Some(id) => Err(StoreError::new(format!("the run {id} has the name {tag}"))
            .help(format!("choose another one, or take it away: `yamba tag {id} {tag} --remove`"))
            .into()),
        None => Ok(()),
    }
}

fn give(connection: &mut dyn Connection, id: &str, tag: &str) -> Result<(), StoreFault> {
    let sql = "INSERT INTO tag (run, tag) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[Text(id), Text(tag)]).map(drop)
}

/// Removes a run and the texts that no other run uses.
pub(crate) fn remove(connection: &mut dyn Connection, id: &str) -> Result<(), StoreFault> {
    must_exist(connection, id)?;
    connection.execute("DELETE FROM run WHERE id = $1", &[Text(id)])?;
    let unused = "DELETE FROM source WHERE id NOT IN (SELECT source FROM run_source)";
    connection.execute(unused, &[]).map(drop)
}

/// The ids of all runs with their tags, latest first.
pub(crate) fn names(
    connection: &mut dyn Connection,
) -> Result<Vec<(String, Vec<String>)>, StoreFault> {
    let mut tags = by_run(connection, "SELECT run, tag FROM tag ORDER BY rowid", &[])?;
    let ids = column(connection, &format!("SELECT id FROM run {LATEST_FIRST}"), &[])?;
    let with_tags = |id: String| {
        let tags = tags.remove(&id).unwrap_or_default();
        (id, tags)
    };
    Ok(ids.into_iter().map(with_tags).collect())
}

/// Number of documents in the first batch that is searched for requested runs.
const FIRST_PIECE: usize = 16;

/// The ids of the latest runs that the user requested, latest first, without those that a command
/// measured for its own purpose and without vectors. Contains at least `least` ids if there are as
/// many. Reads documents in batches, since they are most of a list, and the latest run is nearly
/// always the one wanted.
pub(crate) fn asked_for(
    connection: &mut dyn Connection,
    least: usize,
) -> Result<Vec<String>, StoreFault> {
    let mut ids = Vec::new();
    let (mut passed, mut piece) = (0, FIRST_PIECE);
    while ids.len() < least && add_asked_for(connection, passed, piece, &mut ids)? == piece {
        passed += piece;
        piece *= 2;
    }
    Ok(ids)
}

/// Adds the ids of one batch and returns the number of runs in it.
fn add_asked_for(
    connection: &mut dyn Connection,
    passed: usize,
    piece: usize,
    ids: &mut Vec<String>,
) -> Result<usize, StoreFault> {
    /// The part of a run's document that is needed here.
    #[derive(Deserialize)]
    struct Made {
        #[serde(default)]
        producer: Producer,
        vector: Option<IgnoredAny>,
    }
    let of_piece = format!("SELECT id FROM run {LATEST_FIRST} LIMIT $1 OFFSET $2");
    let sql = format!("SELECT id, head FROM run WHERE id IN ({of_piece}) {LATEST_FIRST}");
    let mut read = 0;
    let values = [piece, passed].map(|n| Integer(n as i64));
    connection.query(&sql, &values, &mut |row| {
        read += 1;
        // A damaged document counts as requested; the fault is reported when the run is read.
        let made: Option<Made> = serde_json::from_str(row.text(1)?).ok();
        let is_asked_for =
            |m: Made| m.vector.is_none() && m.producer.for_another_command().is_none();
        if made.is_none_or(is_asked_for) {
            ids.push(row.text(0)?.to_owned());
        }
        Ok(())
    })?;
    Ok(read)
}

/// The ids of the runs that hold an application's vector, each with its tags and the application's
/// name. The one that was stored last is the first: an imported vector does not say when its trace
/// began.
pub(crate) fn vectors(
    connection: &mut dyn Connection,
) -> Result<Vec<(String, Vec<String>)>, StoreFault> {
    let mut runs = listed(connection, None)?;
    let stored = column(connection, "SELECT id FROM run ORDER BY rowid DESC", &[])?;
    let place: HashMap<&str, usize> = stored.iter().map(String::as_str).zip(0..).collect();
    runs.sort_by_key(|run| place.get(run.id.as_str()).copied());
    let named = runs.into_iter().filter_map(|run| {
        let application = run.head.application()?.to_owned();
        let names = [run.head.tags, vec![application]].concat();
        Some((run.id, names))
    });
    Ok(named.collect())
}

/// The documents of the runs of a fleet, without entries, latest first.
pub(crate) fn fleet(
    connection: &mut dyn Connection,
    name: &str,
) -> Result<Vec<RunHead>, StoreFault> {
    let sql = format!("SELECT {HEAD} FROM run WHERE fleet = $1 {LATEST_FIRST}");
    let mut runs = Vec::new();
    connection.query(&sql, &[Text(name)], &mut |row| {
        runs.push(head(row)?.0);
        Ok(())
    })?;
    Ok(runs)
}

/// Whether a bundle measured the run, and its capture has lost the end.
fn is_without_end(head: &RunHead) -> bool {
    head.producer.elsewhere && head.finished_unix_s.is_none()
}

/// The names of all fleets, in order.
pub(crate) fn fleets(connection: &mut dyn Connection) -> Result<Vec<String>, StoreFault> {
    let sql = "SELECT DISTINCT fleet FROM run WHERE fleet IS NOT NULL ORDER BY fleet";
    column(connection, sql, &[])
}

/// All runs, latest first, or only the one with id `only`.
pub(crate) fn listed(
    connection: &mut dyn Connection,
    only: Option<&str>,
) -> Result<Vec<Listed>, StoreFault> {
    let (head_checksum, is_it, values) = match only {
        Some(id) => ("WHERE run = $1", "WHERE id = $1", vec![Text(id)]),
        None => ("", "", Vec::new()),
    };
    let sql = format!("SELECT run, tag FROM tag {head_checksum} ORDER BY rowid");
    let mut tags = by_run(connection, &sql, &values)?;
    let sql = format!(
        "SELECT run, name FROM entry {head_checksum} GROUP BY run, name ORDER BY run, name"
    );
    let mut benchmarks = by_run(connection, &sql, &values)?;
    let sql = format!(
        "SELECT {HEAD}, writer, (SELECT count(*) FROM entry WHERE entry.run = run.id),
            (SELECT count(*) FROM entry WHERE entry.run = run.id AND valid), id FROM run {is_it} {LATEST_FIRST}"
    );
    let mut all = Vec::new();
    connection.query(&sql, &values, &mut |row| {
        let id = row.text(7)?.to_owned();
        // A damaged run must not hide the others.
        let (head, is_finished, damage) = match head(row) {
            Ok((head, is_finished, _)) => (head, is_finished, None),
            Err(StoreFault::Damaged(why)) => (RunHead::new(Machine::default()), false, Some(why)),
            Err(other) => return Err(other),
        };
        let head = RunHead { tags: tags.remove(&id).unwrap_or_default(), id: id.clone(), ..head };
        let named = benchmarks.remove(&id).filter(|_| damage.is_none());
        all.push(Listed {
            id,
            started_unix_s: head.started_unix_s,
            benchmarks: named.unwrap_or_default(),
            damage,
            entries: [row.integer(5)? as u64, row.integer(6)? as u64],
            complete: is_finished && !head.interrupted && !is_without_end(&head),
            is_running: if is_finished {
                Some(false)
            } else {
                row.text_if_any(4)?.and_then(writer::lives)
            },
            head,
        });
        Ok(())
    })?;
    Ok(all)
}

/// Reads a run by its full id.
pub(crate) fn read(
    connection: &mut dyn Connection,
    id: &str,
    detail: Detail,
) -> Result<Run, StoreFault> {
    whole(connection, id, detail).map_err(|fault| match fault {
        StoreFault::Damaged(text) => StoreFault::Damaged(format!("run {id}: {text}")),
        other => other,
    })
}

fn whole(connection: &mut dyn Connection, id: &str, detail: Detail) -> Result<Run, StoreFault> {
    let values = [Text(id)];
    let sql = format!("SELECT {HEAD} FROM run WHERE id = $1");
    let mut found = None;
    connection.query(&sql, &values, &mut |row| {
        found = Some(head(row)?);
        Ok(())
    })?;
    let (head, _, entries) = found.ok_or_else(|| no_run(id))?;
    let mut run = Run::from(head);
    let tags = "SELECT tag FROM tag WHERE run = $1 ORDER BY rowid";
    run.tags = column(connection, tags, &values)?;
    let sources = "SELECT hash, text, checksum FROM source JOIN run_source ON run_source.source = source.id WHERE run = $1";
    connection.query(sources, &values, &mut |row| {
        let (hash, text) = text(row)?;
        run.sources.insert(hash, text);
        Ok(())
    })?;
    let columns = match detail {
        Detail::Figures => "figures",
        Detail::Samples => "figures, samples",
        Detail::Batches => "figures, samples, batches",
    };
    let sql =
        format!("SELECT run, place, checksum, {columns} FROM entry WHERE run = $1 ORDER BY place");
    connection.query(&sql, &values, &mut |row| {
        run.benchmarks.push(entry(row, detail)?.1);
        Ok(())
    })?;
    let read = run.benchmarks.len();
    if entries != NOT_KNOWN && entries != read as i64 {
        let text = format!("{read} of its {entries} entries are left");
        return Err(StoreFault::Damaged(text));
    }
    Ok(run)
}

/// The columns of [`head`].
const HEAD: &str = "head, checksum, finished, COALESCE(entries, -1)";

/// A run's document, whether the run finished, and its number of entries then. Reads the columns
/// [`HEAD`].
fn head(row: &dyn ResultRow) -> Result<(RunHead, bool, i64), StoreFault> {
    let (text, noted) = (row.text(0)?, row.bytes(1)?);
    let (is_finished, entries) = (row.truth(2)?, row.integer(3)?);
    let ending = ending(is_finished, entries);
    for (place, part) in [text, &ending].into_iter().enumerate() {
        checksum::check(noted, place, part.as_bytes(), || "its document".to_owned())?;
    }
    Ok((document::read_head(text)?, is_finished, entries))
}

/// A source text with its hash. Columns: hash, text, checksum.
fn text(row: &dyn ResultRow) -> Result<(String, String), StoreFault> {
    let (hash, text, noted) = (row.text(0)?, row.text(1)?, row.bytes(2)?);
    for (place, part) in [hash, text].into_iter().enumerate() {
        checksum::check(noted, place, part.as_bytes(), || format!("a source text ({hash})"))?;
    }
    Ok((hash.to_owned(), text.to_owned()))
}

/// An entry and its position. Columns: run, position, checksum, then the parts for `detail`.
fn entry(row: &dyn ResultRow, detail: Detail) -> Result<(usize, Benchmark), StoreFault> {
    let (place, noted) = (row.integer(1)?, row.bytes(2)?);
    let check = |part, bytes| checksum::check(noted, part, bytes, || format!("entry {place}"));
    let figures = row.text(3)?;
    let of_figures = placed(row.text(0)?, place, figures);
    check(0, of_figures.as_bytes())?;
    let mut entry = document::read_entry(figures)?;
    if detail >= Detail::Samples {
        let bytes = row.bytes(4)?;
        check(1, bytes)?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(StoreFault::Damaged("a sample is cut off".to_owned()));
        }
        entry.details.samples = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
    }
    if detail >= Detail::Batches {
        let bytes = row.bytes(5)?;
        check(2, bytes)?;
        entry.records = Records::from_stored(bytes)?;
    }
    let negative = |_| StoreFault::Damaged("a place is negative".to_owned());
    Ok((usize::try_from(place).map_err(negative)?, entry))
}
