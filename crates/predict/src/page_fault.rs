//! The names of page faults among the primitives.

/// The primitive of a page fault, without its kind.
pub const PAGE_FAULT: &str = "page_fault";

/// Page faults that read from storage.
pub const MAJOR_FAULT: &str = "page_fault(major)";

/// Whether a primitive is a page fault of any kind.
pub(crate) fn is_fault(name: &str) -> bool {
    name.strip_prefix(PAGE_FAULT).is_some_and(|kind| kind.is_empty() || kind.starts_with('('))
}

/// Whether a primitive is a page fault of any kind that does not read from storage.
pub fn is_minor_fault(name: &str) -> bool {
    is_fault(name) && name != MAJOR_FAULT
}

/// Whether a use of a primitive may be this part of a benchmark. The page faults of a benchmark may
/// be of any kind.
pub(crate) fn is_part(part: &str, name: &str) -> bool {
    name == part || part == PAGE_FAULT && is_minor_fault(name)
}
