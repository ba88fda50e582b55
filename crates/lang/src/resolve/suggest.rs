//! "Did you mean": the nearest of the names that exist.

/// The name most like `wanted`, if one is near enough to be a slip of the hand.
pub(super) fn similar<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = 1 + wanted.chars().count() / 4;
    known
        .filter(|name| *name != wanted)
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}
