//! Finds the parameter points to measure.

use yamba_record::Parameters;
use yamba_record::parameters::plain;
use yamba_record::program::{Parameter, Program};

use super::options::Options;

/// One point to measure.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Values that `--set` and the sweeps fix.
    pub settings: Vec<(String, String)>,
    /// The program's description at this point.
    pub program: Program,
}

impl Point {
    /// Its parameters for a reader.
    pub fn parameters(&self) -> String {
        parameters(&self.program).to_string()
    }
}

/// Why there are no points.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refused {
    /// A parameter is invalid.
    Usage(String),
    /// The benchmark cannot run here.
    Skip(String),
    /// The run was stopped.
    Stopped,
    /// The class has an error that no parameter value avoids.
    Fault(String),
    /// The program ended before it described itself.
    Crash(Vec<String>),
}

/// Asks a program for its description with some parameters fixed.
type Describe<'a> = dyn Fn(&[(String, String)]) -> Result<Program, Refused> + 'a;

/// All parameters with their values.
pub(super) fn parameters(program: &Program) -> Parameters {
    let each = program.parameters.iter();
    Parameters(each.map(|p| (p.name.clone(), p.value.clone())).collect())
}

/// The arguments that fix parameters.
pub(super) fn settings(fixed: &[(String, String)]) -> Vec<String> {
    let each = fixed.iter();
    each.flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]).collect()
}

/// Every combination of the swept parameters' values. Later parameters may depend on earlier ones,
/// so each step asks the program for a new description.
pub(super) fn expand(options: &Options, describe: &Describe<'_>) -> Result<Vec<Point>, Refused> {
    let mut settings = options.set.clone();
    settings.extend(presets(options, describe)?);
    let mut points = Vec::new();
    step(options, describe, settings, &mut points)?;
    Ok(points)
}

/// The presets of parameters that this program has and the user did not give.
fn presets(options: &Options, describe: &Describe<'_>) -> Result<Vec<(String, String)>, Refused> {
    if options.preset.is_empty() {
        return Ok(Vec::new());
    }
    let known = describe(&[])?.parameters;
    let is_known = |name: &str| known.iter().any(|p| p.name == name);
    let mut presets = options.preset.clone();
    presets.retain(|(name, _)| is_known(name) && !options.gives(name));
    Ok(presets)
}

fn step(
    options: &Options,
    describe: &Describe<'_>,
    settings: Vec<(String, String)>,
    points: &mut Vec<Point>,
) -> Result<(), Refused> {
    let program = describe(&settings).map_err(|r| told_as_given(r, options, &settings))?;
    if let Some(reason) = program.skip {
        return Err(Refused::Skip(reason));
    }
    check_names(options, &program)?;
    let mut free = program.parameters.iter().filter(|p| !p.set);
    let swept = free.find_map(|p| Some((p, values(p, options)?)));
    let Some((parameter, values)) = swept else {
        if let Some(text) = refused_as_asked(options, &program) {
            let text = Refused::Usage(text.to_owned());
            return Err(told_as_given(text, options, &settings));
        }
        points.push(Point { settings, program });
        return Ok(());
    };
    if settings.iter().any(|(name, _)| *name == parameter.name) {
        // Without this, a program of a user's own could be asked for ever.
        let text = format!(
            "its description says that {} is not set, although --set gave it: it must print `\"set\": true` for it",
            parameter.name
        );
        return Err(Refused::Fault(text));
    }
    if values.is_empty() {
        let at = Parameters(settings.into_iter().map(|(n, v)| (n, v.into())).collect());
        let reason = format!("the sweep of {} has no values here {at}", parameter.name);
        return Err(Refused::Skip(reason.trim_end().to_owned()));
    }
    for value in values {
        let mut fixed = settings.clone();
        fixed.push((parameter.name.clone(), value));
        step(options, describe, fixed, points)?;
    }
    Ok(())
}

/// The benchmark's error message, if it names a parameter that the user gave. Otherwise a value of
/// the benchmark's own does not suit this machine: that costs only this point when it is measured,
/// and no figure of other benchmarks.
fn refused_as_asked<'a>(options: &Options, program: &'a Program) -> Option<&'a str> {
    let text = program.refused.as_deref()?;
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split(|c| !is_in_name(c));
    words.any(|word| options.gives(word)).then_some(text)
}

