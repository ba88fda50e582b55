//! Privileges of this process.

use yamba_record::machine::details::{Limit, Limits, Privileges, Unlimited};

use super::queries::Answers;
use super::source::Source;
use super::text::value;

const STATUS: &str = "/proc/self/status";

/// The capabilities that matter to a measurement, with the kernel's numbers.
const CAPABILITIES: [(u32, &str); 7] = [
    (14, "ipc_lock"),
    (17, "sys_rawio"),
    (21, "sys_admin"),
    (23, "sys_nice"),
    (24, "sys_resource"),
    (38, "perfmon"),
    (39, "bpf"),
];

pub(super) fn privileges(source: &impl Source, answers: &Answers) -> Privileges {
    let status = source.lines(STATUS);
    let capabilities = status.and_then(|status| source.understood(STATUS, capabilities(&status)));
    let error = answers.counters.as_ref();
    Privileges {
        realtime: answers.realtime,
        lock_memory: may_lock(capabilities.as_deref(), &answers.limits),
        counters: error.map(String::is_empty),
        counters_error: error.filter(|e| !e.is_empty()).cloned(),
        guests: answers.guests,
        network_file_systems: network_file_systems(source),
        capabilities: capabilities.unwrap_or_default(),
    }
}

/// Parses a hexadecimal set of bits.
fn capabilities(status: &str) -> Option<Vec<String>> {
    let digits = value(status, "CapEff")?;
    let is_whole = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let bits = u64::from_str_radix(digits, 16).ok().filter(|_| is_whole)?;
    let held = CAPABILITIES.iter().filter(|(bit, _)| bits >> bit & 1 == 1);
    Some(held.map(|(_, name)| (*name).to_owned()).collect())
}

fn may_lock(capabilities: Option<&[String]>, limits: &Limits) -> Option<bool> {
    if limits.locked_memory == Some(Limit::Not(Unlimited::Unlimited)) {
        return Some(true);
    }
    capabilities.map(|held| held.iter().any(|name| name == "ipc_lock"))
}

fn network_file_systems(source: &impl Source) -> Option<Vec<String>> {
    const OVER_NETWORK: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs"];
    let text = source.lines("/proc/filesystems")?;
    let kinds = text.lines().filter_map(|l| l.rsplit('\t').next());
    let known = kinds.filter(|kind| OVER_NETWORK.contains(kind));
    Some(known.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn capabilities_and_lock_limit_are_read() {
        let all = capabilities("CapInh:\t0\nCapEff:\t000001ffffffffff\n");
        assert_eq!(capabilities("CapEff:\t000001ffff\n"), None);
        assert_eq!(capabilities("CapEff:\t-00001ffffffffff\n"), None);
        assert_eq!(all.as_ref().map(Vec::len), Some(CAPABILITIES.len()));
        assert_eq!(capabilities("CapEff:\t0000000000000000\n"), Some(vec![]));
        assert_eq!(
            capabilities("CapEff:\t0000000000804000\n"),
            Some(vec!["ipc_lock".to_owned(), "sys_nice".to_owned()])
        );
        assert_eq!(capabilities(""), None);
        let small = Limits { locked_memory: Some(Limit::At(65536)), ..Limits::default() };
        assert_eq!(may_lock(Some(&[]), &small), Some(false));
        assert_eq!(may_lock(all.as_deref(), &small), Some(true));
        assert_eq!(may_lock(None, &small), None);
    }

    #[test]
    fn network_file_systems_are_read() {
        let with = Sample::new("== /proc/filesystems\nnodev\tsysfs\n\text4\nnodev\tnfs4\n");
        assert_eq!(network_file_systems(&with), Some(vec!["nfs4".to_owned()]));
        assert_eq!(network_file_systems(&Sample::new("")), None);
    }
}
