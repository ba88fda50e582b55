//! Tests of stores: stored runs are read back, and faults are reported without further loss.

mod encrypted;
mod harm;
mod imported;
mod pooled;
mod power;
mod same;
mod sample;
mod server;
mod servers;

use std::ffi::OsStr;

use yamba_store::{Location, Store};

/// A new store.
pub struct TestStore {
    location: Location,
    _folder: Option<tempfile::TempDir>,
}

impl TestStore {
    fn file() -> TestStore {
        let folder = tempfile::tempdir().unwrap();
        TestStore {
            location: Location::File(folder.path().join("a/b/results.sqlite")),
            _folder: Some(folder),
        }
    }

    fn database(url: &str) -> TestStore {
        TestStore { location: Location::parse(OsStr::new(url)).unwrap(), _folder: None }
    }

    fn open(&self) -> Store {
        Store::open(&self.location).unwrap()
    }
}

/// Each test runs with a SQLite file, and as a part of one test with a PostgreSQL server, which is
/// started once.
macro_rules! in_each_kind_of_store {
    ($($body:ident)*) => {
        mod sqlite {
            $(#[test] fn $body() { crate::same::$body(&crate::TestStore::file()); })*
        }
        const SAME: &[(&str, fn(&TestStore))] = &[$((stringify!($body), same::$body)),*];
    };
}

in_each_kind_of_store! {
    run_is_read_back_bit_for_bit
    unfinished_run_is_readable
    list_is_latest_first_with_distinct_names
    requested_run_is_found_among_many_others
    tags_are_added_and_removed
    removal_keeps_data_of_other_runs
    duplicate_id_is_rejected
    several_runs_are_added_and_removed_atomically
    concurrent_writers_all_succeed
    runs_of_fleet_are_found_by_its_name
    vector_is_found_by_its_application_and_is_no_latest_run
}
