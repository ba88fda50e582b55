//! The command line of a Java program. `java` documents its argument files under "java Command-Line
//! Argument Files".

use std::collections::VecDeque;
use std::fs;

use crate::library::Fault;

/// Options whose value is the next argument.
const WITH_VALUE: [&str; 16] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--enable-native-access",
    "-d",
    "--describe-module",
    "--source",
];

/// A `java` command in its parts. The words of an argument file (`@FILE`) stand in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaCommand {
    pub program: String,
    /// Options of the virtual machine, with their values.
    pub options: Vec<String>,
    /// The class with its arguments. A jar and a module follow their option `-jar` or `-m`.
    pub application: Vec<String>,
}

impl JavaCommand {
    /// Divides a command. An argument file that cannot be read counts as an option.
    ///
    /// # Errors
    /// If the command does not begin with the program `java`.
    pub fn parse(command: &[String]) -> Result<JavaCommand, Fault> {
        let program = command.first().cloned().unwrap_or_default();
        if !is_java(&program) {
            return Err(Fault::new(
                format!("the command begins with {program:?}, which is not `java`"),
                "name the virtual machine first, as in: java -jar app.jar",
            ));
        }
        let (options, application) = divided(command.iter().skip(1).cloned());
        Ok(JavaCommand { program, options, application })
    }

    /// Adds the options that the virtual machine would take from variables of the environment,
    /// which `variable` reads. Of an option that is there twice, the last one counts: those of
    /// `_JAVA_OPTIONS` win against the command, and the command wins against the others.
    pub fn add_variables(&mut self, variable: impl Fn(&str) -> Option<String>) {
        let words = |name: &str| words_of_variable(&variable(name).unwrap_or_default());
        let mut before = words("JAVA_TOOL_OPTIONS");
        // `java` reads this one as a part of its command line, with argument files.
        let (options, application) = divided(words("JDK_JAVA_OPTIONS").into_iter());
        before.extend(options.into_iter().chain(application));
        self.options.splice(0..0, before);
        self.options.extend(words("_JAVA_OPTIONS"));
    }

    /// All words after the program.
    pub fn arguments(&self) -> Vec<String> {
        [&self.options[..], &self.application].concat()
    }

    /// A name for the application: its class, or its jar or source file without folder and suffix.
    pub fn name(&self) -> String {
        let words = self.application.iter();
        let mut words = words.map(|word| word.strip_prefix("--module=").unwrap_or(word));
        let main = words.find(|word| !word.starts_with('-')).unwrap_or("java");
        let name = main.rsplit('/').next().unwrap_or(main);
        let suffix = [".jar", ".java"].into_iter();
        let stem = suffix.filter_map(|s| name.strip_suffix(s)).next();
        stem.unwrap_or(name).to_owned()
    }
}

