//! Replaces the parameters of commands by their values, and names the commands.

use std::collections::BTreeSet;

use serde_json::Value;
use yamba_record::Parameters;

use super::{Expanded, Request};
use crate::Failure;

/// Most commands after all parameters have their values.
const MOST: usize = 1000;

/// The reference, then each command with each combination of the parameters that it or its untimed
/// commands use, in hyperfine's order: all commands with the first values, then with the next value
/// of the first parameter.
pub(super) fn expanded(request: &Request) -> Result<Vec<Expanded>, Failure> {
    check(request)?;
    let mut all = Vec::new();
    for index in 0..request.commands.len() {
        all.extend(with_values(request, index)?);
        if all.len() > MOST {
            return Err(Failure::new(format!("--parameter: more than {MOST} commands"))
                .help("give fewer values, or several calls"));
        }
    }
    all.sort_by(|x, y| x.0.cmp(&y.0));
    let mut all: Vec<Expanded> = all.into_iter().map(|(_, expanded)| expanded).collect();
    enter_names(request, &mut all)?;
    if let Some((command, name)) = &request.reference {
        all.insert(0, reference(request, command, name.as_ref().unwrap_or(command)));
    }
    check_names(&all)?;
    Ok(all)
}

/// The reference, whose text is not searched for parameters.
fn reference(request: &Request, command: &str, name: &str) -> Expanded {
    Expanded {
        index: 0,
        name: name.to_owned(),
        command: command.to_owned(),
        around: request.around.as_ref().map(|texts| texts.first().cloned()),
        parameters: Parameters::default(),
        values: Vec::new(),
    }
}

/// The order of a benchmark: the positions of its values, those of the last parameter first, and of
/// its command.
type Order = Vec<usize>;

fn check(request: &Request) -> Result<(), Failure> {
    let reference = request.reference.iter().map(|(command, _)| command);
    if request.commands.iter().chain(reference).any(|c| c.trim().is_empty()) {
        return Err(Failure::new("--command: there is nothing to time in an empty command")
            .help("write a command, as 'sleep 0.1'"));
    }
    let commands = request.commands.len() + usize::from(request.reference.is_some());
    let options = ["--setup", "--prepare", "--conclude", "--cleanup"];
    for (option, texts) in options.into_iter().zip(request.around.as_ref().into_array()) {
        let count = texts.len();
        if count > 1 && count != commands {
            return Err(Failure::new(format!("{count} times {option} for {commands} commands"))
                .help(format!("give {option} once for all commands, or once for each; --reference is the first of them")));
        }
    }
    let mut names = BTreeSet::new();
    if let Some((name, _)) = request.parameters.iter().find(|(name, _)| !names.insert(name)) {
        return Err(Failure::new(format!("--parameter {name}: it is there twice"))
            .help(format!("give all its values at once: --parameter {name}=A,B,C")));
    }
    let uses = |name: &str| {
        let around = request.around.as_ref().into_array().into_iter().flatten();
        let mut texts = request.commands.iter().chain(around);
        texts.any(|text| text.contains(&placeholder(name)))
    };
    match request.parameters.iter().find(|(name, _)| !uses(name)) {
        Some((name, _)) => {
            Err(Failure::new(format!("--parameter {name}: no command has {{{name}}}"))
                .help(format!("write {{{name}}} where its values belong")))
        }
        None => Ok(()),
    }
}

fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

/// The first `{NAME}` of a command that no parameter has replaced. `${NAME}` is of the shell, and
/// `{print}` of awk.
pub(super) fn unreplaced(command: &str) -> Option<&str> {
    let is_name = |text: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_letter)
    };
    command.match_indices('{').find_map(|(at, _)| {
        let (name, _) = command[at + 1..].split_once('}')?;
        let is_open = !command[..at].ends_with('$') && is_name(name) && name != "print";
        is_open.then_some(name)
    })
}

