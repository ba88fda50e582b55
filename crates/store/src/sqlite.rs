//! Runs in a SQLite file: what is written and read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};
use yamba_record::{Benchmark, Run};

use crate::error::{Fault, StoreError};
use crate::figures::figures;
use crate::schema::{self, lasting, snapshot, transaction};
use crate::{Detail, Listed, columns};

pub(crate) struct Sqlite {
    connection: Connection,
    pub path: PathBuf,
}

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
        let place = path.display();
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| {
                StoreError::new(format!("{place}: its folder cannot be made: {e}"))
                    .help("name another file with --store FILE or YAMBA_STORE")
            })?;
        }
        if path.is_dir() {
            return Err(StoreError::new(format!("{place} is a folder"))
                .help("name a file in it with --store FILE or YAMBA_STORE"));
        }
        let opened = Connection::open(path).map_err(Fault::from);
        let ready = opened.and_then(|mut connection| {
            schema::prepare(&mut connection)?;
            Ok(connection)
        });
        Ok(Sqlite {
            connection: ready.map_err(|e| e.of(path))?,
            path: path.to_owned(),
        })
    }

    fn told<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|e| e.of(&self.path))
    }

    pub fn begin(&mut self, run: &Run<()>) -> Result<(), StoreError> {
        let done = transaction(&mut self.connection, |c| insert(c, run));
        self.told(done)
    }

    pub fn put(&mut self, id: &str, place: usize, entry: &Benchmark) -> Result<(), StoreError> {
        let done = put(&self.connection, id, place, entry);
        self.told(done)
    }

    pub fn finish(&mut self, run: &Run<()>) -> Result<(), StoreError> {
        let done = lasting(&mut self.connection, |c| finish(c, run));
        self.told(done)
    }

    pub fn add(&mut self, head: &Run<()>, entries: &[Benchmark]) -> Result<(), StoreError> {
        let done = lasting(&mut self.connection, |c| {
            insert(c, head)?;
            for (place, entry) in entries.iter().enumerate() {
                put(c, &head.id, place, entry)?;
            }
            finish(c, head)
        });
        self.told(done)
    }

    pub fn runs(&self) -> Result<Vec<Listed>, StoreError> {
        self.told(snapshot(&self.connection, listed))
    }

    /// The ids of all runs with their tags, the latest first.
    pub fn names(&self) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        self.told(snapshot(&self.connection, |c| {
            let mut tags = by_run(c, "SELECT run, tag FROM tag ORDER BY rowid")?;
            let ids: Vec<String> = column(c, &format!("SELECT id FROM run {LATEST_FIRST}"), "")?;
            let mut with_tags = |id: String| {
                let tags = tags.remove(&id).unwrap_or_default();
                (id, tags)
            };
            Ok(ids.into_iter().map(&mut with_tags).collect())
        }))
    }

    pub fn run(&self, id: &str, detail: Detail) -> Result<Run, StoreError> {
        self.told(snapshot(&self.connection, |c| read(c, id, detail)))
    }

    pub fn tag(&mut self, id: &str, tag: &str, on: bool) -> Result<(), StoreError> {
        let done = lasting(&mut self.connection, |c| {
            must_exist(c, id)?;
            let sql = match on {
                true => "INSERT OR IGNORE INTO tag (run, tag) VALUES (?1, ?2)",
                false => "DELETE FROM tag WHERE run = ?1 AND tag = ?2",
            };
            let changed = c.execute(sql, [id, tag])?;
            if changed == 0 && !on {
                return Err(StoreError::new(format!("run {id} has no tag {tag}")).into());
            }
            Ok(())
        });
        self.told(done)
    }

    pub fn remove(&mut self, id: &str) -> Result<(), StoreError> {
        let done = lasting(&mut self.connection, |c| {
            must_exist(c, id)?;
            c.execute("DELETE FROM run WHERE id = ?1", [id])?;
            let unused = "DELETE FROM source WHERE id NOT IN (SELECT source FROM run_source)";
            c.execute(unused, [])?;
            Ok(())
        });
        self.told(done)
    }
}

const LATEST_FIRST: &str = "ORDER BY started DESC, rowid DESC";

/// The first column of all rows; `id` is the statement's parameter where it has one.
fn column(connection: &Connection, sql: &str, id: &str) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare(sql)?;
    let given: &[&str] = if statement.parameter_count() == 0 {
        &[]
    } else {
        &[id]
    };
    let rows = statement.query_map(rusqlite::params_from_iter(given), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The second column of all rows, by the first.
fn by_run(connection: &Connection, sql: &str) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        all.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(all)
}

