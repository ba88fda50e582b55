//! Results go to standard output, messages to standard error. Colours are used on terminals only.
//! All texts pass through this module, which removes terminal control characters.

use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::NamedTempFile;
use yamba_harness::Stop;
use yamba_record::system_error::reason;
use yamba_record::{Run, document};
use yamba_report::View;
use yamba_report::terminal::{self, Terminal};
use yamba_session::{ErrorMessage, Failure};
use yamba_store::inputs;

use super::Answer;
use super::printable::{Escaped, harmless};
use crate::cli::printable::one_line;

pub(super) use yamba_report::terminal::{columns, entries, table, widths};

/// Writes a result.
pub(super) fn result(text: &str) -> Result<(), Failure> {
    let is_coloured = colour_on(&io::stdout());
    written(|out| out.write_all(harmless(text, is_coloured).as_bytes()))
}

/// Writes a file's content. The bytes are unchanged unless the output is a terminal.
pub(super) fn content(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return result(text);
    }
    written(|out| out.write_all(text.as_bytes()))
}

/// Writes a result as JSON in pieces. The complete text of a long run would take more memory than
/// the run itself.
pub(super) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    written(|out| {
        let mut out = BufWriter::new(Escaped(out));
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.flush()
    })
}

/// Writes a result as JSON or as text.
pub(super) fn json_or_text<T: serde::Serialize>(
    is_json: bool,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    if is_json { json(value) } else { result(&text(value)) }
}

/// Writes a result as JSON or as its view.
pub(super) fn json_or_view<T: serde::Serialize>(
    is_json: bool,
    value: &T,
    view: impl FnOnce(&T) -> View,
) -> Result<(), Failure> {
    json_or_text(is_json, value, |value| text(&view(value)))
}

/// A view as text for the terminal on standard output.
pub(super) fn text(view: &View) -> String {
    text_within(view, width())
}

/// A view as text of this width.
pub(super) fn text_within(view: &View, width: Option<usize>) -> String {
    terminal::text(view, Terminal { width, has_colours: colour_on(&io::stdout()) })
}

/// Writes the document of a run in pieces.
pub(super) fn document(run: &Run) -> Result<(), Failure> {
    written(|out| {
        let mut out = BufWriter::new(Escaped(out));
        document::write(run, &mut out)?;
        out.flush()
    })
}

/// Notes that timed batches are missing.
pub(super) fn note_without_batches(run: &Run) {
    let lacking = yamba_store::export::without_batches(run);
    if lacking > 0 {
        let all = run.benchmarks.len();
        note(&format!(
            "note: {lacking} of {all} entries have no raw batches here: their document was written without --raw\n"
        ));
    }
}

/// Refuses a run of which a table of timed batches would have no line.
pub(super) fn check_batches(run: &Run) -> Result<(), Failure> {
    if run.benchmarks.iter().any(|b| !b.records.is_empty()) {
        return Ok(());
    }
    Err(if yamba_store::export::without_batches(run) > 0 {
        Failure::new("there are no raw batches: the document was written without --raw")
            .help("`yamba run --json --raw` and `yamba export --format json` write them")
    } else {
        Failure::new("there are no raw batches: only benchmarks that Yamba timed have them")
            .help("`yamba export --format csv` writes a line for each entry")
    })
}

/// Writes to standard output. A closed reader, as in `yamba list | head`, is no failure and does
/// not change the exit status.
pub(super) fn written(
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(ToReader::default());
    let written = write(&mut out).and_then(|()| out.flush());
    match written {
        Err(_) if out.get_ref().has_gone => Ok(()),
        Err(e) => {
            let message = format!("cannot write to standard output: {}", reason(&e));
            Err(Failure::new(message).help("make room where it goes, or send it elsewhere"))
        }
        Ok(()) => Ok(()),
    }
}

/// Standard output that remembers whether its reader has closed it, since callers may report that
/// error as their own.
#[derive(Default)]
struct ToReader {
    has_gone: bool,
}

impl ToReader {
    fn seen<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|e| self.has_gone |= e.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl Write for ToReader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = io::stdout().write(bytes);
        self.seen(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = io::stdout().flush();
        self.seen(done)
    }
}

/// Writes a temporary file, then renames it to `path` when it is complete.
pub(super) fn whole(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot = |e: io::Error| cannot_write_another(path, &e);
    let (beside, target) = temporary(path)?;
    let mut out = BufWriter::new(beside.as_file());
    write(&mut out).map_err(cannot)?;
    out.flush().map_err(cannot)?;
    drop(out);
    beside.as_file().sync_all().map_err(cannot)?;
    beside.persist(&target).map_err(|e| cannot(e.error))?;
    Ok(())
}

