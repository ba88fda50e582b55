//! Checks documents against the schemas that `yamba schema` prints. The checker supports only the
//! keywords used there and fails at others. Existing JSON Schema validators take longer to compile
//! than everything that uses this one.

use serde_json::{Value, json};

use crate::support::Yamba;

/// The schema of a document.
pub struct Schema {
    root: Value,
    /// Whether an undocumented field is also a fault. Documents that this version writes must have
    /// no undocumented fields.
    is_closed: bool,
}

impl Schema {
    fn printed(name: &str, is_closed: bool) -> Schema {
        let text = Yamba::new().run_words(&["schema", name]).ok().out;
        Schema { root: serde_json::from_str(&text).unwrap(), is_closed }
    }

    fn with(&self, is_closed: bool) -> Schema {
        Schema { root: self.root.clone(), is_closed }
    }

    /// The definition that a reference names.
    fn target(&self, reference: &Value) -> &Value {
        let name = reference.as_str().unwrap().trim_start_matches('#');
        self.root.pointer(name).expect("a definition of the schema")
    }

    /// The faults of a document, each with its place.
    fn faults(&self, document: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(&self.root, document, "", &mut faults);
        faults
    }

    fn holds(&self, schema: &Value, value: &Value) -> bool {
        let mut faults = Vec::new();
        self.check(schema, value, "", &mut faults);
        faults.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let Some(rules) = schema.as_object() else {
            let allows = schema.as_bool().expect("a schema is an object, true or false");
            faults.extend((!allows).then(|| format!("{place}: is not allowed")));
            return;
        };
        for (keyword, rule) in rules {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "format" | "then" | "else" => true,
                "$ref" => {
                    // Fields beside the reference are not documented there.
                    let is_closed = self.is_closed && !rules.contains_key("properties");
                    self.with(is_closed).check(self.target(rule), value, place, faults);
                    true
                }
                "type" => is_of_type(rule, value),
                "const" => rule == value,
                "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|v| v <= rule.as_f64().unwrap()),
                "minItems" => {
                    value.as_array().is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap())
                }
                "maxItems" => {
                    value.as_array().is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap())
                }
                "pattern" => value.as_str().is_none_or(|text| matches(rule, text)),
                "anyOf" => each(rule).any(|s| self.beside(rules).holds(s, value)),
                "oneOf" => each(rule).filter(|s| self.beside(rules).holds(s, value)).count() == 1,
                "enum" => each(rule).any(|v| v == value),
                "if" => {
                    let branch = if self.holds(rule, value) { "then" } else { "else" };
                    self.check(&rules[branch], value, place, faults);
                    true
                }
                "required" => each(rule).all(|name| value.get(name.as_str().unwrap()).is_some()),
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{place}/{i}"), faults);
                    }
                    true
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (i, (rule, item)) in each(rule).zip(items).enumerate() {
                        self.check(rule, item, &format!("{place}/{i}"), faults);
                    }
                    true
                }
                "properties" | "additionalProperties" => {
                    self.check_fields(keyword, rules, value, place, faults);
                    true
                }
                other => panic!("the checker does not know {other}"),
            };
            if !holds {
                faults.push(format!("{place}: {keyword} {rule}"));
            }
        }
        let is_closed =
            self.is_closed && rules.contains_key("type") && rules.contains_key("properties");
        if is_closed && !rules.contains_key("additionalProperties") {
            let fields = value.as_object().into_iter().flatten();
            let referred = rules.get("$ref").map(|rule| &self.target(rule)["properties"]);
            let is_known = |name: &str| {
                let beside = referred.is_some_and(|fields| fields.get(name).is_some());
                beside
                    || rules["properties"].get(name).is_some()
                    || self.has_in_variant(rules, value, name)
            };
            let unknown = fields.filter(|(name, _)| !is_known(name));
            faults.extend(unknown.map(|(name, _)| format!("{place}/{name}: is not documented")));
        }
    }

    /// The schema for variants that stand beside fields of the same object: they do not document
    /// those fields.
    fn beside(&self, rules: &serde_json::Map<String, Value>) -> Schema {
        self.with(self.is_closed && !rules.contains_key("properties"))
    }

    /// Whether a variant that holds documents the field.
    fn has_in_variant(
        &self,
        rules: &serde_json::Map<String, Value>,
        value: &Value,
        name: &str,
    ) -> bool {
        let open = self.with(false);
        let lists = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| rules.get(keyword));
        let mut variants = lists.flat_map(each).filter(|variant| open.holds(variant, value));
        variants.any(|variant| {
            let referred = variant.get("$ref").map(|rule| &self.target(rule)["properties"]);
            let own = variant.get("properties");
            own.into_iter().chain(referred).any(|fields| fields.get(name).is_some())
        })
    }

    fn check_fields(
        &self,
        keyword: &str,
        rules: &serde_json::Map<String, Value>,
        value: &Value,
        place: &str,
        faults: &mut Vec<String>,
    ) {
        for (name, field) in value.as_object().into_iter().flatten() {
            let named = rules.get("properties").and_then(|p| p.get(name));
            let rule = match keyword {
                "properties" => named,
                _ => named.is_none().then(|| &rules["additionalProperties"]),
            };
            if let Some(rule) = rule {
                self.check(rule, field, &format!("{place}/{name}"), faults);
            }
        }
    }
}