/// `java` and `/opt/java17`, but not `javac`.
fn is_java(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let rest = name.strip_prefix("java");
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// The options of a command's words, and the application with its arguments.
fn divided(words: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let mut options = Vec::new();
    let mut application = Vec::new();
    let mut words = words.map(|word| (word, false)).collect();
    while let Some(word) = next(&mut words) {
        if WITH_VALUE.contains(&word.as_str()) {
            options.push(word);
            options.extend(next(&mut words));
        } else if ["-jar", "-m", "--module"].contains(&word.as_str()) {
            application.push(word);
        } else if word.starts_with("--module=") || !word.starts_with(['-', '@']) {
            application.push(word);
            application.extend(words.drain(..).map(|(word, _)| word));
        } else {
            options.push(word);
        }
    }
    (options, application)
}

/// The next word of a command. A word is marked if an argument file has it: it names no further
/// file. An argument file gives way to its words.
fn next(words: &mut VecDeque<(String, bool)>) -> Option<String> {
    loop {
        let (word, is_of_file) = words.pop_front()?;
        let file = word.strip_prefix('@').filter(|_| !is_of_file);
        let Some(Ok(text)) = file.map(fs::read_to_string) else {
            return Some(word);
        };
        for word in split(&text).into_iter().rev() {
            words.push_front((word, true));
        }
    }
}

/// The words of a variable: white space separates them, and quotes keep it.
pub(crate) fn words_of_variable(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The words of an argument file.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), '\\') => word.get_or_insert_default().extend(escaped(&mut characters)),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') => while characters.next_if(|c| *c != '\n').is_some() {},
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The character after a backslash in quotes. `None`: the line goes on after the white space that
/// begins the next one.
fn escaped(rest: &mut std::iter::Peekable<std::str::Chars>) -> Option<char> {
    match rest.next()? {
        '\n' => {
            while rest.next_if(|c| c.is_whitespace()).is_some() {}
            None
        }
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'f' => Some('\x0c'),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> JavaCommand {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        JavaCommand::parse(&words).unwrap()
    }

    #[test]
    fn name_is_that_of_class_jar_or_module() {
        for (text, name) in [
            ("java -cp . Words", "Words"),
            ("java -Xmx1g --class-path a.jar:b org.x.Words -jar z", "org.x.Words"),
            ("/opt/bin/java -jar dir/h2-2.3.jar -x y", "h2-2.3"),
            ("java -jar -Dx=1 app.jar", "app"),
            ("java -p mods -m mod/org.x.Main in", "org.x.Main"),
            ("java --add-modules a --module=mod/Main in", "Main"),
            ("java --source 21 dir/Words.java", "Words"),
            ("java -version", "java"),
        ] {
            assert_eq!(command(text).name(), name, "{text}");
        }
    }

    #[test]
    fn options_end_at_the_application() {
        let found = command("java -Xmx1g -cp -odd Main -Xint @none");
        assert_eq!(found.options, ["-Xmx1g", "-cp", "-odd"]);
        assert_eq!(found.application, ["Main", "-Xint", "@none"]);
        let found = command("java -jar -Xint app.jar -Xmx1g");
        assert_eq!(found.options, ["-Xint"]);
        assert_eq!(found.arguments().join(" "), "-Xint -jar app.jar -Xmx1g");
    }

    /// The order in which OpenJDK 17 applies them.
    #[test]
    fn options_of_variables_stand_where_the_machine_reads_them() {
        let mut found = command("java -Da=4 Main -x");
        let variable = |name: &str| match name {
            "JAVA_TOOL_OPTIONS" => Some("-Da=1 '-Db=x y'\t-Dc=C:\\d#e".to_owned()),
            "JDK_JAVA_OPTIONS" => Some("-Da=3 --add-opens \"a/b=ALL\"".to_owned()),
            "_JAVA_OPTIONS" => Some("-Da=5".to_owned()),
            _ => None,
        };
        found.add_variables(variable);
        let options = [
            "-Da=1",
            "-Db=x y",
            "-Dc=C:\\d#e",
            "-Da=3",
            "--add-opens",
            "a/b=ALL",
            "-Da=4",
            "-Da=5",
        ];
        assert_eq!(found.options, options);
        assert_eq!(found.application, ["Main", "-x"]);
        let same = found.clone();
        found.add_variables(|_| None);
        assert_eq!(found, same);
    }

    #[test]
    fn another_program_is_an_error() {
        for text in ["mvn", "javac Words.java", "javaw/x"] {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert!(JavaCommand::parse(&words).is_err(), "{text}");
        }
        assert!(JavaCommand::parse(&[]).is_err());
        assert_eq!(command("/usr/bin/java17 Main").program, "/usr/bin/java17");
    }

    /// The expected words are those that OpenJDK 17 gives to the program.
    #[test]
    fn words_of_an_argument_file_stand_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("args");
        let text =
            "-Dx=\"a \\\"b\" # comment\n'-Dy=c\\td\\\n   e' -Dz=f\\g\n-cp . Words \"\" @two\n";
        fs::write(&file, text).unwrap();
        let found = command(&format!("java -Xint @{0} @{0}", file.display()));
        let options = ["-Xint", "-Dx=a \"b", "-Dy=c\tde", "-Dz=f\\g", "-cp", "."];
        assert_eq!(found.options, options);
        let last = format!("@{}", file.display());
        assert_eq!(found.application, ["Words", "", "@two", &last]);
        fs::write(&file, "-cp").unwrap();
        let found = command(&format!("java @{} . Words", file.display()));
        assert_eq!(found.options, ["-cp", "."]);
        let found = command("java @/no/such/file Words");
        assert_eq!((found.options.len(), found.name()), (1, "Words".to_owned()));
    }
}
