//! What can still be read of a database. Each statement is by itself: in a transaction, the first page that cannot be read would end all.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run};

use super::Postgresql;
use crate::connection::Value::{Integer, Text};
use crate::connection::{Connection, Row, Value};
use crate::error::{Fault, StoreError};
use crate::location::{Address, Location};
use crate::salvage::{Remains, Rest, Salvaged, save};
use crate::{Detail, Store, statements};

/// # Errors
/// When there is no store, no run can be found, the connection is lost, or the other store fails.
pub(crate) fn salvage(
    from: &Address,
    to: &mut Store,
    each: &mut dyn FnMut(Salvaged),
) -> Result<(), StoreError> {
    let place = Location::Server(from.clone());
    let mut damaged = opened(from).map_err(|e| e.of(&place))?;
    for id in ids(&mut damaged).map_err(|e| e.of(&place))? {
        let remains = remains(&mut damaged, &id).map_err(|e| e.of(&place))?;
        let entries = entries(&mut damaged, &id).map_err(|e| e.of(&place))?;
        let mut lost = None;
        let rests = entries.into_iter().map(|(at, name)| {
            let whole = readable(entry(&mut damaged, &id, at)).map_err(|fault| {
                lost = Some(fault);
                Fault::Damaged("the connection is lost".to_owned())
            })?;
            let name = Some(name);
            Ok(Rest { name, whole })
        });
        let saved = save(&id, remains, rests, to);
        // It is this store's fault, not the other's.
        if let Some(fault) = lost {
            return Err(fault.of(&place));
        }
        each(saved?);
    }
    Ok(())
}

fn opened(from: &Address) -> Result<Postgresql, Fault> {
    let found = Postgresql::existing(from)?;
    found.ok_or_else(|| {
        StoreError::new("no run is kept there yet")
            .help("name the database that is damaged")
            .into()
    })
}

/// None of what cannot be read. Without a connection nothing is known.
fn readable<T>(read: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match read {
        Err(fault) if fault.is_of_lost_connection() => Err(fault),
        read => Ok(read.ok()),
    }
}

/// All that come before the first fault.
fn first<T>(
    damaged: &mut Postgresql,
    sql: &str,
    values: &[Value<'_>],
    read: impl Fn(&dyn Row) -> Result<T, Fault>,
) -> Result<(Vec<T>, Option<Fault>), Fault> {
    let mut all = Vec::new();
    let done = damaged.query(sql, values, &mut |row| {
        all.push(read(row)?);
        Ok(())
    });
    match done {
        Err(fault) if fault.is_of_lost_connection() => Err(fault),
        done => Ok((all, done.err())),
    }
}

/// The runs that any table tells of.
fn ids(damaged: &mut Postgresql) -> Result<BTreeSet<String>, Fault> {
    let mut all = BTreeSet::new();
    let mut last = None;
    for sql in [
        "SELECT id FROM run",
        "SELECT run FROM entry",
        "SELECT run FROM tag",
    ] {
        let (ids, fault) = first(damaged, sql, &[], |row| Ok(row.text(0)?.to_owned()))?;
        all.extend(ids);
        last = fault.or(last);
    }
    match last {
        Some(fault) if all.is_empty() => Err(fault),
        _ => Ok(all),
    }
}

/// None if its document cannot be read.
fn remains(damaged: &mut Postgresql, id: &str) -> Result<Option<Remains>, Fault> {
    let sql = format!("SELECT {} FROM run WHERE id = $1", statements::HEAD);
    let (heads, _) = first(damaged, &sql, &[Text(id)], statements::head::<()>)?;
    let Some((run, is_finished, entries)) = heads.into_iter().find(|(run, ..)| run.id == id) else {
        return Ok(None);
    };
    let sql = "SELECT tag FROM tag WHERE run = $1 ORDER BY rowid";
    let (tags, _) = first(damaged, sql, &[Text(id)], |row| Ok(row.text(0)?.to_owned()))?;
    let mut remains = Remains {
        run: Run { tags, ..run },
        lost_texts: 0,
        is_finished,
        entries,
    };
    let sql = "SELECT source FROM run_source WHERE run = $1";
    let (sources, _) = first(damaged, sql, &[Text(id)], |row| row.integer(0))?;
    for source in sources {
        let sql = "SELECT hash, text, checksum FROM source WHERE id = $1";
        let (texts, _) = first(damaged, sql, &[Integer(source)], statements::text)?;
        remains.lost_texts += usize::from(texts.is_empty());
        remains.run.sources.extend(texts);
    }
    Ok(Some(remains))
}

/// The places and names of a run's entries, as far as they can be read.
fn entries(damaged: &mut Postgresql, id: &str) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT place, name FROM entry WHERE run = $1 ORDER BY place";
    let (all, _) = first(damaged, sql, &[Text(id)], |row| {
        Ok((row.integer(0)?, row.text(1)?.to_owned()))
    })?;
    Ok(all)
}

fn entry(
    damaged: &mut Postgresql,
    id: &str,
    place: i64,
) -> Result<(usize, Benchmark, bool), Fault> {
    let sql = "SELECT run, place, checksum, figures, samples, intervals FROM entry WHERE run = $1 AND place = $2";
    let mut found = None;
    damaged.query(sql, &[Text(id), Integer(place)], &mut |row| {
        let (place, entry) = statements::entry(row, Detail::Intervals)?;
        found = Some((place, entry, row.bytes_if_any(2)?.is_some()));
        Ok(())
    })?;
    found.ok_or_else(|| Fault::Damaged(format!("entry {place} is gone")))
}
