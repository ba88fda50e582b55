//! Reads the reference data.

/// The lines `name: numbers` of reference.txt.
pub struct Reference(Vec<(&'static str, Vec<f64>)>);

impl Reference {
    pub fn read() -> Reference {
        let lines = include_str!("../data/reference.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        Reference(
            lines
                .map(|line| {
                    let (name, numbers) = line.split_once(':').expect("a name");
                    let numbers = numbers.split_whitespace().map(|x| x.parse().expect("a number"));
                    (name, numbers.collect())
                })
                .collect(),
        )
    }

    /// The numbers of the only line with this name.
    pub fn get(&self, name: &str) -> &[f64] {
        let mut found = self.all(name);
        let first = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert!(found.next().is_none(), "{name} twice");
        first
    }

    /// The numbers of each line with this name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &[f64]> {
        self.0.iter().filter(move |line| line.0 == name).map(|line| &line.1[..])
    }

    /// The remaining name and the numbers of each line whose name begins with `prefix`; at least
    /// one.
    pub fn under(&self, prefix: &str) -> Vec<(&'static str, &[f64])> {
        let lines = self.0.iter();
        let found: Vec<_> =
            lines.filter_map(|line| Some((line.0.strip_prefix(prefix)?, &line.1[..]))).collect();
        assert!(!found.is_empty(), "nothing under {prefix}");
        found
    }
}

/// Checks the relative error, or the absolute error near 0.
pub fn close(got: f64, expected: f64, share: f64, what: &str) {
    let error = (got - expected).abs();
    assert!(error <= share * expected.abs().max(1.0), "{what}: {got} instead of {expected}");
}
