//! The name by which a vector and a run recognise the machine.

use yamba_record::Machine;

/// The machine as a vector names it: processor, instruction set, system and kernel. Figures depend on all of them. `None`: the processor or the kernel is unknown.
pub fn machine_name(machine: &Machine) -> Option<String> {
    let cpu = machine.cpu.as_deref().filter(|cpu| !cpu.is_empty())?;
    if machine.kernel.is_empty() {
        return None;
    }
    let signature = machine
        .details
        .as_ref()
        .and_then(|details| details.processor.signature.as_ref());
    let signature = signature.map_or(String::new(), |s| format!(" ({s})"));
    let (isa, system, kernel) = (&machine.isa, &machine.system, &machine.kernel);
    Some(format!("{cpu}{signature}, {isa} {system} {kernel}"))
}