fn each(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().unwrap().iter()
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("the checker does not know the type {other}"),
    };
    match rule {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

fn matches(rule: &Value, text: &str) -> bool {
    assert_eq!(rule, "^([0-9a-f]{16})?$", "the checker knows this pattern only");
    let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    text.is_empty() || (text.len() == 16 && text.bytes().all(is_digit))
}

/// Checks a run's document as this version writes it: valid, and without undocumented fields.
#[track_caller]
pub fn is_run(document: &Value) {
    holds("yamba-run/1", document);
}

/// Checks a document that this version wrote against the named schema. Undocumented fields are
/// faults.
#[track_caller]
pub fn holds(schema: &str, document: &Value) {
    let faults = Schema::printed(schema, true).faults(document);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a document satisfies the named schema.
pub fn is_held(schema: &str, document: &Value) -> bool {
    Schema::printed(schema, true).faults(document).is_empty()
}

fn small() -> Value {
    json!({
        "schema": "yamba-run/1",
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpus": 2, "page_size": 4096, "root": false},
        "benchmarks": [{
            "name": "x", "class": "x", "ports": [], "parameters": {"size": 8}, "processes": 1, "status": "ok", "valid": true,
            "median": 2.5, "samples": [2.5], "evidence": {}, "notes": [],
        }],
    })
}

#[test]
fn older_and_newer_documents_are_valid() {
    let schema = Schema::printed("yamba-run/1", false);
    let mut document = small();
    assert_eq!(schema.faults(&document), [""; 0]);
    document["benchmarks"][0]["colour"] = json!("grey");
    assert_eq!(schema.faults(&document), [""; 0]);
}

/// The schema rejects exactly the documents that `import` rejects.
#[test]
fn broken_document_is_invalid() {
    let schema = Schema::printed("yamba-run/1", false);
    let changes: [(&str, Value); 14] = [
        ("/schema", json!("yamba-run/2")),
        ("/id", json!("latest")),
        ("/machine", Value::Null),
        ("/machine/cpus", json!(-1)),
        ("/benchmarks", json!({})),
        ("/benchmarks/0/status", json!("fine")),
        ("/benchmarks/0/status", json!("invalid")),
        ("/benchmarks/0/valid", json!(false)),
        ("/benchmarks/0/median", Value::Null),
        ("/benchmarks/0/median", json!("2.5")),
        ("/benchmarks/0/samples", json!([2.5, null])),
        ("/benchmarks/0/confidence_interval", json!([1.0])),
        ("/benchmarks/0/parameters", json!([])),
        ("/benchmarks/0/processes", json!(1.5)),
    ];
    let mut yamba = Yamba::new().file("good.json", small().to_string());
    yamba.run("export good.json --format json").ok();
    for (place, value) in changes {
        let (parent, field) = place.rsplit_once('/').unwrap();
        let mut document = small();
        document.pointer_mut(parent).unwrap()[field] = value.clone();
        let faults = schema.faults(&document);
        assert!(!faults.is_empty(), "{place} {value}");
        yamba = yamba.file("bad.json", document.to_string());
        yamba.run("export bad.json --format json").refused(&["bad.json"]);
    }
}

#[test]
fn exported_document_is_valid() {
    let mut yamba = Yamba::new().file("small.json", small().to_string());
    let text = yamba.run("export small.json --format json").ok().out;
    is_run(&serde_json::from_str(&text).unwrap());
}

#[test]
fn list_of_runs_is_valid() {
    let mut yamba = Yamba::new().file("small.json", small().to_string());
    yamba.run("import small.json").ok();
    let listed: Value = serde_json::from_str(&yamba.run("runs --json").ok().out).unwrap();
    let schema = Schema::printed("yamba-runs/1", true);
    assert_eq!(schema.faults(&listed), [""; 0]);
    let mut broken = listed;
    broken[0]["colour"] = json!("grey");
    broken[0]["tags"] = Value::Null;
    assert_eq!(schema.faults(&broken).len(), 2);
}
