//! Composition of classes on platforms: applicable ports, their order, and effective definitions.

mod support;

use support::Shelf;
use yamba_lang::model::{Gap, World};
use yamba_lang::{Analysis, Composition, Program, Target};

fn target(isa: &str, system: &str) -> Target {
    Target { isa: isa.to_owned(), system: system.to_owned() }
}

fn analysed(text: &str) -> Analysis {
    let analysis = Shelf::new().analyse("t.yamba", text);
    let messages: Vec<_> = analysis.diagnostics.iter().map(|d| &d.message).collect();
    assert!(messages.is_empty(), "{messages:#?}");
    analysis
}

fn program(analysis: &Analysis, class: &str, on: &Target) -> Program {
    analysis.program(analysis.find_class(class).expect(class), on)
}

fn chain(analysis: &Analysis, composition: &Composition) -> Vec<String> {
    composition.layers.iter().map(|l| analysis.class(l.class).name().to_owned()).collect()
}

/// The class with the effective definition of `key` in the only variant.
fn definer(analysis: &Analysis, program: &Program, key: &str) -> String {
    let member = program.variants[0].members[key];
    analysis.class(member.class).name().to_owned()
}

#[test]
fn composition_has_base_and_applicable_ports() {
    let analysis = analysed(
        "yamba abstract t { bitstring touch; void flush(); void benchmark() {} }
         yamba t_x86_64 ports t on x86_64 { bitstring touch = 0x90; }
         yamba t_aarch64 ports t on aarch64 { bitstring touch = 0x1F2003D5; }
         yamba t_linux ports t on linux { void flush() {} }",
    );
    let here = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(here.worlds, [World::Runs(0)]);
    assert_eq!(
        chain(&analysis, &here.variants[0]),
        ["Benchmark", "Latency", "t", "t_linux", "t_x86_64"]
    );
    let there = program(&analysis, "t", &target("aarch64", "darwin"));
    let World::Incomplete(gaps) = &there.worlds[0] else { panic!("{:?}", there.worlds) };
    assert_eq!(gaps.iter().map(|g| analysis.gap_text(g)).collect::<Vec<_>>(), ["void flush()"]);
}

#[test]
fn narrower_condition_is_more_specific() {
    let analysis = analysed(
        "yamba abstract t { void flush(); void benchmark() {} }
         yamba a_both ports t on x86_64 && linux { void flush() { super::flush(); } }
         yamba z_linux ports t on linux { void flush() {} }",
    );
    let program = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(chain(&analysis, &program.variants[0])[3..], ["z_linux", "a_both"]);
    assert_eq!(definer(&analysis, &program, "flush()"), "a_both");
    assert_eq!(program.variants[0].layers[4].supers["flush"], 3);
}

#[test]
fn port_of_port_is_more_specific_and_adds_condition() {
    let analysis = analysed(
        "yamba abstract t { void flush(); void benchmark() {} }
         yamba z ports t on linux { void flush() {} }
         yamba a ports z on x86_64 { void flush() { super::flush(); } }",
    );
    let on_x86 = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(definer(&analysis, &on_x86, "flush()"), "a");
    let on_arm = program(&analysis, "t", &target("aarch64", "linux"));
    assert_eq!(definer(&analysis, &on_arm, "flush()"), "z");
    let on_darwin = program(&analysis, "t", &target("x86_64", "darwin"));
    assert!(
        matches!(&on_darwin.worlds[..], [World::Incomplete(gaps)] if matches!(gaps[..], [Gap::Missing(_)]))
    );
}

#[test]
fn third_port_resolves_ambiguity_of_two() {
    let text = "yamba abstract t { void flush(); void benchmark() {} }
         yamba t_linux ports t on linux { void flush() {} }
         yamba t_x86_64 ports t on x86_64 { void flush() {} }";
    let open = Shelf::new().analyse("t.yamba", text);
    assert_eq!(open.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["ambiguous-ports"]);
    let analysis = analysed(&format!(
        "{text}\nyamba t_both ports t on x86_64 && linux {{ void flush() {{}} }}"
    ));
    let program = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(definer(&analysis, &program, "flush()"), "t_both");
}

#[test]
fn runtime_atoms_give_one_composition_per_answer() {
    let analysis = analysed(
        "yamba abstract t { void flush() {} void benchmark() {} }
         yamba t_old ports t on linux >= 5.0 { void flush() {} }
         yamba t_new ports t on linux >= 6.1 { void flush() { super::flush(); } }",
    );
    let program = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(
        program.atoms.iter().map(yamba_lang::show_atom).collect::<Vec<_>>(),
        ["linux >= 5.0", "linux >= 6.1"]
    );
    let impossible = World::Absent("impossible".to_owned());
    assert_eq!(program.worlds, [World::Runs(0), World::Runs(1), impossible, World::Runs(2)]);
    assert_eq!(chain(&analysis, &program.variants[2])[2..], ["t", "t_old", "t_new"]);
}

#[test]
fn absent_benchmark_states_its_requirement() {
    let analysis = analysed("yamba t on linux && root { void benchmark() {} }");
    let here = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(here.worlds, [World::Absent("needs root".to_owned()), World::Runs(0)]);
    let there = program(&analysis, "t", &target("x86_64", "darwin"));
    assert_eq!(there.worlds, [World::Absent("needs linux && root".to_owned())]);
}

