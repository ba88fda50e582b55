//! "Did you mean" suggestions: the most similar existing name.

/// The known name most similar to `wanted`, if it is close enough for a typing error.
pub(super) fn similar<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = 1 + wanted.chars().count() / 4;
    known
        .filter(|name| *name != wanted)
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// The help text for an unknown name: the similar name, or else `otherwise`.
pub(super) fn help<'a>(
    wanted: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: String,
) -> String {
    similar(wanted, known).map_or(otherwise, |near| format!("did you mean `{near}`?"))
}
