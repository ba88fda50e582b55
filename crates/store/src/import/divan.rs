//! The table that divan prints: <https://docs.rs/divan>. Its first column is a tree of names. A
//! benchmark has a row of times, and a row for each of its counters.
//!
//! The figure is the median of the samples, which one process takes. Divan prints four digits.
//!
//! The lines of the tree say where a row belongs. A row whose lines do not fit those above it is
//! left out, so that no figure gets the name of another benchmark.

mod row;

use serde_json::json;
use yamba_record::{Parameters, Run, Status};

use super::DocumentFault;
use super::foreign::{Figure, Number, Results};

/// The note on rounding.
const ROUNDING: &str = "divan prints four digits";

/// Maximum length of a line.
const LONGEST_LINE: usize = 4_000;

/// Maximum depth of the tree.
const DEEPEST: usize = 50;

/// Titles of the rows about allocations, each above two rows of numbers.
const ALLOCATIONS: [&str; 5] = ["max alloc:", "alloc:", "dealloc:", "grow:", "shrink:"];
const ROWS_OF_ALLOCATIONS: usize = 2;

/// The line above the tables.
const PRECISION: &str = "Timer precision: ";

/// Whether a text has the head of such a table.
pub(super) fn is_it(head: &str) -> bool {
    head.lines().any(|line| row::head(line).is_some())
}

/// Parses what a program printed. `name` is the file name.
///
/// # Errors
/// If it contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let kept = text.lines().map(|l| if l.contains('│') { format!("{l}\n") } else { "\n".into() });
    let results = Results::new("divan", name, kept.collect());
    let mut reader = Reader { results, tree: None, allocations: 0, is_lost: false };
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        // The rest of the last line may be missing.
        let is_cut = lines.peek().is_none() && !text.ends_with('\n') && !line.is_empty();
        reader.line(index + 1, line.trim_end(), is_cut)?;
    }
    // An empty line follows the last row.
    reader.results.is_cut_off |= reader.tree.is_some();
    reader.results.run()
}

struct Reader {
    results: Results,
    tree: Option<Tree>,
    /// Number of rows about allocations that follow.
    allocations: usize,
    /// Whether a row after that of the last benchmark was left out: rows below it may be of
    /// another benchmark.
    is_lost: bool,
}

/// The names of a table down to the last row.
struct Tree {
    root: String,
    nodes: Vec<Node>,
}

struct Node {
    name: String,
    /// Whether it is the last below its parent.
    is_last: bool,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parent,
    /// A benchmark whose row was read.
    Benchmark,
    /// A benchmark that was ignored, or whose row is not understood.
    Empty,
}

impl Reader {
    fn leave_out(&mut self, number: usize, line: &str) {
        self.is_lost = true;
        self.results.leave_out(&format!("line {number}"), line);
    }

    fn line(&mut self, number: usize, line: &str, is_cut: bool) -> Result<(), DocumentFault> {
        let allocations = std::mem::take(&mut self.allocations);
        if is_cut || line.len() > LONGEST_LINE {
            self.leave_out(number, &format!("not a whole line: {line}"));
        } else if line.is_empty() {
            self.end(number, 0);
            self.tree = None;
        } else if let Some(root) = row::head(line) {
            self.end(number, 0);
            self.tree = Some(Tree { root: root.to_owned(), nodes: Vec::new() });
        } else if let Some(tree) = &mut self.tree {
            match tree.place(line) {
                Some(Place::Node { depth, is_last, rest }) => {
                    return self.node(number, depth, is_last, rest, line);
                }
                Some(Place::Below(rest)) => return self.below(number, rest, line, allocations),
                None => self.leave_out(number, line),
            }
        } else if !line.starts_with(PRECISION) {
            self.leave_out(number, line);
        }
        Ok(())
    }

    /// Names a parent without rows, since the next row is at `depth`, above those that it has.
    fn end(&mut self, number: usize, depth: usize) {
        let Some(tree) = &self.tree else { return };
        let is_parent = tree.nodes.last().is_some_and(|node| node.kind == Kind::Parent);
        if is_parent && depth < tree.nodes.len() {
            let path = tree.path();
            self.leave_out(number, &format!("no row before it is of {path}"));
        }
    }