/// Corrects an error message that names `--set` for a swept value: Yamba passes those values to the
/// program by `--set`. The user gave them by `--sweep`, or not at all if the sweep is the class's
/// own.
fn told_as_given(refused: Refused, options: &Options, settings: &[(String, String)]) -> Refused {
    let Refused::Usage(text) = refused else {
        return refused;
    };
    let each = settings[options.set.len()..].iter();
    Refused::Usage(each.fold(text, |text, (name, value)| {
        let is_given = options.sweep.iter().any(|(n, _)| n == name);
        let given = if is_given { "--sweep " } else { "" };
        let value = format!("{name}={value}:");
        text.replace(&format!("--set {value}"), &format!("{given}{value}"))
    }))
}

/// The values of a parameter, if it is swept.
fn values(parameter: &Parameter, options: &Options) -> Option<Vec<String>> {
    let asked = options.sweep.iter().find(|(n, _)| *n == parameter.name);
    if let Some((_, values)) = asked {
        return Some(values.clone());
    }
    let quick = parameter.quick.as_ref().filter(|_| options.quick);
    let listed = quick.or(parameter.over.as_ref())?;
    // Values that depend on the machine can coincide, such as sizes of two caches.
    let mut values: Vec<String> = Vec::new();
    for value in listed.iter().map(plain) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(values)
}