#[test]
fn port_sets_parameter_and_values_are_ordered_by_dependency() {
    let analysis = analysed(
        "yamba abstract t { param int total = each * 4; param int each; void benchmark() {} }
         yamba t_linux ports t on linux { each = 3; }",
    );
    let program = program(&analysis, "t", &target("aarch64", "linux"));
    let shown: Vec<_> = program.variants[0]
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), analysis.value(p).map(|v| analysis.cpp(v))))
        .collect();
    assert_eq!(shown, [("each", Some("3")), ("total", Some("each * 4"))]);
}

#[test]
fn sweep_follows_parameters_it_uses() {
    let analysis = analysed(
        "yamba t { param int n = 1 over {n, last} quick {last}; param int last = 4; void benchmark() {} }",
    );
    let program = program(&analysis, "t", &target("aarch64", "linux"));
    let parameters = &program.variants[0].parameters;
    let names: Vec<_> = parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["last", "n"]);
}

#[test]
fn import_is_composed_for_platform() {
    let analysis = analysed(
        "yamba abstract t { import(compiler); bitstring b { compiler.prologue_standard } void benchmark() {} }
         yamba t_any ports t on linux { }",
    );
    let program = program(&analysis, "t", &target("x86_64", "linux"));
    let composition = &program.variants[0];
    let names: Vec<_> =
        composition.parts.iter().map(|p| chain(&analysis, p).pop().unwrap()).collect();
    assert_eq!(names, ["compiler_x86_64", "x86_64"]);
    assert_eq!(composition.isa, Some(1));
    assert_eq!(composition.layers[2].imports, [("compiler".to_owned(), 0)]);
}

#[test]
fn subclass_overrides_ports_of_base() {
    let analysis = analysed(
        "yamba abstract t { param int n = 1; void flush(); void benchmark() {} }
         yamba t_linux ports t on linux { n = 2; void flush() {} }
         yamba narrow extends t on linux { n = 3; void flush() { super::flush(); } }",
    );
    let program = program(&analysis, "narrow", &target("x86_64", "linux"));
    assert_eq!(chain(&analysis, &program.variants[0])[2..], ["t", "t_linux", "narrow"]);
    let value = analysis.value(&program.variants[0].parameters[0]);
    assert_eq!(value.map(|v| analysis.cpp(v)), Some("3"));
}

/// The classes that give the value, the sweep and the quick values of the first parameter.
fn givers(text: &str, class: &str) -> [Option<String>; 3] {
    let analysis = analysed(text);
    let program = program(&analysis, class, &target("x86_64", "linux"));
    let parameter = program.variants[0].parameters[0].clone();
    [parameter.value, parameter.over, parameter.quick]
        .map(|m| m.map(|m| analysis.class(m.class).name().to_owned()))
}

#[test]
fn value_and_sweeps_come_from_most_specific_class() {
    let base = "yamba abstract t { param int n = 1 over {1, 2} quick {1}; void benchmark() {} }";
    let of = |members: &str| {
        let text = format!("{base} yamba a extends t {{ {members} }}");
        givers(&text, "a").map(|name| name.unwrap_or_else(|| "-".to_owned()))
    };
    assert_eq!(of(""), ["t", "t", "t"]);
    assert_eq!(of("n = 4;"), ["a", "t", "t"]);
    assert_eq!(of("n quick {2};"), ["t", "t", "a"]);
    // The quick values of an overridden sweep do not apply to the new one.
    assert_eq!(of("n over {4, 8};"), ["t", "a", "-"]);
    assert_eq!(of("n = 4 over {4, 8} quick {8};"), ["a", "a", "a"]);
    let ports = "yamba abstract t { param int n = 1; void benchmark() {} }
         yamba p ports t on linux { n = 2 over {2, 4} quick {4}; }
         yamba q ports p on x86_64 { n over log(2, 8, 1); }";
    let [value, over, quick] = givers(ports, "t");
    assert_eq!([value.as_deref(), over.as_deref(), quick.as_deref()], [Some("p"), Some("q"), None]);
}

#[test]
fn ports_are_found_nearby_and_broken_port_only_warns() {
    let shelf = Shelf::new()
        .with("other.yamba", "yamba p ports t on linux { void flush() {} }")
        .with("broken.yamba", "yamba q ports t on darwin { void flush( }")
        .with("stranger.yamba", "yamba t { } yamba r ports t on linux { void nonsense() {} }");
    let text = "yamba abstract t { void flush(); void benchmark() {} }";
    let analysis = shelf.analyse("t.yamba", text);
    assert_eq!(
        analysis.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(),
        ["unreadable-port"]
    );
    assert!(!analysis.has_errors());
    assert_eq!(
        chain(&analysis, &program(&analysis, "t", &target("x86_64", "linux")).variants[0])[2..],
        ["t", "p"]
    );
    assert!(analysis.is_listed(analysis.find_class("t").unwrap()));
    let alone = Shelf::new().analyse("t.yamba", text);
    assert!(
        !alone.is_listed(alone.find_class("t").unwrap()),
        "abstract and without any port: a shape"
    );
}

#[test]
fn port_imported_by_name_has_its_own_condition() {
    let analysis = analysed(
        "yamba abstract helper extends Part { bitstring b; }
         yamba helper_fast ports helper on cpu(fast) { bitstring b = 0x90; }
         yamba abstract t { void benchmark(); }
         yamba t_fast ports t on cpu(fast) { import(helper_fast); void benchmark() {} }",
    );
    let program = program(&analysis, "t", &target("x86_64", "linux"));
    assert_eq!(program.worlds.len(), 2);
    assert_eq!(program.worlds[1], World::Runs(0));
}