/// A command with each combination of its values, without names.
fn with_values(request: &Request, index: usize) -> Result<Vec<(Order, Expanded)>, Failure> {
    let command = &request.commands[index];
    let place = index + usize::from(request.reference.is_some());
    let around = request.around.as_ref().map(|texts| match texts.as_slice() {
        [one] => Some(one),
        several => several.get(place),
    });
    let mut points: Vec<(Order, Vec<(String, String)>)> = vec![(vec![index], Vec::new())];
    for (name, values) in &request.parameters {
        let mark = placeholder(name);
        let texts = around.clone().into_array().into_iter().flatten();
        let is_used = texts.chain([command]).any(|text| text.contains(&mark));
        let used = if is_used { values.as_slice() } else { &values[..0] };
        points = points
            .into_iter()
            .flat_map(|(order, point)| {
                let at = |position: usize, value: Option<&String>| {
                    let more = value.map(|value| (name.clone(), value.clone()));
                    let order = [&[position], order.as_slice()].concat();
                    (order, point.iter().cloned().chain(more).collect())
                };
                if used.is_empty() {
                    return vec![at(0, None)];
                }
                let each = used.iter().enumerate();
                each.map(|(position, value)| at(position, Some(value))).collect()
            })
            .take(MOST + 1)
            .collect();
    }
    let expanded = points.into_iter().map(|(order, point)| {
        let expanded = Expanded {
            index,
            name: String::new(),
            command: substituted(command, &point),
            around: around.clone().map(|text| text.map(|text| substituted(text, &point))),
            parameters: parameters(&point),
            values: point,
        };
        (order, expanded)
    });
    Ok(expanded.collect())
}

