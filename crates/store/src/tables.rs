//! The versions of the tables.

use crate::error::StoreFault;

/// The version of both files `schema.sql`.
pub(crate) const VERSION: i64 = 3;

/// The version before, whose tables lack only the column of the fleet.
const WITHOUT_FLEET: i64 = 2;

/// The tables of a file or database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    None,
    WithoutFleet,
    Current,
}

impl Tables {
    /// The tables of a version. A version that this program cannot read is a fault.
    pub fn from_version(version: i64) -> Result<Tables, StoreFault> {
        match version {
            VERSION => Ok(Tables::Current),
            WITHOUT_FLEET => Ok(Tables::WithoutFleet),
            other => Err(StoreFault::OtherVersion(other, VERSION)),
        }
    }
}
