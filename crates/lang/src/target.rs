//! The platform that a program is built for.

/// An instruction set and an operating system, by the names of their library classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// For example `x86_64`.
    pub isa: String,
    /// For example `linux`.
    pub system: String,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.isa, self.system)
    }
}
