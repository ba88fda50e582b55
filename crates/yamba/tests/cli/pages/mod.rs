//! Every command and every program of README.md, CONTRIBUTING.md and docs/ runs as an ordinary
//! user, and prints what the page shows, by its form. README.md and pages with commands for root
//! run as root, too. A page runs in a fresh folder, from its first block to its last.
//! CONTRIBUTING.md says how to write such a block.

mod form;
pub mod page;
mod place;

use std::cmp::Reverse;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use self::page::{Block, BlockKind, Command, Page, calls, commands};
pub use self::place::{Cache, Installed, ORDINARY, is_root};
use self::place::{Done, Folder};

/// Marks of a block with commands.
const OF_COMMANDS: &[&str] = &["not-run", "except", "as-root", "needs", "on", "exact", "status"];

/// Marks that a block may have, by its language.
const MARKS: [(&str, &[&str]); 11] = [
    ("console", OF_COMMANDS),
    ("sh", OF_COMMANDS),
    ("yamba", &["members", "terms", "file"]),
    ("toml", &["file"]),
    ("json", &["file"]),
    ("cpp", &[]),
    ("rust", &[]),
    ("java", &[]),
    ("python", &["not-run", "file"]),
    ("sql", &["not-run"]),
    ("text", &[]),
];

/// Number of attempts for a measuring command, since a brief disturbance can make a figure invalid.
const ATTEMPTS: usize = 3;

/// Number of blocks whose time is printed.
const LONGEST: usize = 10;

/// The results of the blocks of some pages.
#[derive(Default)]
pub struct Report {
    run: usize,
    faults: Vec<String>,
    /// Commands that a page excepts, with its reason. They are only parsed.
    not_run: Vec<String>,
    /// Blocks that this machine or user cannot run, as the page says.
    left_out: Vec<String>,
    /// Blocks that need a compiler or a privilege that is missing here.
    lacking: Vec<String>,
    /// The time of each block, with its place.
    durations: Vec<(Duration, String)>,
}

impl Report {
    fn add(&mut self, page: Report) {
        self.run += page.run;
        self.faults.extend(page.faults);
        self.not_run.extend(page.not_run);
        self.left_out.extend(page.left_out);
        self.lacking.extend(page.lacking);
        self.durations.extend(page.durations);
    }

    /// Fails with all faults. Lists the commands that were not run and the blocks that took
    /// longest.
    #[track_caller]
    pub fn check(mut self) {
        for line in self.not_run.iter().chain(&self.left_out) {
            eprintln!("{line}");
        }
        let (run, not_run) = (self.run, self.not_run.len());
        eprintln!(
            "{run} commands and programs were run, {not_run} were only parsed; the longest blocks:"
        );
        self.durations.sort_by_key(|(time, _)| Reverse(*time));
        for (time, place) in self.durations.iter().take(LONGEST) {
            eprintln!("{:6.1} s  {place}", time.as_secs_f64());
        }
        let faults = &self.faults;
        assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
        assert!(run > 0, "no command was found");
        let lacking = &self.lacking;
        assert!(lacking.is_empty(), "{}", lacking.join("\n"));
    }
}

/// Walks the pages that are `for_user`, as many at a time as there are processors.
pub fn walk(installed: &Installed, for_user: impl Fn(&Page) -> bool) -> Report {
    installed.precompile();
    let pages = page::all();
    let is_wanted = |page: &&Page| is_named(page) && for_user(page);
    let wanted: Vec<&Page> = pages.iter().filter(is_wanted).collect();
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    let walk = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(page) = wanted.get(index) else {
                return;
            };
            let mut report = Report::default();
            Walk::new(page, installed).walk(&mut report);
            reports.lock().unwrap().push((index, report));
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(walk))));
    let mut reports = reports.into_inner().unwrap();
    reports.sort_by_key(|(index, _)| *index);
    let mut all = Report::default();
    for (_, report) in reports {
        all.add(report);
    }
    all
}

/// `YAMBA_TEST_PAGE=tutorial` runs a single page.
fn is_named(page: &Page) -> bool {
    static WANTED: OnceLock<Option<String>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| std::env::var("YAMBA_TEST_PAGE").ok());
    wanted.as_ref().is_none_or(|name| page.name.contains(name))
}

