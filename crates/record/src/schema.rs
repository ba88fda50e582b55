//! Rules of the JSON Schema of a run that its types cannot express.

use schemars::{Schema, json_schema};

/// Adds the rule that status and figure agree, which `import` checks too.
pub(crate) fn good_has_a_figure(schema: &mut Schema) {
    let rule = json_schema!({
        "if": {"properties": {"status": {"const": "ok"}}},
        "then": {"properties": {"valid": {"const": true}, "median": {"type": "number"}}, "required": ["median"]},
        "else": {"properties": {"valid": {"const": false}}},
    });
    for (key, value) in rule.as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
}
