//! What is written and read, in the words that both kinds of database understand.

use std::collections::BTreeMap;

use yamba_record::{Benchmark, Run};

use crate::connection::Value::{Bytes, Integer, Real, Text, Truth};
use crate::connection::{Connection, Row, Value};
use crate::error::{Fault, StoreError};
use crate::figures::figures;
use crate::{Detail, Listed, columns};

const LATEST_FIRST: &str = "ORDER BY started DESC NULLS LAST, rowid DESC";

/// The first column of all rows.
fn column(
    connection: &mut dyn Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<String>, Fault> {
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
) -> Result<Option<i64>, Fault> {
    let mut found = None;
    connection.query(sql, values, &mut |row| {
        found = Some(row.integer(0)?);
        Ok(())
    })?;
    Ok(found)
}

/// The second column of all rows, by the first.
fn by_run(
    connection: &mut dyn Connection,
    sql: &str,
) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    connection.query(sql, &[], &mut |row| {
        let of = all.entry(row.text(0)?.to_owned()).or_default();
        of.push(row.text(1)?.to_owned());
        Ok(())
    })?;
    Ok(all)
}

fn tags(connection: &mut dyn Connection) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    by_run(connection, "SELECT run, tag FROM tag ORDER BY rowid")
}

fn exists(connection: &mut dyn Connection, id: &str) -> Result<bool, Fault> {
    let sql = "SELECT id FROM run WHERE id = $1";
    Ok(!column(connection, sql, &[Text(id)])?.is_empty())
}

fn must_exist(connection: &mut dyn Connection, id: &str) -> Result<(), Fault> {
    match exists(connection, id)? {
        true => Ok(()),
        false => Err(no_run(id)),
    }
}

fn no_run(id: &str) -> Fault {
    StoreError::new(format!("there is no run {id}"))
        .help("`yamba runs` lists those that there are")
        .into()
}

/// What is stored as the run's own document: tags and sources stand in tables of their own.
fn document(run: &Run<()>) -> Result<String, Fault> {
    let mut head = run.clone();
    head.tags.clear();
    head.sources.clear();
    Ok(serde_json::to_string(&head)?)
}

/// A new run.
pub(crate) fn insert(connection: &mut dyn Connection, run: &Run<()>) -> Result<(), Fault> {
    if run.id.is_empty() {
        return Err(StoreError::new("a run without an id cannot be kept").into());
    }
    if exists(connection, &run.id)? {
        return Err(StoreError::new(format!("run {} is there already", run.id))
            .help(format!("`yamba rm {}` removes it", run.id))
            .into());
    }
    let sql = "INSERT INTO run (id, started, finished, head) VALUES ($1, $2, $3, $4)";
    let head = document(run)?;
    let values = [
        Text(&run.id),
        Real(run.started_unix_s),
        Truth(false),
        Text(&head),
    ];
    connection.execute(sql, &values)?;
    belongings(connection, run)
}

/// Tags that were given meanwhile stay.
pub(crate) fn finish(connection: &mut dyn Connection, run: &Run<()>) -> Result<(), Fault> {
    must_exist(connection, &run.id)?;
    let sql = "UPDATE run SET started = $1, finished = $2, head = $3 WHERE id = $4";
    let head = document(run)?;
    let values = [
        Real(run.started_unix_s),
        Truth(true),
        Text(&head),
        Text(&run.id),
    ];
    connection.execute(sql, &values)?;
    belongings(connection, run)
}

fn belongings(connection: &mut dyn Connection, run: &Run<()>) -> Result<(), Fault> {
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

/// Where the text is kept. It is compared too: a document from elsewhere may give a text a hash that is not its own.
fn source(connection: &mut dyn Connection, hash: &str, text: &str) -> Result<i64, Fault> {
    let values = [Text(hash), Text(text)];
    let known = "SELECT id FROM source WHERE hash = $1 AND text = $2";
    if let Some(id) = number(connection, known, &values)? {
        return Ok(id);
    }
    let new = "INSERT INTO source (hash, text) VALUES ($1, $2) RETURNING id";
    let id = number(connection, new, &values)?;
    id.ok_or_else(|| Fault::Damaged("a text got no number".to_owned()))
}

/// The entry at `place`: anew, or instead of what was there.
pub(crate) fn put(
    connection: &mut dyn Connection,
    id: &str,
    place: usize,
    entry: &Benchmark,
) -> Result<(), Fault> {
    let sql = "INSERT INTO entry (run, place, name, parameters, valid, figures, samples, intervals)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (run, place) DO UPDATE SET name = excluded.name, parameters = excluded.parameters, valid = excluded.valid,
            figures = excluded.figures, samples = excluded.samples, intervals = excluded.intervals";
    let parameters = serde_json::to_string(&entry.parameters)?;
    let figures = serde_json::to_string(&figures(entry))?;
    let samples: Vec<u8> = entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    let intervals = columns::packed(entry)?;
    let values = [
        Text(id),
        Integer(place as i64),
        Text(&entry.name),
        Text(&parameters),
        Truth(entry.valid),
        Text(&figures),
        Bytes(&samples),
        Bytes(&intervals),
    ];
    match connection.execute(sql, &values) {
        Err(fault) if fault.is_of_no_run() => {
            Err(StoreError::new(format!("run {id} is not there any more")).into())
        }
        done => done.map(drop),
    }
}

/// Gives a run a name, or takes it away.
pub(crate) fn tag(
    connection: &mut dyn Connection,
    id: &str,
    tag: &str,
    on: bool,
) -> Result<(), Fault> {
    must_exist(connection, id)?;
    if on {
        return give(connection, id, tag);
    }
    let sql = "DELETE FROM tag WHERE run = $1 AND tag = $2";
    match connection.execute(sql, &[Text(id), Text(tag)])? {
        0 => Err(StoreError::new(format!("run {id} has no tag {tag}")).into()),
        _ => Ok(()),
    }
}

fn give(connection: &mut dyn Connection, id: &str, tag: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO tag (run, tag) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[Text(id), Text(tag)]).map(drop)
}

