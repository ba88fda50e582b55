//! The name by which a vector and a run recognise the machine.

use yamba_record::Machine;

/// The machine as a vector names it: processor, instruction set, system and kernel, and for Java
/// the virtual machine. Figures depend on all of them. `None`: the processor or the kernel is
/// unknown.
pub fn machine_name(machine: &Machine) -> Option<String> {
    let processor = processor_name(machine)?;
    if machine.kernel.is_empty() {
        return None;
    }
    let (isa, system, kernel) = (&machine.isa, &machine.system, &machine.kernel);
    let java = machine.java.as_ref();
    let java = java.map_or(String::new(), |java| format!(", {}", java.describe()));
    Some(format!("{processor}, {isa} {system} {kernel}{java}"))
}

/// The model of the processor. `None`: unknown.
pub(crate) fn processor_name(machine: &Machine) -> Option<String> {
    let cpu = machine.cpu.as_deref().filter(|cpu| !cpu.is_empty())?;
    let signature =
        machine.details.as_ref().and_then(|details| details.processor.signature.as_ref());
    let signature = signature.map_or(String::new(), |s| format!(" ({s})"));
    Some(format!("{cpu}{signature}"))
}