/// One page in one folder.
struct Walk<'a> {
    page: &'a Page,
    folder: Folder<'a>,
    is_root: bool,
}

impl<'a> Walk<'a> {
    fn new(page: &'a Page, installed: &'a Installed) -> Walk<'a> {
        Walk { page, folder: installed.folder(), is_root: installed.is_root() }
    }

    fn walk(&self, report: &mut Report) {
        for block in &self.page.blocks {
            let started = Instant::now();
            let outcome = self.block(block, report);
            let place = self.page.place(block.line);
            report.durations.push((started.elapsed(), place.clone()));
            if let Err(fault) = outcome {
                report.faults.push(format!("{place}: {fault}"));
            }
        }
    }

    fn block(&self, block: &Block, report: &mut Report) -> Result<(), String> {
        let BlockKind::Fenced(language) = &block.kind else {
            return self.script(&block.text);
        };
        let known = MARKS.iter().find(|(name, _)| name == language);
        let Some((_, marks)) = known else {
            return Err(format!("a block cannot be in the language `{language}`"));
        };
        if let Some(mark) = block.marks.unknown(marks) {
            return Err(format!("a `{language}` block has no mark `{mark}`"));
        }
        match language.as_str() {
            "console" | "sh" => self.commands(block, report),
            "yamba" => self.program(block, report),
            "text" if block.text.lines().any(|l| l.starts_with("$ ")) => {
                Err("commands belong into a `console` block, which is run".to_owned())
            }
            _ => {
                if language == "json" {
                    let document = serde_json::from_str::<serde_json::Value>(&block.text);
                    document.map_err(|fault| format!("this is no JSON: {fault}"))?;
                }
                if let Some(name) = block.marks.get("file") {
                    self.folder.write(name, &block.text);
                }
                Ok(())
            }
        }
    }

    /// Runs a hidden script that prepares the next commands.
    fn script(&self, text: &str) -> Result<(), String> {
        let done = self.folder.run(text);
        done.is(0, "the hidden script")
    }

    fn commands(&self, block: &Block, report: &mut Report) -> Result<(), String> {
        let all = commands(block);
        if all.is_empty() {
            return Err("this block has no command".to_owned());
        }
        if let Some(reason) = self.not_run(block)? {
            return all.iter().try_for_each(|c| self.parse(c, &reason, report));
        }
        let place = self.page.place(block.line);
        let other = |isa: &&str| *isa != std::env::consts::ARCH;
        if let Some(isa) = block.marks.get("on").filter(other) {
            report.left_out.push(format!("{place}: this is no {isa}"));
            return Ok(());
        }
        if let Some(program) = self.missing(block) {
            report.lacking.push(format!("{place}: {program} is missing"));
            return Ok(());
        }
        let status = block.marks.get("status").unwrap_or("0");
        let last: i32 = status.parse().map_err(|_| format!("no status: {status}"))?;
        for (i, command) in all.iter().enumerate() {
            if let Some(reason) = excepted(block, command)? {
                self.parse(command, reason, report)?;
                continue;
            }
            report.run += 1;
            let expected = if i + 1 == all.len() { last } else { 0 };
            self.command(command, expected, block.marks.has("exact"), report)
                .map_err(|fault| Self::said(command, &fault))?;
        }
        Ok(())
    }

    /// The reason why no command of the block runs.
    fn not_run(&self, block: &Block) -> Result<Option<String>, String> {
        let as_root = block.marks.get("as-root");
        let not_run = block.marks.get("not-run");
        if [as_root, not_run].into_iter().flatten().any(|r| r.trim().is_empty()) {
            return Err("`not-run` and `as-root` need a reason".to_owned());
        }
        let as_root = as_root.filter(|_| !self.is_root);
        Ok(not_run.map_or_else(
            || as_root.map(|reason| format!("only as root: {reason}")),
            |reason| Some(reason.to_owned()),
        ))
    }

    /// The first program that the block needs but this machine lacks.
    fn missing<'b>(&self, block: &'b Block) -> Option<&'b str> {
        let needed = block.marks.get("needs").unwrap_or_default();
        let look = |p: &str| match p.strip_suffix(".jar") {
            Some(_) => format!("test -e $(dirname $(command -v yamba))/jars/{p}"),
            None => format!("command -v {p}"),
        };
        let is_here = |p: &&str| self.folder.run(&look(p)).status == 0;
        needed.split(' ').filter(|p| !p.is_empty()).find(|p| !is_here(p))
    }

    fn said(command: &Command, fault: &str) -> String {
        format!("line {}: `{}`\n{fault}", command.line, command.text)
    }

    fn command(
        &self,
        command: &Command,
        expected: i32,
        is_exact: bool,
        report: &mut Report,
    ) -> Result<(), String> {
        let text = shortened(command);
        let place = self.page.place(command.line);
        if command.shown.is_empty() {
            let done = self.folder.run(&text);
            let skipped = form::skipped(&done.printed);
            report.left_out.extend(skipped.iter().map(|s| format!("{place}: {s}")));
            return done.answers(&command.text, expected);
        }
        let mut held = Err(String::new());
        for _ in 0..if is_measuring(&text) { ATTEMPTS } else { 1 } {
            let done = self.folder.run(&text);
            let skipped = form::skipped(&done.printed);
            if let Some(reason) = skipped.first().filter(|_| done.status == 0) {
                report.lacking.push(format!("{place}: {reason}"));
                return Ok(());
            }
            held = done
                .is(expected, "the command")
                .and_then(|()| form::compare(&command.shown, &done.printed, is_exact));
            if held.is_ok() {
                break;
            }
        }
        held
    }

    /// Requests the help of each call with its options, since an unknown option is rejected first.
    fn parse(&self, command: &Command, reason: &str, report: &mut Report) -> Result<(), String> {
        let place = self.page.place(command.line);
        let line = format!("{place}: `{}` is not run: {reason}", command.text);
        report.not_run.push(line);
        for call in calls(&command.text) {
            // Options after `--` belong to another program.
            let own = call.split(" -- ").next().unwrap_or(&call);
            let done = self.folder.run(&format!("{own} --help"));
            done.is(0, &call).map_err(|fault| Self::said(command, &fault))?;
        }
        Ok(())
    }

    /// Writes a complete program to a file and measures it briefly. A program that cannot be
    /// measured here is only checked.
    fn program(&self, block: &Block, report: &mut Report) -> Result<(), String> {
        let marks = &block.marks;
        let is_part = marks.has("members") || marks.has("terms");
        let name = match marks.get("file") {
            Some(name) => name.to_owned(),
            None if is_part || marks.error().is_some() => return Ok(()),
            None => format!("{}.yamba", class(&block.text)?),
        };
        self.folder.write(&name, &block.text);
        if marks.error().is_some() {
            return Ok(());
        }
        report.run += 1;
        let listed = self.folder.run(&format!("yamba list {name} --json"));
        let script = match listed.printed.contains("\"runs_here\": true") {
            true => format!("yamba run {name} --quick"),
            false => format!("yamba check {name}"),
        };
        self.folder.run(&script).is(0, &script)
    }
}

