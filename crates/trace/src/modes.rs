//! Files whose writes wait for storage (`O_SYNC`, `O_DSYNC`), or whose reads and writes bypass the
//! page cache (`O_DIRECT`). Their costs and waits are not those of other files, so they are kinds
//! of their own.

use std::borrow::Cow;

use crate::call::{Arguments, Kind, Property};

/// The kind of a file with these modes.
pub fn file_kind(is_direct: bool, is_synchronous: bool) -> Kind {
    Cow::Borrowed(match (is_direct, is_synchronous) {
        (false, false) => "file",
        (false, true) => "file,sync",
        (true, false) => "file,direct",
        (true, true) => "file,direct,sync",
    })
}

/// The kind of a file that a call opens.
pub fn opened_file(arguments: &dyn Arguments) -> Kind {
    file_kind(arguments.has(Property::Direct), arguments.has(Property::Synchronous))
}

/// The kind after `fcntl` has set flags. `None`: it stays. Only `O_DIRECT` can be changed.
pub fn changed(kind: &Kind, arguments: &dyn Arguments) -> Option<Kind> {
    is_file(kind).then(|| file_kind(arguments.has(Property::Direct), is_synchronous(kind)))
}

/// The kind as far as a primitive depends on it: of reads on `O_DIRECT`, of writes on both modes,
/// of all other calls on none.
pub fn kind_of_use(primitive: &str, kind: Kind) -> Kind {
    match primitive {
        _ if !is_file(&kind) => kind,
        "read" => file_kind(is_direct(&kind), false),
        "write" => kind,
        _ => file_kind(false, false),
    }
}

/// Whether it is a file, with any modes.
pub fn is_file(kind: &Kind) -> bool {
    kind.split(',').next() == Some("file")
}

/// Whether it is a file whose reads and writes go through the page cache.
pub fn is_cached(kind: &Kind) -> bool {
    is_file(kind) && !is_direct(kind)
}

/// Whether its reads and writes bypass the page cache.
pub fn is_direct(kind: &Kind) -> bool {
    kind.split(',').any(|mode| mode == "direct")
}

fn is_synchronous(kind: &Kind) -> bool {
    kind.split(',').any(|mode| mode == "sync")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_have_the_modes_that_matter_to_them() {
        let both = file_kind(true, true);
        assert_eq!(kind_of_use("read", both.clone()), "file,direct");
        assert_eq!(kind_of_use("write", both.clone()), "file,direct,sync");
        assert_eq!(kind_of_use("fstat", both.clone()), "file");
        assert_eq!(kind_of_use("read", file_kind(false, true)), "file");
        assert_eq!(kind_of_use("write", Cow::Borrowed("pipe")), "pipe");
        assert!(is_file(&both) && !is_cached(&both) && is_cached(&file_kind(false, true)));
    }
}
