//! The command line of a Java application.

use std::path::Path;

/// A `java` command without the options that a prediction varies.
#[derive(Clone, Debug, PartialEq)]
pub struct JavaCommand {
    /// Options and arguments after `java`.
    pub arguments: Vec<String>,
    /// Options that were removed: heap sizes, collectors, logs.
    pub removed: Vec<String>,
}

impl JavaCommand {
    /// The command of an application. An error if it is not `java`.
    pub fn of(command: &[String]) -> Result<Self, String> {
        let (program, rest) = command.split_first().ok_or("no command")?;
        if Path::new(program)
            .file_name()
            .is_none_or(|name| name != "java")
        {
            return Err(format!(
                "{program} is not `java`: give the command of the JVM itself"
            ));
        }
        let mut arguments = Vec::new();
        let mut removed = Vec::new();
        let mut options = true;
        let mut is_value = false;
        for argument in rest {
            let ends = !is_value && (argument == "-jar" || !argument.starts_with('-'));
            is_value = matches!(
                argument.as_str(),
                "-cp" | "-classpath" | "--class-path" | "-p" | "--module-path" | "--add-modules"
            );
            options = options && !ends;
            if options && varies(argument) {
                removed.push(argument.clone());
            } else {
                arguments.push(argument.clone());
            }
        }
        Ok(Self { arguments, removed })
    }

    /// A name for the application: its jar or class.
    pub fn name(&self) -> String {
        let jar = self.arguments.iter().position(|a| a == "-jar");
        let of_jar = jar.and_then(|at| self.arguments.get(at + 1));
        let mut is_value = false;
        let class = self.arguments.iter().find(|a| {
            let found = !is_value && !a.starts_with('-');
            is_value = matches!(
                a.as_str(),
                "-cp" | "-classpath" | "--class-path" | "-p" | "--module-path"
            );
            found
        });
        let text = of_jar.or(class).map_or("java", String::as_str);
        let path = Path::new(text);
        let stem = if text.ends_with(".jar") || text.ends_with(".java") {
            path.file_stem()
        } else {
            path.file_name()
        };
        stem.unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn varies(option: &str) -> bool {
    let sizes = [
        "-Xms",
        "-Xmx",
        "-Xmn",
        "-Xlog",
        "-XX:MaxHeap",
        "-XX:InitialHeap",
        "-XX:NewSize",
        "-XX:MaxNewSize",
        "-XX:MaxRAM",
        "-XX:InitialRAM",
    ];
    let is_collector = (option.starts_with("-XX:+Use") || option.starts_with("-XX:-Use"))
        && option.ends_with("GC");
    is_collector || sizes.iter().any(|s| option.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> JavaCommand {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        JavaCommand::of(&words).unwrap()
    }

    #[test]
    fn options_of_heap_and_collector_are_removed_only_before_the_program() {
        let found = command("/opt/bin/java -Xmx1g -XX:+UseZGC -Dx=-Xmx2g -cp a.jar Main -Xmx3g");
        assert_eq!(
            found.arguments,
            ["-Dx=-Xmx2g", "-cp", "a.jar", "Main", "-Xmx3g"]
        );
        assert_eq!(found.removed, ["-Xmx1g", "-XX:+UseZGC"]);
        assert_eq!(found.name(), "Main");
        assert_eq!(command("java -jar dir/h2-2.3.jar -x").name(), "h2-2.3");
    }

    #[test]
    fn another_program_is_an_error() {
        assert!(JavaCommand::of(&["mvn".to_owned()]).is_err());
    }
}
