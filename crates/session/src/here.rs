//! Evaluates conditions of `on` that depend on the running machine: versions, processor features,
//! root and files.

use std::path::Path;

use yamba_lang::ast::Atom;

/// Whether the condition holds on this machine. The name of an instruction set or a system always
/// holds: the target determines it.
pub(super) fn holds(atom: &Atom) -> bool {
    match atom {
        Atom::Name(_) => true,
        Atom::AtLeast(_, version) => kernel_version() >= *version,
        Atom::Cpu(feature) => has_cpu_feature(feature),
        Atom::Root => rustix::process::geteuid().is_root(),
        Atom::File(path) => Path::new(path).exists(),
    }
}

fn kernel_version() -> Vec<u32> {
    let names = rustix::system::uname();
    numbers(&names.release().to_string_lossy())
}

/// The leading numbers of a version: `6.1.0-13-amd64` is 6, 1, 0.
fn numbers(release: &str) -> Vec<u32> {
    let digits = release.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or("");
    digits.split('.').filter_map(|n| n.parse().ok()).collect()
}

/// Whether `/proc/cpuinfo` lists the feature, under the name that the system uses. Supports the
/// keys of all architectures that Linux runs on.
fn has_cpu_feature(feature: &str) -> bool {
    let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") else {
        return false;
    };
    let lists = ["flags", "Features", "isa"];
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| lists.contains(&key.trim()))
        .any(|(_, value)| {
            value.split([' ', '_']).any(|f| f == feature) || value.split(' ').any(|f| f == feature)
        })
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(numbers("6.1.0-13-amd64"), [6, 1, 0]);
        assert_eq!(numbers("5.10"), [5, 10]);
        assert!(numbers("6.10.2+") > vec![6, 9]);
        assert!(numbers("6.1.0") >= vec![6, 1]);
    }
}