/// Replaces each `{NAME}` of the text by its value. Values are not searched for further names.
fn substituted(text: &str, values: &[(String, String)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(brace) = rest.find('{') {
        out += &rest[..brace];
        rest = &rest[brace..];
        let found = values.iter().find(|(name, _)| rest.starts_with(&placeholder(name)));
        let length = match found {
            Some((name, value)) => {
                out += value;
                name.len() + 2
            }
            None => {
                out.push('{');
                1
            }
        };
        rest = &rest[length..];
    }
    out + rest
}

fn parameters(values: &[(String, String)]) -> Parameters {
    let number = |value: &String| {
        let number = value.parse::<i64>().ok().filter(|n| n.to_string() == *value);
        number.map_or_else(|| Value::from(value.as_str()), Value::from)
    };
    let each = values.iter().map(|(name, value)| (name.clone(), number(value)));
    Parameters(each.collect())
}

/// Names the benchmarks: by a name for each benchmark, by one for each command, or by the command
/// itself. A name contains each value.
fn enter_names(request: &Request, all: &mut [Expanded]) -> Result<(), Failure> {
    let (names, commands) = (&request.names, request.commands.len());
    let is_each_named = names.len() == all.len();
    if names.len() > commands && !is_each_named {
        let benchmarks = match all.len() {
            same if same == commands => String::new(),
            other => format!(", which are {other} benchmarks with their values"),
        };
        return Err(Failure::new(format!(
            "{} names for {commands} commands{benchmarks}",
            names.len()
        ))
        .help("give --name at most once for each --command, or once for each benchmark"));
    }
    for (position, expanded) in all.iter_mut().enumerate() {
        let name = if is_each_named { names.get(position) } else { names.get(expanded.index) };
        let pattern = name.unwrap_or(&request.commands[expanded.index]);
        let is_missing = |(name, _): &&(String, Value)| !pattern.contains(&placeholder(name));
        let missing = expanded.parameters.0.iter().filter(is_missing).cloned();
        let missing = Parameters(missing.collect()).to_string();
        let text = substituted(pattern, &expanded.values);
        expanded.name = match name {
            _ if missing.is_empty() => text,
            Some(_) if is_each_named && names.len() > 1 => text,
            Some(_) => format!("{text} {missing}"),
            None => format!("{text} ({missing})"),
        };
    }
    Ok(())
}

fn check_names(all: &[Expanded]) -> Result<(), Failure> {
    let mut sorted: Vec<&String> = all.iter().map(|e| &e.name).collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::new(format!("two commands are called `{}`", pair[0]))
            .help("give each a name of its own with --name")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message_of, request};
    use super::*;

    fn with(
        commands: &[&str],
        change: impl FnOnce(&mut Request),
    ) -> Result<Vec<Expanded>, Failure> {
        let mut request = request(commands);
        change(&mut request);
        expanded(&request)
    }

    fn list(name: &str, values: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), values.iter().map(|v| (*v).to_owned()).collect())
    }

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|s| (*s).to_owned()).collect()
    }

    fn names(all: &[Expanded]) -> Vec<&str> {
        all.iter().map(|e| e.name.as_str()).collect()
    }

    /// The order is that of hyperfine 1.15 with the same commands and lists.
    #[test]
    fn order_of_benchmarks_is_that_of_hyperfine() {
        let all = with(&["echo {a} {b}", "cat {a} {b}"], |r| {
            r.parameters = vec![list("a", &["1", "2"]), list("b", &["x", "y"])];
        });
        let all = all.unwrap();
        let expected = [
            "echo 1 x", "cat 1 x", "echo 2 x", "cat 2 x", "echo 1 y", "cat 1 y", "echo 2 y",
            "cat 2 y",
        ];
        assert_eq!(names(&all), expected);
    }

    #[test]
    fn four_names_belong_to_two_commands_with_two_values() {
        let all = with(&["echo {k}", "cat {k}"], |r| {
            r.parameters = vec![list("k", &["1", "2"])];
            r.names = strings(&["e1", "c1", "e2", "c2"]);
        });
        let all = all.unwrap();
        let found: Vec<_> = all.iter().map(|e| (e.name.as_str(), e.command.as_str())).collect();
        let expected = [("e1", "echo 1"), ("c1", "cat 1"), ("e2", "echo 2"), ("c2", "cat 2")];
        assert_eq!(found, expected);
        let three = with(&["echo {k}", "cat {k}"], |r| {
            r.parameters = vec![list("k", &["1", "2"])];
            r.names = strings(&["a", "b", "c"]);
        });
        let message = message_of(three);
        assert!(message.contains("3 names for 2 commands, which are 4 benchmarks"), "{message}");
    }

    #[test]
    fn names_without_values_are_found() {
        for (command, name) in [
            ("sleep {x}", Some("x")),
            ("a {} {1} {a b} {n_1}", Some("n_1")),
            ("echo ${HOME} {a,b}", None),
            ("awk '{print}' {", None),
            ("awk '{print $1}'", None),
        ] {
            assert_eq!(unreplaced(command), name, "{command}");
        }
    }

    #[test]
    fn names_have_each_value_once() {
        let all = with(&["echo {k}", "cat {k}"], |r| {
            r.parameters = vec![list("k", &["1", "2"])];
            r.names = strings(&["say {k}", "cat"]);
        });
        assert_eq!(names(&all.unwrap()), ["say 1", "cat k=1", "say 2", "cat k=2"]);
        let all = with(&["echo a"], |r| {
            r.parameters = vec![list("delay", &["0.01", "0.02"])];
            r.around.prepare = strings(&["sleep {delay}"]);
        });
        let all = all.unwrap();
        assert_eq!(names(&all), ["echo a (delay=0.01)", "echo a (delay=0.02)"]);
        assert_eq!(all[1].around.prepare.as_deref(), Some("sleep 0.02"));
    }

    #[test]
    fn reference_is_first_and_untimed_commands_belong_to_each() {
        let all = with(&["echo {a}"], |r| {
            r.parameters = vec![list("a", &["1", "2"])];
            r.reference = Some(("cat {a}".to_owned(), None));
            r.around.prepare = strings(&["one", "two {a}"]);
            r.around.setup = strings(&["set {a}"]);
        });
        let all = all.unwrap();
        assert_eq!(names(&all), ["cat {a}", "echo 1", "echo 2"]);
        let prepare: Vec<_> = all.iter().map(|e| e.around.prepare.as_deref().unwrap()).collect();
        assert_eq!(prepare, ["one", "two 1", "two 2"]);
        assert_eq!(all[2].around.setup.as_deref(), Some("set 2"));
        let two = with(&["a", "b", "c"], |r| r.around.conclude = strings(&["x", "y"]));
        assert!(message_of(two).contains("2 times --conclude for 3 commands"));
    }

    #[test]
    fn value_is_not_searched_for_names() {
        let all = with(&["echo {a}{b} {other} ${a}"], |r| {
            r.parameters = vec![list("a", &["{b}"]), list("b", &["x", "007"])];
        });
        let commands: Vec<String> = all.unwrap().into_iter().map(|e| e.command).collect();
        assert_eq!(commands, ["echo {b}x {other} ${b}", "echo {b}007 {other} ${b}"]);
    }

    #[test]
    fn values_stay_as_they_are_written() {
        let all = with(&["echo {a}"], |r| {
            r.parameters = vec![list("a", &["7", "007", "+7", "a b"])];
        });
        let values: Vec<Value> = all.unwrap().iter().map(|e| e.parameters.0[0].1.clone()).collect();
        assert_eq!(values, [7.into(), "007".into(), "+7".into(), Value::from("a b")]);
    }

    #[test]
    fn parameter_given_twice_is_refused() {
        let twice = with(&["echo {a}"], |r| {
            r.parameters = vec![list("a", &["1"]), list("a", &["2"])];
        });
        assert!(message_of(twice).contains("--parameter a"));
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let digits: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let all = with(&["echo {a}{b}{c}{d}{e}"], |r| {
            r.parameters =
                ["a", "b", "c", "d", "e"].map(|n| (n.to_owned(), digits.clone())).to_vec();
        });
        assert!(message_of(all).contains("more than 1000"));
    }
}