fn exists(connection: &Connection, id: &str) -> Result<bool, Fault> {
    let found = connection.query_row("SELECT 1 FROM run WHERE id = ?1", [id], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

fn must_exist(connection: &Connection, id: &str) -> Result<(), Fault> {
    match exists(connection, id)? {
        true => Ok(()),
        false => Err(StoreError::new(format!("there is no run {id}"))
            .help("`yamba runs` lists those that there are")
            .into()),
    }
}

/// What is stored as the run's own document: tags and sources stand in tables of their own.
fn document(run: &Run<()>) -> Result<String, Fault> {
    let mut head = run.clone();
    head.tags.clear();
    head.sources.clear();
    Ok(serde_json::to_string(&head)?)
}

fn insert(connection: &Connection, run: &Run<()>) -> Result<(), Fault> {
    if run.id.is_empty() {
        return Err(StoreError::new("a run without an id cannot be kept").into());
    }
    if exists(connection, &run.id)? {
        return Err(StoreError::new(format!("run {} is there already", run.id))
            .help(format!("`yamba rm {}` removes it", run.id))
            .into());
    }
    let sql = "INSERT INTO run (id, started, finished, head) VALUES (?1, ?2, 0, ?3)";
    connection.execute(sql, params![run.id, run.started_unix_s, document(run)?])?;
    belongings(connection, run)
}

/// Tags that were given meanwhile stay.
fn finish(connection: &Connection, run: &Run<()>) -> Result<(), Fault> {
    must_exist(connection, &run.id)?;
    let sql = "UPDATE run SET started = ?2, finished = 1, head = ?3 WHERE id = ?1";
    connection.execute(sql, params![run.id, run.started_unix_s, document(run)?])?;
    belongings(connection, run)
}

fn belongings(connection: &Connection, run: &Run<()>) -> Result<(), Fault> {
    for tag in &run.tags {
        let sql = "INSERT OR IGNORE INTO tag (run, tag) VALUES (?1, ?2)";
        connection.execute(sql, [&run.id, tag])?;
    }
    for (hash, text) in &run.sources {
        let sql = "INSERT OR IGNORE INTO run_source (run, source) VALUES (?1, ?2)";
        connection.execute(sql, params![run.id, source(connection, hash, text)?])?;
    }
    Ok(())
}

/// Where the text is kept. It is compared too: a document from elsewhere may give a text a hash that is not its own.
fn source(connection: &Connection, hash: &str, text: &str) -> Result<i64, Fault> {
    let sql = "SELECT id FROM source WHERE hash = ?1 AND text = ?2";
    let found = connection.query_row(sql, [hash, text], |row| row.get(0));
    if let Some(id) = found.optional()? {
        return Ok(id);
    }
    let sql = "INSERT INTO source (hash, text) VALUES (?1, ?2)";
    connection.execute(sql, [hash, text])?;
    Ok(connection.last_insert_rowid())
}

fn put(connection: &Connection, id: &str, place: usize, entry: &Benchmark) -> Result<(), Fault> {
    let samples: Vec<u8> = entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    let sql = "INSERT OR REPLACE INTO entry
        (run, place, name, parameters, valid, figures, samples, intervals) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = params![
        id,
        place as i64,
        entry.name,
        serde_json::to_string(&entry.parameters)?,
        entry.valid,
        serde_json::to_string(&figures(entry))?,
        samples,
        columns::packed(entry)?
    ];
    match connection.execute(sql, values) {
        Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
            Err(StoreError::new(format!("run {id} is not there any more")).into())
        }
        done => done.map(drop).map_err(Fault::from),
    }
}

fn listed(connection: &Connection) -> Result<Vec<Listed>, Fault> {
    let mut tags = by_run(connection, "SELECT run, tag FROM tag ORDER BY rowid")?;
    let sql = "SELECT run, name FROM entry GROUP BY run, name";
    let mut benchmarks = by_run(connection, sql)?;
    let sql = format!(
        "SELECT head, finished, (SELECT count(*) FROM entry WHERE run = id),
            (SELECT count(*) FROM entry WHERE run = id AND valid) FROM run {LATEST_FIRST}"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut head: Run<()> = serde_json::from_str(&row.get::<_, String>(0)?)?;
        head.tags = tags.remove(&head.id).unwrap_or_default();
        let finished: bool = row.get(1)?;
        all.push(Listed {
            id: head.id.clone(),
            started_unix_s: head.started_unix_s,
            benchmarks: benchmarks.remove(&head.id).unwrap_or_default(),
            entries: [row.get::<_, i64>(2)? as u64, row.get::<_, i64>(3)? as u64],
            complete: finished && !head.interrupted,
            head,
        });
    }
    Ok(all)
}

fn read(connection: &Connection, id: &str, detail: Detail) -> Result<Run, Fault> {
    must_exist(connection, id)?;
    let sql = "SELECT head FROM run WHERE id = ?1";
    let head: String = connection.query_row(sql, [id], |row| row.get(0))?;
    let mut run: Run = serde_json::from_str(&head)?;
    let sql = "SELECT tag FROM tag WHERE run = ?1 ORDER BY rowid";
    run.tags = column(connection, sql, id)?;
    let sql = "SELECT hash, text FROM source JOIN run_source ON source = id WHERE run = ?1";
    let mut statement = connection.prepare(sql)?;
    let pairs = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    run.sources = pairs.collect::<Result<_, _>>()?;
    let columns = match detail {
        Detail::Figures => "figures",
        Detail::Samples => "figures, samples",
        Detail::Intervals => "figures, samples, intervals",
    };
    let sql = format!("SELECT {columns} FROM entry WHERE run = ?1 ORDER BY place");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        run.benchmarks.push(entry(row, detail)?);
    }
    Ok(run)
}

fn entry(row: &Row<'_>, detail: Detail) -> Result<Benchmark, Fault> {
    let mut entry: Benchmark = serde_json::from_str(row.get_ref(0)?.as_str().map_err(strange)?)?;
    if detail >= Detail::Samples {
        let bytes = row.get_ref(1)?.as_blob().map_err(strange)?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Fault::Damaged("a sample is cut off".to_owned()));
        }
        entry.samples = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
    }
    if detail >= Detail::Intervals {
        let bytes = row.get_ref(2)?.as_blob().map_err(strange)?;
        columns::unpack(bytes, &mut entry)?;
    }
    Ok(entry)
}

fn strange(e: impl std::fmt::Display) -> Fault {
    Fault::Damaged(e.to_string())
}
