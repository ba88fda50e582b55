//! Turns a fault into an error message with place, fault and fix. Each kind of database has
//! messages of its own.

use crate::error::{StoreError, StoreFault};
use crate::location::Location;
use crate::{postgresql, sqlite};

impl StoreFault {
    /// Whether a statement named a run that does not exist.
    pub fn is_of_no_run(&self) -> bool {
        match self {
            StoreFault::Sqlite(e) => sqlite::is_of_no_run(e),
            StoreFault::Postgresql(e) => postgresql::is_of_no_run(e),
            _ => false,
        }
    }

    /// Whether the connection to the server was lost, so that a new one may help.
    pub fn is_of_lost_connection(&self) -> bool {
        matches!(self, StoreFault::Postgresql(e) if postgresql::is_of_lost_connection(e))
    }

    /// The message for the store at `location`.
    pub fn at(self, location: &Location) -> StoreError {
        let place = &location.to_string();
        let is_file = matches!(location, Location::File(_));
        match self {
            StoreFault::Sqlite(e) => sqlite::explain(&e, place),
            StoreFault::Postgresql(e) => postgresql::explain(&e, place),
            StoreFault::Foreign if is_file => sqlite::foreign(place),
            StoreFault::Foreign => postgresql::foreign(place),
            StoreFault::Damaged(text) if is_file => sqlite::damaged(place, &text),
            StoreFault::Damaged(text) => postgresql::damaged(place, &text),
            StoreFault::OtherVersion(form, known) => StoreError::new(format!(
                "{place}: another version of Yamba wrote it (its form is {form}, this program knows {known})"
            ))
            .help("use that version, or name another store with --store or YAMBA_STORE"),
            StoreFault::Refused(e) => StoreError {
                fault: format!("{place}: {}", e.fault),
                ..e
            },
        }
    }
}