    /// A row with a name.
    fn node(
        &mut self,
        number: usize,
        depth: usize,
        is_last: bool,
        rest: &str,
        line: &str,
    ) -> Result<(), DocumentFault> {
        self.end(number, depth);
        let tree = self.tree.as_mut().expect("a row is in a tree");
        tree.nodes.truncate(depth);
        let Some((name, cells)) = row::cells(rest) else {
            tree.push(rest.split_whitespace().next().unwrap_or_default(), is_last, Kind::Empty);
            self.leave_out(number, line);
            return Ok(());
        };
        let has_values = cells[1..].iter().any(|cell| !cell.is_empty());
        if !has_values {
            let kind = if cells[0].is_empty() { Kind::Parent } else { Kind::Empty };
            tree.push(name, is_last, kind);
            let path = tree.path();
            return match kind {
                Kind::Parent => Ok(()),
                _ => {
                    let skipped = Err((Status::Skipped, "the benchmark is ignored".to_owned()));
                    self.results.push(Number::new(&path, Figure::Latency, "ns", skipped))
                }
            };
        }
        self.is_lost = false;
        let times = row::times(&cells);
        let kind = if times.is_ok() { Kind::Benchmark } else { Kind::Empty };
        tree.push(name, is_last, kind);
        let path = tree.path();
        match times {
            Ok(times) => {
                let samples = format!("the median of {} samples in one process", times.samples);
                self.results.push(Number {
                    notes: vec![samples, ROUNDING.to_owned()],
                    ..Number::new(&path, Figure::Latency, "ns", Ok(times.median_ns))
                })
            }
            Err(reason) => {
                self.leave_out(number, &format!("{path}: {reason}"));
                Ok(())
            }
        }
    }

    /// A row below that of a benchmark.
    fn below(
        &mut self,
        number: usize,
        rest: &str,
        line: &str,
        allocations: usize,
    ) -> Result<(), DocumentFault> {
        let (title, cells) = match row::cells(rest) {
            Some((title, cells)) => (title, cells),
            None => ("", [""; 6]),
        };
        if ALLOCATIONS.contains(&title.trim()) {
            self.allocations = ROWS_OF_ALLOCATIONS;
            return Ok(());
        }
        let tree = self.tree.as_ref().expect("a row is in a tree");
        let last = tree.nodes.last().filter(|_| !self.is_lost);
        let is_of_benchmark = last.is_some_and(|node| node.kind == Kind::Benchmark);
        if allocations > 0 {
            self.allocations = allocations - 1;
        } else if let Some(rate) = row::rate(&cells).filter(|_| is_of_benchmark && title.is_empty())
        {
            let counter = ("counter".to_owned(), json!(rate.counter));
            return self.results.push(Number {
                parameters: Parameters(vec![counter]),
                notes: vec![ROUNDING.to_owned()],
                ..Number::new(&tree.path(), rate.figure, rate.unit, Ok(rate.median))
            });
        } else {
            self.leave_out(number, line);
        }
        Ok(())
    }
}

/// Where a row belongs, with the text after the lines of the tree.
enum Place<'a> {
    Node { depth: usize, is_last: bool, rest: &'a str },
    Below(&'a str),
}

impl Tree {
    /// `None`: the lines of the tree do not fit those above.
    fn place<'a>(&self, line: &'a str) -> Option<Place<'a>> {
        let mut rest = line;
        for depth in 0..DEEPEST {
            for (branch, is_last) in [("├─ ", false), ("╰─ ", true)] {
                if let Some(rest) = rest.strip_prefix(branch) {
                    let is_there = self.may_have(depth);
                    return is_there.then_some(Place::Node { depth, is_last, rest });
                }
            }
            // The line down from a node that is not the last of its parent.
            let node = self.nodes.get(depth)?;
            let is_deepest = depth + 1 == self.nodes.len();
            if is_deepest && node.kind != Kind::Parent {
                let below = if node.is_last { " " } else { "│" };
                return rest.strip_prefix(below).map(Place::Below);
            }
            rest = rest.strip_prefix(if node.is_last { "   " } else { "│  " })?;
        }
        None
    }

    /// Whether another node may stand at a depth: its parent has no values, and its sibling above
    /// is not the last.
    fn may_have(&self, depth: usize) -> bool {
        let has_parent = match depth.checked_sub(1) {
            Some(parent) => self.nodes.get(parent).is_some_and(|n| n.kind == Kind::Parent),
            None => true,
        };
        has_parent && self.nodes.get(depth).is_none_or(|sibling| !sibling.is_last)
    }

    fn push(&mut self, name: &str, is_last: bool, kind: Kind) {
        self.nodes.push(Node { name: name.to_owned(), is_last, kind });
    }

    /// The names down to the last row: `crate::module::function::argument`.
    fn path(&self) -> String {
        let names = self.nodes.iter().map(|node| node.name.as_str());
        std::iter::once(self.root.as_str()).chain(names).collect::<Vec<_>>().join("::")
    }
}

#[cfg(test)]
mod tests;