/// Takes a run out, and the texts that no other run has.
pub(crate) fn remove(connection: &mut dyn Connection, id: &str) -> Result<(), Fault> {
    must_exist(connection, id)?;
    connection.execute("DELETE FROM run WHERE id = $1", &[Text(id)])?;
    let unused = "DELETE FROM source WHERE id NOT IN (SELECT source FROM run_source)";
    connection.execute(unused, &[]).map(drop)
}

/// The ids of all runs with their tags, the latest first.
pub(crate) fn names(connection: &mut dyn Connection) -> Result<Vec<(String, Vec<String>)>, Fault> {
    let mut tags = tags(connection)?;
    let ids = column(
        connection,
        &format!("SELECT id FROM run {LATEST_FIRST}"),
        &[],
    )?;
    let with_tags = |id: String| {
        let tags = tags.remove(&id).unwrap_or_default();
        (id, tags)
    };
    Ok(ids.into_iter().map(with_tags).collect())
}

/// All runs, the latest first.
pub(crate) fn listed(connection: &mut dyn Connection) -> Result<Vec<Listed>, Fault> {
    let mut tags = tags(connection)?;
    let sql = "SELECT run, name FROM entry GROUP BY run, name ORDER BY run, name";
    let mut benchmarks = by_run(connection, sql)?;
    let sql = format!(
        "SELECT head, finished, (SELECT count(*) FROM entry WHERE entry.run = run.id),
            (SELECT count(*) FROM entry WHERE entry.run = run.id AND valid) FROM run {LATEST_FIRST}"
    );
    let mut all = Vec::new();
    connection.query(&sql, &[], &mut |row| {
        let mut head: Run<()> = serde_json::from_str(row.text(0)?)?;
        head.tags = tags.remove(&head.id).unwrap_or_default();
        all.push(Listed {
            id: head.id.clone(),
            started_unix_s: head.started_unix_s,
            benchmarks: benchmarks.remove(&head.id).unwrap_or_default(),
            entries: [row.integer(2)? as u64, row.integer(3)? as u64],
            complete: row.truth(1)? && !head.interrupted,
            head,
        });
        Ok(())
    })?;
    Ok(all)
}

/// A run by its whole id.
pub(crate) fn read(
    connection: &mut dyn Connection,
    id: &str,
    detail: Detail,
) -> Result<Run, Fault> {
    let head = "SELECT head FROM run WHERE id = $1";
    let head = column(connection, head, &[Text(id)])?.pop();
    let mut run: Run = serde_json::from_str(&head.ok_or_else(|| no_run(id))?)?;
    let id = [Text(id)];
    let tags = "SELECT tag FROM tag WHERE run = $1 ORDER BY rowid";
    run.tags = column(connection, tags, &id)?;
    let sources = "SELECT hash, text FROM source JOIN run_source ON run_source.source = source.id WHERE run = $1";
    connection.query(sources, &id, &mut |row| {
        let (hash, text) = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
        run.sources.insert(hash, text);
        Ok(())
    })?;
    let columns = match detail {
        Detail::Figures => "figures",
        Detail::Samples => "figures, samples",
        Detail::Intervals => "figures, samples, intervals",
    };
    let entries = format!("SELECT {columns} FROM entry WHERE run = $1 ORDER BY place");
    connection.query(&entries, &id, &mut |row| {
        run.benchmarks.push(entry(row, detail)?);
        Ok(())
    })?;
    Ok(run)
}

fn entry(row: &dyn Row, detail: Detail) -> Result<Benchmark, Fault> {
    let mut entry: Benchmark = serde_json::from_str(row.text(0)?)?;
    if detail >= Detail::Samples {
        let (numbers, rest) = row.bytes(1)?.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Fault::Damaged("a sample is cut off".to_owned()));
        }
        entry.samples = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
    }
    if detail >= Detail::Intervals {
        columns::unpack(row.bytes(2)?, &mut entry)?;
    }
    Ok(entry)
}
