//! Found parameters in a file from which programs take their sizes.

use yamba_record::hardware::HardwareParameter;
use yamba_record::number::rounded;
use yamba_session::hardware::Document;

/// The form of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The document of `--json`.
    Json,
    /// A header for C and C++.
    Header,
    /// Assignments of a shell.
    Shell,
}

impl Form {
    /// The form that the name of a file asks for.
    pub fn by_extension(extension: &str) -> Option<Form> {
        match extension {
            "json" => Some(Form::Json),
            "h" => Some(Form::Header),
            "sh" => Some(Form::Shell),
            _ => None,
        }
    }
}

const GUARD: &str = "YAMBA_PARAMETERS_H";

/// The text of the file.
pub fn text(found: &Document, form: Form) -> String {
    let lines = found.parameters.iter().map(|p| line(form, p) + "\n").collect::<String>();
    let processor = found.processor.as_deref().unwrap_or("a processor without a name");
    let about = format!("{processor}, as `yamba hardware` found it in run {}", found.run);
    let about = comment(form, &about);
    match form {
        // The document consists of numbers, texts and lists, which always serialise.
        Form::Json => serde_json::to_string_pretty(found).expect("a document is JSON") + "\n",
        Form::Header => format!("{about}\n#ifndef {GUARD}\n#define {GUARD}\n{lines}#endif\n"),
        Form::Shell => format!("{about}\n{lines}"),
    }
}

fn line(form: Form, p: &HardwareParameter) -> String {
    let Some(found) = p.found else {
        let reason = p.reason.as_deref().unwrap_or("it was not found");
        return comment(form, &format!("{}: {reason}", p.name));
    };
    // Counts are exact, and others have no more digits than were measured.
    let value = rounded(found, if found.fract() == 0.0 { 16 } else { 4 });
    match form {
        Form::Header => format!("#define {} {value}", name(p)),
        _ => format!("{}={value}", name(p)),
    }
}

/// A comment of one line, which nothing in `text` ends.
fn comment(form: Form, text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    match form {
        Form::Header => format!("/* {} */", text.replace("*/", "* /")),
        _ => format!("# {text}"),
    }
}

/// `YAMBA_L1D_SIZE_BYTES`: the name, and the unit unless the name ends with it.
fn name(p: &HardwareParameter) -> String {
    let unit = match p.unit.as_str() {
        "B" => "bytes",
        unit => unit,
    };
    // The document of another machine is not trusted: a shell runs this text.
    let is_other = |c: char| !c.is_ascii_alphanumeric();
    let plain = |text: &str| text.replace('/', "_per_").replace(is_other, "_").to_uppercase();
    let (name, unit) = (plain(&p.name), plain(unit));
    match name.ends_with(&format!("_{unit}")) {
        true => format!("YAMBA_{name}"),
        false => format!("YAMBA_{name}_{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Document {
        let parameter = |name: &str, unit: &str, found: Option<f64>| HardwareParameter {
            name: name.to_owned(),
            unit: unit.to_owned(),
            found,
            interval: found.map(|v| [v, v]),
            reason: found.is_none().then(|| "steps at 4 */ and\n8".to_owned()),
            ..HardwareParameter::default()
        };
        Document {
            schema: "yamba-hardware/1".to_owned(),
            run: "0011".to_owned(),
            processor: Some("A\ncpu".to_owned()),
            interrupted: false,
            has_failures: false,
            parameters: vec![
                parameter("l1d.size", "B", Some(49_152.0)),
                parameter("l1d.latency", "cycles", Some(5.002_345)),
                parameter("rob.entries", "entries", Some(512.0)),
                parameter("issue.width", "instructions/cycle", Some(5.96)),
                parameter("memory.bandwidth", "MB/s", Some(23_456.7)),
                parameter("l2.ways", "ways", None),
            ],
        }
    }

    #[test]
    fn header_has_a_guard_and_units_in_names() {
        let expected = "\
/* A cpu, as `yamba hardware` found it in run 0011 */
#ifndef YAMBA_PARAMETERS_H
#define YAMBA_PARAMETERS_H
#define YAMBA_L1D_SIZE_BYTES 49152
#define YAMBA_L1D_LATENCY_CYCLES 5.002
#define YAMBA_ROB_ENTRIES 512
#define YAMBA_ISSUE_WIDTH_INSTRUCTIONS_PER_CYCLE 5.96
#define YAMBA_MEMORY_BANDWIDTH_MB_PER_S 23460
/* l2.ways: steps at 4 * / and 8 */
#endif
";
        assert_eq!(text(&sample(), Form::Header), expected);
    }

    #[test]
    fn shell_has_assignments_and_comments() {
        let shell = text(&sample(), Form::Shell);
        let lines: Vec<&str> = shell.lines().collect();
        assert_eq!(lines[1], "YAMBA_L1D_SIZE_BYTES=49152");
        assert_eq!(lines[6], "# l2.ways: steps at 4 */ and 8");
        assert!(lines.iter().all(|l| l.starts_with("# ") || l.starts_with("YAMBA_")), "{shell}");
    }

    #[test]
    fn names_are_no_code() {
        let mut found = sample();
        found.parameters.truncate(1);
        found.parameters[0].unit = "B=1;$'\\162' x\n#".to_owned();
        let shell = text(&found, Form::Shell);
        assert_eq!(shell.lines().nth(1), Some("YAMBA_L1D_SIZE_B_1____162__X__=49152"));
        assert_eq!(shell.lines().count(), 2);
    }

    #[test]
    fn json_is_the_document() {
        let json = text(&sample(), Form::Json);
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["parameters"][0]["found"], 49_152.0);
        assert!(document["parameters"][5]["found"].is_null());
        assert_eq!(document["parameters"][5]["reason"], "steps at 4 */ and\n8");
    }
}