/// The first class of a program, which gives the file its name.
fn class(text: &str) -> Result<&str, String> {
    let after = text.lines().find_map(|line| line.strip_prefix("yamba "));
    let words = after.unwrap_or_default().split_whitespace();
    let mut names = words.skip_while(|word| *word == "abstract");
    names.next().ok_or("this program has no class".to_owned())
}

/// The reason why a command of the block does not run, from `except="BEGINNING: REASON"` with
/// several separated by `; `.
fn excepted<'a>(block: &'a Block, command: &Command) -> Result<Option<&'a str>, String> {
    let all = block.marks.get("except").unwrap_or_default();
    for one in all.split("; ").filter(|one| !one.is_empty()) {
        let (beginning, reason) = one
            .split_once(": ")
            .ok_or_else(|| format!("`except` needs BEGINNING: REASON, not `{one}`"))?;
        if command.text.starts_with(beginning) {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

fn is_measuring(command: &str) -> bool {
    let measuring = ["yamba run ", "yamba time ", "yamba compare "];
    measuring.iter().any(|m| command.starts_with(m))
}

/// A shorter command for the test: less time for each benchmark, and one launch where the page
/// shows no output.
fn shortened(command: &Command) -> String {
    let plans = ["--quick", "--time", "--thorough", "--launches", "--dry-run"];
    let is_short = plans.iter().any(|plan| command.text.contains(plan));
    let plan = if command.shown.is_empty() { "--time 0.3s --launches 1" } else { "--time 1s" };
    if is_short {
        return command.text.clone();
    }
    command.text.replace("yamba run ", &format!("yamba run {plan} "))
}

impl Done {
    /// Checks the exit status of a command with compared output, or of a program.
    fn is(&self, expected: i32, of: &str) -> Result<(), String> {
        let is_disturbed = self.status == 1 && form::is_only_disturbed(&self.printed);
        if self.status == expected || expected == 0 && is_disturbed {
            return Ok(());
        }
        let (status, printed) = (self.status, &self.printed);
        Err(format!("  {of} ended with status {status} in place of {expected}:\n{printed}"))
    }

    /// Checks the exit status of a command whose output is not compared. Status 1 is accepted for
    /// an answer (an invalid figure, a failed gate), but not for a crash. A study may write its
    /// answer to a file. On a busy machine, a fleet has too few undisturbed figures to compare.
    fn answers(&self, command: &str, expected: i32) -> Result<(), String> {
        let may_be_disturbed = ["yamba study ", "yamba fleet report "];
        let has_answer = may_be_disturbed.iter().any(|start| command.starts_with(start))
            || form::has_answer(&self.printed);
        let is_crash = self.printed.contains("CRASHED");
        if expected == 0 && self.status == 1 && has_answer && !is_crash {
            return Ok(());
        }
        self.is(expected, "the command")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Report {
        let page = Page::parse("page.md".to_owned(), text);
        let installed = Installed::new(Cache::for_user(is_root().then_some(ORDINARY)));
        let mut report = Report::default();
        Walk::new(&page, &installed).walk(&mut report);
        report
    }

    /// Each block of this page has a different fault, and each is reported.
    #[test]
    fn each_faulty_block_is_reported() {
        let blocks = [
            ("```fortran\n```", "in the language `fortran`"),
            ("```\n```", "in the language ``"),
            ("```sh exactly\ntrue\n```", "no mark `exactly`"),
            ("```sh\n\n```", "no command"),
            ("```sh not-run=\"\"\ntrue\n```", "need a reason"),
            ("```sh not-run=\"x\"\nyamba run --quik\n```", "'--quik'"),
            ("```sh except=\"yamba run\"\ntrue\n```", "BEGINNING: REASON"),
            ("```sh\nyamba nonsense\n```", "status 2 in place of 0"),
            ("```sh\nfalse\n```", "status 1 in place of 0"),
            ("```sh status=1\ntrue\n```", "status 0 in place of 1"),
            ("```console\n$ echo a b\na c\n```", "    > a c\n"),
            (
                "```console\n$ printf 'a\\nb\\n'\na\n```",
                "  the command printed:\n      a\n      b\n",
            ),
            ("```json\n{\n```", "no JSON"),
            ("```text\n$ yamba runs\n```", "`console` block"),
            ("```yamba\n\n```", "no class"),
            ("```yamba\nyamba a { nonsense }\n```", "yamba check a.yamba ended with status 2"),
            ("<!-- run first:\nfalse\ntrue\n-->", "the hidden script ended with status 1"),
        ];
        let texts: Vec<&str> = blocks.iter().map(|(text, _)| *text).collect();
        let report = report(&texts.join("\n"));
        assert_eq!(report.faults.len(), blocks.len(), "{:#?}", report.faults);
        for (fault, (text, expected)) in report.faults.iter().zip(blocks) {
            assert!(fault.contains(expected), "{text}\n{fault}");
        }
    }

    #[test]
    fn files_of_a_page_last_from_block_to_block() {
        let report = report(
            "<!-- run first:\necho 12 > a\n-->\n```toml file=b\nx = 1\n```\n```console\n$ cat a b\n7\nx = 2\n```\n```sh needs=no-such-program\nfalse\n```\n```sh except=\"false: it fails\"\nfalse\n```\n",
        );
        assert!(report.faults.is_empty(), "{:#?}", report.faults);
        assert_eq!((report.run, report.not_run.len()), (1, 1));
        assert!(report.lacking[0].contains("no-such-program is missing"));
    }
}
