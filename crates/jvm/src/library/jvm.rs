//! A Java virtual machine, as a command line names it.

use std::path::Path;
use std::process::{Command, Output};

use serde::Deserialize;
use yamba_record::machine::Java;

use crate::library::command::words_of_variable;
use crate::library::{Fault, Jars, JavaCommand};

/// Variables whose options a virtual machine adds to those of its command.
const VARIABLES: [&str; 3] = ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"];

/// Options that keep the logs of the virtual machine away from standard output: the document of the
/// agent is there. Warnings stay.
const QUIET: [&str; 2] = ["-Xlog:disable", "-Xlog:all=warning:stderr"];

/// The program `java` with options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jvm {
    pub program: String,
    /// Options that figures depend on.
    pub options: Vec<String>,
}

/// The machine as the agent describes it.
#[derive(Debug, Deserialize)]
pub(crate) struct Identity {
    vendor: String,
    version: String,
    vm: String,
    collector: String,
}

impl Identity {
    pub(crate) fn java(self, options: &[String]) -> Java {
        Java {
            vendor: self.vendor,
            version: self.version,
            vm: self.vm,
            collector: self.collector,
            flags: Java::deciding(
                &[&options_of(|name| std::env::var(name).ok())[..], options].concat(),
            ),
        }
    }
}

impl Jvm {
    /// The machine of a text such as `java -XX:TieredStopAtLevel=1`, where quotes keep white space.
    /// `None`: the text is empty.
    pub fn from_text(text: &str) -> Option<Jvm> {
        let mut words = words_of_variable(text).into_iter();
        Some(Jvm { program: words.next()?, options: words.collect() })
    }

    /// The machine that runs a command.
    ///
    /// # Errors
    /// If the command does not begin with the program `java`.
    pub fn from_command(command: &[String]) -> Result<Jvm, Fault> {
        let command = JavaCommand::parse(command)?;
        Ok(Jvm { options: Java::deciding(&command.options), program: command.program })
    }

    /// The command in this machine. `more` are further options of the machine.
    ///
    /// # Errors
    /// If the command does not begin with the program `java`.
    pub fn command(&self, command: &[String], more: &[String]) -> Result<Vec<String>, Fault> {
        let mut command = JavaCommand::parse(command)?;
        command.options.retain(|word| !self.options.contains(word));
        let own = [&self.program].into_iter().chain(&self.options);
        let all = own.chain(more).cloned().chain(command.arguments());
        Ok(all.collect())
    }

    /// The output of a jar of Yamba with one argument. Its documents are ASCII, in any locale.
    pub(crate) fn output(
        &self,
        options: &[String],
        jar: &Path,
        argument: Option<&Path>,
    ) -> Result<Output, Fault> {
        let mut command = Command::new(&self.program);
        command.args(options).args(QUIET).arg("-jar").arg(jar);
        let output = command.args(argument).output();
        output.map_err(|e| Fault::program_failed(&self.program, &e))
    }

    /// The vendor, version and collector.
    ///
    /// # Errors
    /// If the program does not start.
    pub fn identify(&self, jars: &Jars) -> Result<Java, Fault> {
        let output = self.output(&self.options, &jars.agent, None)?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Fault::new(
                format!("{}: {text}", self.program),
                "the options must be those of this virtual machine",
            ));
        }
        let identity: Identity =
            serde_json::from_slice(&output.stdout).map_err(|e| Fault::bad_document(&e))?;
        Ok(identity.java(&self.options))
    }
}

/// The options in variables of the environment, which `variable` reads.
fn options_of(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let texts = VARIABLES.into_iter().filter_map(variable);
    texts.flat_map(|text| words_of_variable(&text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_environment_are_those_of_all_variables() {
        let variable = |name: &str| match name {
            "JAVA_TOOL_OPTIONS" => Some("-XX:TieredStopAtLevel=1 '-Dx=a b#c'".to_owned()),
            "_JAVA_OPTIONS" => Some("-Xint".to_owned()),
            _ => None,
        };
        let found = options_of(variable);
        assert_eq!(found, ["-XX:TieredStopAtLevel=1", "-Dx=a b#c", "-Xint"]);
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_of_command_are_those_before_its_class() {
        let command = words("/opt/jdk/bin/java -Xmx1g -cp . -XX:+UseSerialGC -jar app.jar -Xint");
        let jvm = Jvm::from_command(&command).unwrap();
        assert_eq!(jvm.options, ["-XX:+UseSerialGC"]);
        assert!(Jvm::from_command(&words("python3 app.py")).is_err());
    }

    #[test]
    fn quotes_keep_white_space() {
        let jvm = Jvm::from_text("'/opt/my jdk/bin/java' -Da=\"x y\" -Xint").unwrap();
        assert_eq!(jvm.program, "/opt/my jdk/bin/java");
        assert_eq!(jvm.options, ["-Da=x y", "-Xint"]);
        assert!(Jvm::from_text(" ").is_none());
    }

    #[test]
    fn other_machine_keeps_the_command_and_its_memory() {
        let other = Jvm::from_text("/new/java -XX:TieredStopAtLevel=1").unwrap();
        let command = other.command(
            &words("java -Xmx1g -jar app.jar -XX:TieredStopAtLevel=1"),
            &words("-javaagent:a"),
        );
        let command = command.unwrap();
        let expected = "/new/java -XX:TieredStopAtLevel=1 -javaagent:a -Xmx1g -jar app.jar -XX:TieredStopAtLevel=1";
        assert_eq!(command.join(" "), expected);
    }
}
