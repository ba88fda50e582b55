//! What is kept comes back; what cannot be is said, and nothing is lost by it.

mod harm;
mod imported;
mod power;
mod salvaged;
mod same;
mod sample;
mod server;
mod servers;

use std::ffi::OsStr;

use yamba_store::{Location, Store};

/// An empty store.
pub struct Place {
    location: Location,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn file() -> Place {
        let folder = tempfile::tempdir().unwrap();
        Place {
            location: Location::File(folder.path().join("a/b/results.sqlite")),
            _folder: Some(folder),
        }
    }

    fn database(url: &str) -> Place {
        Place {
            location: Location::parse(OsStr::new(url)).unwrap(),
            _folder: None,
        }
    }

    fn open(&self) -> Store {
        Store::open(&self.location).unwrap()
    }
}

/// Each a test with a SQLite file, and part of one with PostgreSQL, whose server is started once.
macro_rules! in_each_kind_of_store {
    ($($body:ident)*) => {
        mod sqlite {
            $(#[test] fn $body() { crate::same::$body(&crate::Place::file()); })*
        }
        const SAME: &[(&str, fn(&Place))] = &[$((stringify!($body), same::$body)),*];
    };
}

in_each_kind_of_store! {
    a_run_comes_back_to_the_last_bit
    a_run_is_there_while_it_is_measured
    the_list_has_the_latest_first_and_each_name_once
    what_was_asked_for_is_found_among_many_others
    tags_are_given_and_taken
    what_is_removed_takes_nothing_of_others
    an_id_stands_for_one_run
    several_are_taken_and_removed_together
    two_write_at_once
}
