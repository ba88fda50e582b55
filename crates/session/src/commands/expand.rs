//! Replaces the parameters of commands by their values, and names the commands.

use serde_json::Value;
use yamba_record::Parameters;

use super::{Expanded, Request};
use crate::Failure;

/// Most commands after all parameters have their values.
const MOST: usize = 1000;

/// Each command with each combination of the parameters that it uses.
pub(super) fn expanded(request: &Request) -> Result<Vec<Expanded>, Failure> {
    check(request)?;
    let mut all = Vec::new();
    for (index, command) in request.commands.iter().enumerate() {
        let prepare = match request.prepare.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            several => several.get(index).cloned(),
        };
        let plain = Expanded {
            name: request.names.get(index).unwrap_or(command).clone(),
            command: command.clone(),
            prepare,
            parameters: Parameters::default(),
        };
        all.extend(with_values(
            plain,
            request.names.get(index),
            &request.parameters,
        ));
        if all.len() > MOST {
            return Err(
                Failure::new(format!("--parameter: more than {MOST} commands"))
                    .help("give fewer values, or several calls"),
            );
        }
    }
    let mut names: Vec<&String> = all.iter().map(|e| &e.name).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(
            Failure::new(format!("two commands are called `{}`", pair[0]))
                .help("give each a name of its own with --name"),
        ),
        None => Ok(all),
    }
}

fn check(request: &Request) -> Result<(), Failure> {
    if request.commands.iter().any(|c| c.trim().is_empty()) {
        return Err(
            Failure::new("--command: there is nothing to time in an empty command")
                .help("write a command, as 'sleep 0.1'"),
        );
    }
    let (commands, names) = (request.commands.len(), request.names.len());
    if names > commands {
        return Err(
            Failure::new(format!("{names} names for {commands} commands"))
                .help("give --name at most once for each --command"),
        );
    }
    let prepare = request.prepare.len();
    if prepare > 1 && prepare != commands {
        return Err(
            Failure::new(format!("{prepare} preparations for {commands} commands"))
                .help("give --prepare once for all commands, or once for each"),
        );
    }
    let uses = |name: &str| {
        let mut texts = request.commands.iter().chain(&request.prepare);
        texts.any(|text| text.contains(&placeholder(name)))
    };
    match request.parameters.iter().find(|(name, _)| !uses(name)) {
        Some((name, _)) => Err(Failure::new(format!(
            "--parameter {name}: no command has {{{name}}}"
        ))
        .help(format!("write {{{name}}} where its values belong"))),
        None => Ok(()),
    }
}

fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

fn with_values(
    plain: Expanded,
    name: Option<&String>,
    parameters: &[(String, Vec<String>)],
) -> Vec<Expanded> {
    let mut all = vec![plain];
    for (parameter, values) in parameters {
        let mark = placeholder(parameter);
        let is_used = |e: &Expanded| {
            let in_prepare = e.prepare.as_ref().is_some_and(|p| p.contains(&mark));
            e.command.contains(&mark) || in_prepare
        };
        all = all
            .into_iter()
            .flat_map(|e| {
                if !is_used(&e) {
                    return vec![e];
                }
                let each = values.iter();
                each.map(|value| with_value(&e, parameter, &mark, value))
                    .collect()
            })
            .collect();
    }
    for expanded in &mut all {
        let values = expanded.parameters.to_string();
        expanded.name = match name {
            Some(name) if values.is_empty() => name.clone(),
            Some(name) => format!("{name} {values}"),
            None => expanded.command.clone(),
        };
    }
    all
}

fn with_value(from: &Expanded, parameter: &str, mark: &str, value: &str) -> Expanded {
    let mut with = from.clone();
    with.command = from.command.replace(mark, value);
    with.prepare = from.prepare.as_ref().map(|p| p.replace(mark, value));
    let value = value
        .parse::<i64>()
        .map_or_else(|_| Value::from(value), Value::from);
    with.parameters.0.push((parameter.to_owned(), value));
    with
}
