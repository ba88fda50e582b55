//! What this machine is. Nothing that names it.

use std::fs;

use yamba_lang::model::Target;
use yamba_record::Machine;

/// The facts that any figure depends on.
pub fn probe(target: &Target) -> Machine {
    let names = rustix::system::uname();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Machine {
        isa: target.isa.clone(),
        system: target.system.clone(),
        kernel: names.release().to_string_lossy().into_owned(),
        cpu: cpu_model(&cpuinfo),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        memory: kibibytes(&meminfo, "MemTotal"),
        page_size: rustix::param::page_size() as u64,
        root: rustix::process::geteuid().is_root(),
        virtual_machine: hypervisor(&cpuinfo),
        scratch: None,
        details: None,
    }
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    lines.find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim())
}

/// x86 and RISC-V name the model, Arm only its numbers.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "Model", "uarch", "cpu model"];
    if let Some(name) = named.iter().find_map(|key| value(cpuinfo, key)) {
        return Some(name.to_owned());
    }
    let (maker, part) = (
        value(cpuinfo, "CPU implementer")?,
        value(cpuinfo, "CPU part")?,
    );
    Some(format!("implementer {maker} part {part}"))
}

fn kibibytes(meminfo: &str, key: &str) -> Option<u64> {
    let number = value(meminfo, key)?.split(' ').next()?;
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// The flag that x86 hypervisors show; unknown elsewhere.
fn hypervisor(cpuinfo: &str) -> Option<bool> {
    value(cpuinfo, "flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_writes() {
        let x86 = "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("Some CPU @ 3 GHz"));
        assert_eq!(hypervisor(x86), Some(true));
        let arm = "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(
            cpu_model(arm).as_deref(),
            Some("implementer 0x41 part 0xd0c")
        );
        assert_eq!(hypervisor(arm), None);
        assert_eq!(
            kibibytes("MemTotal:       1024 kB\n", "MemTotal"),
            Some(1 << 20)
        );
        assert_eq!(cpu_model(""), None);
    }
}
