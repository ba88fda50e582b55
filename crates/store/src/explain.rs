//! Turns a fault into an error message with place, fault and fix. Each kind of database has messages of its own.

use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::{postgresql, sqlite};

impl Fault {
    /// Whether a statement named a run that does not exist.
    pub fn is_of_no_run(&self) -> bool {
        match self {
            Fault::Sqlite(e) => sqlite::is_of_no_run(e),
            Fault::Postgresql(e) => postgresql::is_of_no_run(e),
            _ => false,
        }
    }

    /// Whether the connection to the server was lost, so that a new one may help.
    pub fn is_of_lost_connection(&self) -> bool {
        matches!(self, Fault::Postgresql(e) if postgresql::is_of_lost_connection(e))
    }

    /// The message for the store at `location`.
    pub fn of(self, location: &Location) -> StoreError {
        let place = &location.to_string();
        let is_file = matches!(location, Location::File(_));
        match self {
            Fault::Sqlite(e) => sqlite::explain(&e, place),
            Fault::Postgresql(e) => postgresql::explain(&e, place),
            Fault::Foreign if is_file => sqlite::foreign(place),
            Fault::Foreign => postgresql::foreign(place),
            Fault::Damaged(text) if is_file => sqlite::damaged(place, &text),
            Fault::Damaged(text) => postgresql::damaged(place, &text),
            Fault::OtherVersion(form, known) => StoreError::new(format!(
                "{place}: another version of Yamba wrote it (its form is {form}, this program knows {known})"
            ))
            .help("use that version, or name another store with --store or YAMBA_STORE"),
            Fault::Refused(e) => StoreError {
                fault: format!("{place}: {}", e.fault),
                ..e
            },
        }
    }
}
