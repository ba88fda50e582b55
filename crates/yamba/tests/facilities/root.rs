//! The commands of the pages as root. `cli/pages` runs them as an ordinary user.

use crate::Missing;
use crate::pages::{Installed, hold, is_root, page};

pub fn commands_of_pages_work_for_root() -> Result<(), Missing> {
    if !is_root() {
        return Err(Missing::new("this user is not root"));
    }
    hold(&page::all(), &Installed::new(None));
    Ok(())
}