/// Fails now for most reasons why [`whole`] could not write to `path` later. A command that
/// measures first calls it, so that no measurement is lost. `-` is standard output.
pub(super) fn check(path: Option<&Path>) -> Result<(), Failure> {
    match path {
        Some(path) if path != Path::new("-") => temporary(path).map(drop),
        _ => Ok(()),
    }
}

/// A temporary file that can replace `path`, and its target.
fn temporary(path: &Path) -> Result<(NamedTempFile, PathBuf), Failure> {
    // The target of a symbolic link is replaced, not the link itself.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        return Err(Failure::new(format!("{} is no file that could be replaced", path.display()))
            .help("name another file, or send standard output there"));
    }
    if let Some(what) = inputs::irreplaceable(&target) {
        return Err(Failure::new(format!("{} is {what}: nothing is written", path.display()))
            .help("name another file"));
    }
    let beside = beside(&target).map_err(|e| cannot_write_another(path, &e))?;
    Ok((beside, target))
}

fn cannot_write_another(path: &Path, error: &io::Error) -> Failure {
    cannot_write(path, error).help("name another file")
}

/// Writes a page to a file and notes its size. `-` is standard output.
pub(super) fn page(text: &str, path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return content(text);
    }
    whole(path, |out| out.write_all(text.as_bytes()))?;
    note(&format!("{}: {} bytes\n", path.display(), text.len()));
    Ok(())
}

/// Creates a file with this text. An existing file is not overwritten.
pub(super) fn new_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = fs::File::create_new(path).and_then(|mut file| {
        // Remove a partly written file, which would block the next attempt.
        let written = file.write_all(text.as_bytes());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    });
    written.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Failure::new(format!("{} exists already", path.display()))
            .help("nothing is overwritten: name another file"),
        io::ErrorKind::StorageFull => cannot_write(path, &e).help("make room on its disk"),
        _ => {
            cannot_write(path, &e).help("its folder must exist and be writable: name another file")
        }
    })
}

/// Names the parts of another program's results that were not understood.
pub(super) fn note_left_out(texts: &[String]) {
    const MOST: usize = 5;
    for text in texts.iter().take(MOST) {
        note(&format!("warning: left out: {}\n", text.replace('\n', " ")));
    }
    if texts.len() > MOST {
        note(&format!("warning: left out: {} more\n", texts.len() - MOST));
    }
}

/// The failure to write a file or a folder.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> ErrorMessage {
    let (path, reason) = (path.display(), reason(error));
    Failure::new(format!("cannot write {path}: {reason}"))
}

/// Creates a temporary file in the folder of `target`. It has the permissions of the file that it
/// replaces, or those of a new file. A read-only file is not replaced.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .prefix(".yamba-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    if target.is_file() {
        let replaced = fs::File::options().write(true).open(target)?;
        let rights = replaced.metadata()?.permissions();
        file.as_file().set_permissions(rights)?;
    }
    Ok(file)
}

/// The width of the terminal on standard output; `None` if it is not a terminal.
pub(super) fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Writes a message to standard error. Write errors are ignored, since they cannot be reported.
pub(super) fn note(text: &str) {
    let mut err = io::stderr().lock();
    let is_coloured = colour_on(&err);
    let _ = err.write_all(harmless(text, is_coloured).as_bytes());
}

/// Writes a failure as a message.
pub(super) fn failure(failure: &Failure) {
    if let Failure::Sentence { message, help } = failure {
        let error = painted("error", "1;91", colour());
        let help = help.as_ref().map(|help| format!("help: {help}\n"));
        note(&format!("{error}: {message}\n{}", help.unwrap_or_default()));
    }
}

/// The answer of a command that failed because it was stopped.
pub(super) fn unless_stopped(
    done: Result<Answer, Failure>,
    stop: &Stop,
    stopped: Answer,
) -> Result<Answer, Failure> {
    match done {
        Err(why) if stop.requested() => {
            failure(&why);
            Ok(stopped)
        }
        other => other,
    }
}

/// Whether messages are coloured.
pub(super) fn colour() -> bool {
    colour_on(&io::stderr())
}

/// Whether output to `stream` is coloured.
pub(super) fn colour_on(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    !refused && !dumb && stream.is_terminal()
}

/// Colours a text with a code of "select graphic rendition" if `is_coloured`.
pub(super) fn painted(text: &str, code: &str, is_coloured: bool) -> String {
    if is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A share in per cent, or `-` if it is unknown.
pub(super) fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or("-".to_owned(), |s| format!("{:.digits$} %", 100.0 * s))
}

/// A status line, removed when it is dropped.
pub struct StatusLine(ProgressBar);

impl StatusLine {
    /// Shows a line with `text`.
    pub fn new(text: &str) -> StatusLine {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        let line = StatusLine(bar);
        line.show(text);
        line
    }

    /// Replaces the text. Control characters are removed, so that the text cannot move the cursor.
    pub fn show(&self, text: &str) {
        self.0.set_message(one_line(text));
        self.0.tick();
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
