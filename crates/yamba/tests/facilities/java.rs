//! A Java program under the agent, and its costs measured by JMH. The jars are those of `make java`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Missing;
use crate::support::{Yamba, json};

const PROGRAM: &str = r#"
public class Words {
    public static void main(String[] arguments) {
        String text = "the quick brown fox jumps over the lazy dog";
        long sum = 0;
        for (int round = 0; round < 200000; round++) {
            sum += text.indexOf("cat", round % 3) + text.toUpperCase(java.util.Locale.ROOT).length();
        }
        System.out.println(sum);
    }
}
"#;

/// The program, compiled in the folder of the test.
fn prepared() -> Result<Yamba, Missing> {
    let jars = Path::new(env!("CARGO_BIN_EXE_yamba")).with_file_name("jars");
    let yamba = Yamba::new()
        .file("Words.java", PROGRAM)
        .env("YAMBA_JAVA", &jars);
    if !jars.join("benchmarks.jar").is_file() {
        return Err(Missing::new(
            "`make java` has not built the jars: mvn or a JDK is missing",
        ));
    }
    let mut compiler = Command::new("javac");
    let compiled = compiler
        .arg("Words.java")
        .current_dir(yamba.folder.path())
        .status();
    match compiled {
        Ok(status) if status.success() => Ok(yamba),
        _ => Err(Missing::new("javac is missing: install a JDK")),
    }
}

pub fn java_program_is_traced_and_predicted() -> Result<(), Missing> {
    let mut yamba = prepared()?;
    let said = yamba
        .run("trace --java -o words.vector -- java -cp . Words")
        .ok()
        .err;
    assert!(
        said.contains("calls of the class library each run"),
        "{said}"
    );
    let text = std::fs::read_to_string(yamba.folder.path().join("words.vector")).unwrap();
    let vector: Value = serde_json::from_str(&text).unwrap();
    let uses = vector["primitives"].as_array().unwrap();
    let of = |name: &str| uses.iter().find(|used| used["name"] == name).unwrap();
    let index = of("java.lang.String.indexOf(String,int)");
    assert_eq!(
        (index["size"].as_f64(), index["count"].as_f64()),
        (Some(43.0), Some(200_000.0))
    );
    let upper = of("java.lang.String.toUpperCase(Locale)");
    assert!(upper["time_ns"].as_f64() > Some(0.0), "{upper}");
    yamba.run("java measure --quick --for words.vector").ok();
    let found = json(&mut yamba, "predict words.vector --json");
    let prediction = &found["predictions"][0];
    assert_eq!(prediction["is_as_traced"], true);
    assert_eq!(prediction["predicted_ns"], vector["kernel_ns"]);
    Ok(())
}