fn check_names(options: &Options, program: &Program) -> Result<(), Refused> {
    let known = |name: &String| program.parameters.iter().any(|p| p.name == *name);
    let Some((wrong, _)) = options.sweep.iter().find(|(name, _)| !known(name)) else {
        return Ok(());
    };
    let each = program.parameters.iter();
    let names: Vec<String> = each.map(|p| format!("{} ({})", p.name, p.ty)).collect();
    let has = match names.join(", ").as_str() {
        "" => "it has none at all".to_owned(),
        names => format!("it has {names}"),
    };
    Err(Refused::Usage(format!(
        "--sweep {wrong}: {} has no parameter `{wrong}`; {has}",
        program.class
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A class with `a over {1, 2}`, `b = 10 * a over {b, b + 1} quick {b}` and `c`.
    fn describe(fixed: &[(String, String)]) -> Result<Program, Refused> {
        let set = |name: &str| fixed.iter().rev().find(|(n, _)| n == name);
        let number = |name: &str, default: i64| match set(name) {
            Some((_, text)) => text.parse().unwrap(),
            None => default,
        };
        let a = number("a", 1);
        let parameter = |name: &str, value: i64, over: Option<Vec<Value>>, quick| Parameter {
            name: name.to_owned(),
            ty: "int".to_owned(),
            value: json!(value),
            over,
            quick,
            set: set(name).is_some(),
        };
        Ok(Program {
            class: "sample".to_owned(),
            parameters: vec![
                parameter("a", a, Some(vec![json!(1), json!(2)]), None),
                parameter(
                    "b",
                    number("b", 10 * a),
                    Some(vec![json!(10 * a), json!(10 * a + 1)]),
                    Some(vec![json!(10 * a)]),
                ),
                parameter("c", number("c", 7), None, None),
            ],
            ..Program::default()
        })
    }

    fn all(options: &Options) -> Vec<String> {
        let points = expand(options, &describe).unwrap();
        points.iter().map(Point::parameters).collect()
    }

    #[test]
    fn sweep_may_depend_on_another_parameter() {
        assert_eq!(
            all(&Options::default()),
            ["a=1 b=10 c=7", "a=1 b=11 c=7", "a=2 b=20 c=7", "a=2 b=21 c=7"]
        );
        assert_eq!(all(&Options::quick()), ["a=1 b=10 c=7", "a=2 b=20 c=7"]);
    }

    #[test]
    fn set_ends_sweep_and_sweep_option_replaces_it() {
        let options = Options {
            set: vec![("a".to_owned(), "3".to_owned())],
            sweep: vec![("c".to_owned(), vec!["5".to_owned(), "6".to_owned()])],
            ..Options::quick()
        };
        assert_eq!(all(&options), ["a=3 b=30 c=5", "a=3 b=30 c=6"]);
    }

    #[test]
    fn preset_applies_to_benchmarks_with_the_parameter_and_yields_to_set() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let options = Options {
            set: vec![pair("a", "3")],
            preset: vec![pair("a", "1"), pair("c", "9"), pair("none", "1")],
            ..Options::quick()
        };
        assert_eq!(all(&options), ["a=3 b=30 c=9"]);
    }

    #[test]
    fn error_quotes_wrong_value_as_given() {
        let refuse = |fixed: &[(String, String)]| {
            let known = describe(&[])?;
            match fixed.last() {
                Some((name, value)) => Err(Refused::Usage(format!("--set {name}={value}: wrong"))),
                None => Ok(known),
            }
        };
        let pair = |value: &str| ("a".to_owned(), value.to_owned());
        let swept =
            Options { sweep: vec![("a".to_owned(), vec!["x".to_owned()])], ..Options::default() };
        let set = Options { set: vec![pair("x")], ..Options::default() };
        for (options, message) in [(swept, "--sweep a=x: wrong"), (set, "--set a=x: wrong")] {
            let refused = expand(&options, &refuse).unwrap_err();
            assert_eq!(refused, Refused::Usage(message.to_owned()));
        }
    }

    /// A preset does not change the message about a value that the user gave.
    #[test]
    fn error_beside_preset_quotes_wrong_value_as_given() {
        let refuse = |fixed: &[(String, String)]| {
            let mut program = describe(fixed)?;
            let is_wrong = program.parameters[0].value == json!(3);
            program.refused = is_wrong.then(|| "sample: --set a=3: it must be 1".to_owned());
            Ok(program)
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let options =
            Options { set: vec![pair("a", "3")], preset: vec![pair("c", "9")], ..Options::quick() };
        assert_eq!(
            expand(&options, &refuse).unwrap_err(),
            Refused::Usage("sample: --set a=3: it must be 1".to_owned())
        );
    }

    /// A value that is refused with the default of a swept parameter may be valid with each value
    /// of the sweep.
    #[test]
    fn only_measured_points_are_rejected() {
        let uneven = |fixed: &[(String, String)]| {
            let mut program = describe(fixed)?;
            let b = program.parameters[1].value.as_i64().unwrap();
            program.refused = (b % 2 == 1).then(|| format!("sample: --set b={b}: it must be even"));
            Ok(program)
        };
        let options = |a: &str, b: &[&str]| Options {
            set: vec![("a".to_owned(), a.to_owned())],
            sweep: vec![("b".to_owned(), b.iter().map(|&v| v.to_owned()).collect())],
            ..Options::default()
        };
        let points = expand(&options("3", &["4", "8"]), &uneven).unwrap();
        assert_eq!(points.len(), 2);
        let refused = |options| expand(&options, &uneven).unwrap_err();
        assert_eq!(
            refused(options("3", &["4", "5"])),
            Refused::Usage("sample: --sweep b=5: it must be even".to_owned())
        );
        let own_sweep = Options { sweep: Vec::new(), ..options("3", &[]) };
        let because = |fixed: &[(String, String)]| {
            let mut program = uneven(fixed)?;
            let text = program.refused.map(|text| format!("{text}, as a is 3"));
            program.refused = text;
            Ok(program)
        };
        assert_eq!(expand(&own_sweep, &uneven).unwrap().len(), 2);
        assert_eq!(
            expand(&own_sweep, &because).unwrap_err(),
            Refused::Usage("sample: b=31: it must be even, as a is 3".to_owned())
        );
        assert_eq!(expand(&Options::default(), &uneven).unwrap().len(), 4);
    }

    #[test]
    fn program_that_ignores_a_setting_is_a_fault() {
        let forgetful = |_: &[(String, String)]| describe(&[]);
        let found = expand(&Options::default(), &forgetful);
        let Err(Refused::Fault(text)) = found else {
            panic!("{found:?}");
        };
        assert!(text.contains("not set, although --set gave it"), "{text}");
    }

    /// A benchmark without any point to measure must be reported.
    #[test]
    fn empty_sweep_is_an_error() {
        let empty = |fixed: &[(String, String)]| {
            let mut program = describe(fixed)?;
            program.parameters[1].over = Some(Vec::new());
            Ok(program)
        };
        assert_eq!(
            expand(&Options::default(), &empty).unwrap_err(),
            Refused::Skip("the sweep of b has no values here a=1".to_owned())
        );
    }

    #[test]
    fn unknown_parameter_lists_known_ones() {
        let options =
            Options { sweep: vec![("d".to_owned(), vec!["5".to_owned()])], ..Options::default() };
        assert_eq!(
            expand(&options, &describe).unwrap_err(),
            Refused::Usage(
                "--sweep d: sample has no parameter `d`; it has a (int), b (int), c (int)"
                    .to_owned()
            )
        );
    }
}
