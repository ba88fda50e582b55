//! Files of another host: evidence that fails where it must. Where a server or a name space is missing, the benchmark says so, and so does the test.

use serde_json::Value;

use crate::support::{Yamba, has};

/// Classes that do something else than what they extend says, with the evidence that shows it.
const WRONG: [(&str, &str, &str, &str); 4] = [
    (
        "cache_kept",
        "lat_remote_read_sshfs",
        "received_per_byte",
        "void forget() { if (mounted_file.file < 0) super::forget(); }",
    ),
    (
        "cache_filled",
        "lat_remote_read_sshfs",
        "client_pages_before_pass",
        "void forget()
         {
             super::forget();
             for (size_t at = 0; at < size; at += block) super::read_at(at);
             mounted_file.look(size);
         }",
    ),
    (
        "another_block",
        "lat_remote_read_smb",
        "blocks_right",
        "const byte_t *read_at(size_t offset) { return super::read_at(offset == 0 ? block : 0); }",
    ),
    (
        "nothing_read",
        "lat_remote_read_nfs",
        "received_per_byte",
        "const byte_t *read_at(size_t offset) { return content() + offset; }",
    ),
];

#[test]
fn evidence_fails_where_it_must() {
    if !has("g++") {
        return;
    }
    for (name, base, evidence, body) in WRONG {
        let text =
            format!("/// It is wrong.\nyamba {name} extends {base} on linux\n{{\n{body}\n}}\n");
        let mut yamba = Yamba::new().file("wrong.yamba", text);
        let answer = yamba.run("run --quick --json wrong.yamba");
        let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
        for entry in run["benchmarks"].as_array().unwrap() {
            if entry["status"] == "skipped" {
                eprintln!("{base} is left out: {}", entry["notes"]);
                continue;
            }
            assert_eq!(entry["status"], "invalid", "{name}: {}", entry["notes"]);
            let notes = entry["notes"].to_string();
            assert!(
                notes.contains(&format!("{evidence} is ")),
                "{name}: {notes}"
            );
        }
    }
}
