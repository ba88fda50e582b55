//! Runs in a SQLite file.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, params};
use yamba_record::{Benchmark, Run};

use crate::{Detail, Listed, StoreError};

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE IF NOT EXISTS run (id TEXT PRIMARY KEY, head TEXT NOT NULL, finished INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS entry (run TEXT, place INTEGER, name TEXT, valid INTEGER, document TEXT, PRIMARY KEY (run, place));",
        )?;
        Ok(Sqlite(connection))
    }

    pub fn head(&mut self, run: &Run<()>, finished: bool) -> Result<(), StoreError> {
        let head = serde_json::to_string(run)?;
        let sql = "INSERT OR REPLACE INTO run VALUES (?1, ?2, ?3)";
        self.0.execute(sql, params![run.id, head, finished])?;
        Ok(())
    }

    pub fn put(&mut self, id: &str, place: usize, entry: &Benchmark) -> Result<(), StoreError> {
        let text = serde_json::to_string(entry)?;
        let sql = "INSERT OR REPLACE INTO entry VALUES (?1, ?2, ?3, ?4, ?5)";
        self.0.execute(
            sql,
            params![id, place as i64, entry.name, entry.valid, text],
        )?;
        Ok(())
    }

    pub fn runs(&mut self) -> Result<Vec<Listed>, StoreError> {
        let mut statement = self.0.prepare("SELECT head, finished FROM run")?;
        let rows = statement.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get(1)?)))?;
        let mut all = Vec::new();
        for row in rows {
            let (head, finished): (String, bool) = row?;
            let head: Run<()> = serde_json::from_str(&head)?;
            let entries = self.run(&head.id, Detail::Figures)?.benchmarks;
            let names: BTreeSet<String> = entries.iter().map(|b| b.name.clone()).collect();
            all.push(Listed {
                id: head.id.clone(),
                started_unix_s: head.started_unix_s,
                benchmarks: names.into_iter().collect(),
                entries: [
                    entries.len() as u64,
                    entries.iter().filter(|b| b.valid).count() as u64,
                ],
                complete: finished && !head.interrupted,
                head,
            });
        }
        all.sort_by(|a, b| {
            f64::total_cmp(
                &b.started_unix_s.unwrap_or(0.0),
                &a.started_unix_s.unwrap_or(0.0),
            )
        });
        Ok(all)
    }

    pub fn run(&self, id: &str, detail: Detail) -> Result<Run, StoreError> {
        let head: String = self
            .0
            .query_row("SELECT head FROM run WHERE id = ?1", [id], |r| r.get(0))?;
        let head: Run<Benchmark> = serde_json::from_str(&head)?;
        let mut statement = self
            .0
            .prepare("SELECT document FROM entry WHERE run = ?1 ORDER BY place")?;
        let rows = statement.query_map([id], |r| r.get::<_, String>(0))?;
        let mut run = head;
        for row in rows {
            let mut entry: Benchmark = serde_json::from_str(&row?)?;
            if detail < Detail::Intervals {
                entry.intervals = Vec::new();
                entry.sizing = Vec::new();
            }
            if detail < Detail::Samples {
                entry.samples = Vec::new();
            }
            run.benchmarks.push(entry);
        }
        Ok(run)
    }

    pub fn remove(&mut self, id: &str) -> Result<(), StoreError> {
        self.0.execute("DELETE FROM entry WHERE run = ?1", [id])?;
        self.0.execute("DELETE FROM run WHERE id = ?1", [id])?;
        Ok(())
    }
}
