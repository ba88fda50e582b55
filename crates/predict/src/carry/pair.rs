//! Two systems, and what belongs to each of them.

use crate::costs::Costs;

/// A value for each of two systems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair<T> {
    /// Where an application was traced.
    pub from: T,
    /// For which it is predicted.
    pub to: T,
}

/// The costs on both systems.
pub(crate) type Systems<'a> = Pair<&'a Costs>;

impl<T> Pair<T> {
    /// The same function of both values.
    pub fn map<U>(self, function: impl Fn(T) -> U) -> Pair<U> {
        Pair { from: function(self.from), to: function(self.to) }
    }

    /// The values beside those of another pair.
    pub fn zip<U>(self, other: Pair<U>) -> Pair<(T, U)> {
        Pair { from: (self.from, other.from), to: (self.to, other.to) }
    }
}

impl<T> Pair<Option<T>> {
    /// The values, if both are known.
    pub fn both(self) -> Option<Pair<T>> {
        Some(Pair { from: self.from?, to: self.to? })
    }
}

impl<'a> Systems<'a> {
    /// Whether both have the costs of the same run. A ratio then has no error.
    pub fn is_same(self) -> bool {
        self.from.is_from_same_run(self.to)
    }

    /// Why a program may take another number of page faults: pointers have another width, so that
    /// the same data are on another number of pages.
    pub fn other_page_faults(self) -> Option<String> {
        let Pair { from, to } = self.map(|costs| costs.pointer_bytes).both()?;
        (from != to).then(|| {
            format!(
                "page faults are as many as in the trace, though pointers have {to} instead of {from} bytes"
            )
        })
    }

    /// Whether both systems have the same processor.
    pub fn have_same_processor(self) -> bool {
        let Pair { from, to } = self.map(|costs| &costs.processor);
        from.is_some() && from == to
    }

    /// The kinds of a primitive of unknown kind that both systems know.
    pub fn kinds(self, name: &str) -> Vec<&'a str> {
        if self.from.primitives.contains_key(name) {
            return Vec::new();
        }
        let kinds = self.from.kinds(name);
        kinds.filter(|kind| self.to.primitives.contains_key(*kind)).collect()
    }
}
