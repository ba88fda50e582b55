//! Classes of nodes by the facts of their machines.

use indexmap::IndexMap;
use yamba_compare::identity::{Fact, Fingerprint};

use crate::slow_nodes::fewest;

/// Nodes of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// The facts that all nodes of the class share; those of its largest group where a few nodes
    /// differ.
    pub fingerprint: Fingerprint,
    /// The indices of its nodes.
    pub nodes: Vec<usize>,
    /// Nodes whose state differs from the class's: node, and the facts that differ with their own
    /// value.
    pub differing: Vec<(usize, Vec<Fact>)>,
}

/// Divides nodes into classes. Nodes with different processors or systems are in different classes.
/// Nodes that share a state (kernel, microcode, governor, memory and others) are a class if there
/// are enough of them (`fewest`). A node with a rare state joins the largest class of its processor
/// and system, since its own state may make it slow.
pub fn classes(fingerprints: &[&Fingerprint]) -> Vec<Class> {
    let mut kinds: IndexMap<&[Fact], Vec<usize>> = IndexMap::new();
    for (node, fingerprint) in fingerprints.iter().enumerate() {
        kinds.entry(&fingerprint.identity).or_default().push(node);
    }
    let mut found: Vec<Class> =
        kinds.into_values().flat_map(|nodes| classes_of_kind(fingerprints, nodes)).collect();
    found.sort_by_key(|class| std::cmp::Reverse(class.nodes.len()));
    found
}

/// The classes among nodes with the same processor and system.
fn classes_of_kind(fingerprints: &[&Fingerprint], nodes: Vec<usize>) -> Vec<Class> {
    let fewest = fewest(nodes.len());
    let mut states: IndexMap<&[Fact], Vec<usize>> = IndexMap::new();
    for node in nodes {
        states.entry(&fingerprints[node].state).or_default().push(node);
    }
    let largest = states.values().map(Vec::len).max().unwrap_or(0);
    let mut found: Vec<Class> = Vec::new();
    let mut rare: Vec<usize> = Vec::new();
    let mut main = None;
    for nodes in states.into_values() {
        let is_main = main.is_none() && nodes.len() == largest;
        if !is_main && nodes.len() < fewest {
            rare.extend(nodes);
            continue;
        }
        if is_main {
            main = Some(found.len());
        }
        found.push(Class {
            fingerprint: fingerprints[nodes[0]].clone(),
            nodes,
            differing: Vec::new(),
        });
    }
    if let Some(main) = main {
        join(&mut found[main], fingerprints, rare);
    }
    found
}

fn join(class: &mut Class, fingerprints: &[&Fingerprint], rare: Vec<usize>) {
    for node in rare {
        let own = fingerprints[node].state.iter();
        let differing = own.filter(|fact| !class.fingerprint.state.contains(fact));
        class.differing.push((node, differing.cloned().collect()));
        class.nodes.push(node);
    }
    class.nodes.sort_unstable();
}

/// The facts by which each class differs from some other, for its description.
pub fn distinguishing(classes: &[Class]) -> Vec<Vec<Fact>> {
    let facts = |class: &Class| -> Vec<Fact> {
        let both = [&class.fingerprint.identity, &class.fingerprint.state];
        both.into_iter().flatten().cloned().collect()
    };
    let all: Vec<Vec<Fact>> = classes.iter().map(facts).collect();
    let is_shared = |fact: &Fact| all.iter().all(|facts| facts.contains(fact));
    let own = |facts: &Vec<Fact>| facts.iter().filter(|f| !is_shared(f)).cloned().collect();
    all.iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(cpu: &str, kernel: &str) -> Fingerprint {
        let fact = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        Fingerprint { identity: vec![fact("cpu", cpu)], state: vec![fact("kernel", kernel)] }
    }

    #[test]
    fn another_processor_is_a_class_and_a_rare_state_is_not() {
        let mut all = vec![fingerprint("x", "6.1"); 20];
        all.extend(vec![fingerprint("x", "6.2"); 5]);
        all.push(fingerprint("x", "6.3"));
        all.push(fingerprint("y", "6.1"));
        let found = classes(&all.iter().collect::<Vec<_>>());
        let sizes: Vec<usize> = found.iter().map(|class| class.nodes.len()).collect();
        assert_eq!(sizes, [21, 5, 1]);
        let rare = ("kernel".to_owned(), Some("6.3".to_owned()));
        assert_eq!(found[0].differing, [(25, vec![rare])]);
        assert_eq!(found[2].nodes, [26]);
        let facts = distinguishing(&found);
        assert_eq!(facts[1][1], ("kernel".to_owned(), Some("6.2".to_owned())));
    }
}
