//! Pairs brackets before parsing, so that a fault inside a block does not affect the text after it.
//!
//! A line that begins with `yamba NAME` closes all open brackets. If braces do not balance,
//! indentation locates the missing one, since blocks are normally indented.

use super::messages::Messages;
use super::token::{Token, TokenKind};
use crate::diagnostic::{Label, error};
use crate::source::{FileId, Span};

/// Maximum number of repairs per class. Each adds one missing brace and pairs again.
const MOST_REPAIRS: usize = 8;

/// The end of a bracketed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Close {
    /// The closing token, or the first token after the block if the bracket is missing.
    pub at: usize,
    /// Whether the token at `at` is the closing bracket.
    pub is_real: bool,
}

/// The result of pairing.
pub(super) struct Pairs {
    /// For each opening bracket its end. Every `{` has one.
    pub close: Vec<Option<Close>>,
    /// Whether a token is an unmatched `}`, which was reported.
    pub is_stray: Vec<bool>,
    pub errors: Messages,
}

struct Pairing<'a> {
    tokens: &'a [Token],
    file: FileId,
    out: Pairs,
    /// For each missing brace: its opening token, and the token before which it belongs.
    forgotten: Vec<(usize, usize)>,
}

/// Pairs the brackets of a text. `unterminated` are positions, in order, after which braces are
/// unreliable.
pub(super) fn pair(tokens: &[Token], unterminated: &[u32], file: FileId) -> Pairs {
    let mut pairing = Pairing {
        tokens,
        file,
        out: Pairs {
            close: vec![None; tokens.len()],
            is_stray: vec![false; tokens.len()],
            errors: Messages::default(),
        },
        forgotten: Vec::new(),
    };
    let mut start = 0;
    while start < tokens.len() {
        // A class that is indented further is inside this one; the parser rejects it there.
        let indent = if pairing.is_class_start(start) { tokens[start].indent } else { u32::MAX };
        let end = (start + 1..tokens.len())
            .find(|i| pairing.is_class_start(*i) && tokens[*i].indent <= indent)
            .unwrap_or(tokens.len());
        let range = tokens[start].start..tokens.get(end).map_or(u32::MAX, |t| t.start);
        let first = unterminated.partition_point(|at| *at < range.start);
        let is_poisoned = unterminated.get(first).is_some_and(|at| range.contains(at));
        pairing.region(start, end, is_poisoned);
        start = end;
    }
    pairing.out
}

impl Pairing<'_> {
    /// Whether a line begins here that looks like a class header.
    fn is_class_start(&self, at: usize) -> bool {
        let [word, name] = [at, at + 1].map(|i| self.tokens.get(i));
        matches!((word, name), (Some(w), Some(n))
            if w.is_yamba && w.is_first && n.kind == TokenKind::Word)
    }

    /// Pairs the tokens `start..end`, and repairs missing braces that indentation locates.
    fn region(&mut self, start: usize, end: usize, is_poisoned: bool) {
        self.forgotten.clear();
        let first_error = self.out.errors.count();
        for _ in 0..MOST_REPAIRS {
            let Some(fault) = self.pass(start, end) else {
                break;
            };
            let is_repaired = self.repair(fault, end);
            if !is_repaired {
                break;
            }
        }
        if is_poisoned {
            self.out.errors.truncate(first_error);
        }
    }

    /// Reports a fault. Returns whether pairing should be repeated.
    fn repair(&mut self, fault: BraceFault, end: usize) -> bool {
        match fault {
            BraceFault::Forgotten(open) => {
                let before = self.end_by_indent(open, end);
                self.forgotten.push((open, before));
                self.report_forgotten(open, Some(before));
                true
            }
            BraceFault::Unclosed(open) => {
                self.report_forgotten(open, None);
                false
            }
            BraceFault::Early(close) => {
                self.out.is_stray[close] = true;
                self.report_stray(close);
                true
            }
            BraceFault::Stray(closes) => {
                for (close, before) in closes {
                    self.out.is_stray[close] = true;
                    self.report_stray(close);
                    if let (Some(before), Some(error)) = (before, self.out.errors.last_mut()) {
                        error.secondary.push(Label {
                            span: Span::new(
                                self.file,
                                self.tokens[before].start,
                                self.tokens[before].end,
                            ),
                            text: "everything is closed here already".to_owned(),
                        });
                    }
                }
                false
            }
        }
    }

    /// One pass with a stack. Other brackets that are open when a brace closes stay unpaired.
    fn pass(&mut self, start: usize, end: usize) -> Option<BraceFault> {
        self.out.close[start..end].fill(None);
        let mut walk = Walk::default();
        for at in start..end {
            for i in 0..self.forgotten.len() {
                let (open, before) = self.forgotten[i];
                if before == at {
                    self.close_forgotten(&mut walk, open, at);
                }
            }
            match self.tokens[at].kind {
                TokenKind::Mark(b'(' | b'[' | b'{') => walk.stack.push(at),
                TokenKind::Mark(b'}') if !self.out.is_stray[at] => self.close_brace(&mut walk, at),
                TokenKind::Mark(b @ (b')' | b']')) => self.close_inner(&mut walk, b, at),
                _ => {}
            }
        }
        self.close_rest(walk, end)
    }

    fn close_forgotten(&mut self, walk: &mut Walk, open: usize, at: usize) {
        let Some(depth) = walk.stack.iter().rposition(|i| *i == open) else {
            return;
        };
        for open in walk.stack.split_off(depth) {
            if self.is_brace(open) {
                self.set(open, at, false);
            }
        }
    }

    fn close_brace(&mut self, walk: &mut Walk, at: usize) {
        while let Some(open) = walk.stack.pop() {
            if self.tokens[open].kind != TokenKind::Mark(b'{') {
                continue;
            }
            self.set(open, at, true);
            let (o, c) = (self.tokens[open], self.tokens[at]);
            if c.is_first && c.indent < o.indent && walk.suspect.is_none() {
                walk.suspect = Some(open);
            }
            if c.is_first && c.indent > o.indent && !walk.stack.iter().any(|i| self.is_brace(*i)) {
                walk.early = Some(at);
            }
            if !walk.stack.iter().any(|i| self.is_brace(*i)) {
                walk.last = Some(at);
            }
            return;
        }
        walk.stray.push((at, walk.last));
    }

    fn close_inner(&mut self, walk: &mut Walk, mark: u8, at: usize) {
        let wanted = if mark == b')' { b'(' } else { b'[' };
        // Searches only up to the enclosing brace, and only a few brackets, so that the pass is
        // linear.
        let depth = walk.stack.iter().rev().take(64).position(|open| {
            self.is_brace(*open) || self.tokens[*open].kind == TokenKind::Mark(wanted)
        });
        let Some(depth) = depth.map(|d| walk.stack.len() - 1 - d) else {
            return;
        };
        if !self.is_brace(walk.stack[depth]) {
            self.set(walk.stack[depth], at, true);
            walk.stack.truncate(depth);
        }
    }

    /// Closes the blocks that are open at `end`, and returns the fault of the braces, if any.
    fn close_rest(&mut self, walk: Walk, end: usize) -> Option<BraceFault> {
        let at = end.min(self.tokens.len() - 1);
        let open: Vec<usize> = walk.stack.into_iter().filter(|i| self.is_brace(*i)).collect();
        for open in &open {
            self.set(*open, at, false);
        }
        if let Some(innermost) = open.last() {
            return Some(match walk.suspect {
                Some(open) => BraceFault::Forgotten(open),
                None => BraceFault::Unclosed(*innermost),
            });
        }
        if walk.stray.is_empty() {
            return None;
        }
        Some(match walk.early {
            Some(close) => BraceFault::Early(close),
            None => BraceFault::Stray(walk.stray),
        })
    }

    fn is_brace(&self, at: usize) -> bool {
        self.tokens[at].kind == TokenKind::Mark(b'{')
    }

    fn set(&mut self, open: usize, at: usize, is_real: bool) {
        self.out.close[open] = Some(Close { at, is_real });
    }

    /// The first line after `open` that is not indented further than the line of `open`.
    fn end_by_indent(&self, open: usize, end: usize) -> usize {
        let indent = self.tokens[open].indent;
        (open + 1..end)
            .find(|i| self.tokens[*i].is_first && self.tokens[*i].indent <= indent)
            .unwrap_or(end)
    }

    fn span(&self, at: usize) -> Span {
        Span::new(self.file, self.tokens[at].start, self.tokens[at].end)
    }

    fn report_forgotten(&mut self, open: usize, before: Option<usize>) {
        let mut error = error!("unclosed-brace" at self.span(open), "this `{{` is never closed");
        error = match before {
            Some(before) => {
                error.also(self.span(before - 1).after(), "by its indentation, `}` is missing here")
            }
            None => error.help("write the `}` that closes it"),
        };
        self.out.errors.push(error);
    }

    fn report_stray(&mut self, close: usize) {
        self.out.errors.push(error!("stray-brace" at self.span(close), "this `}}` closes nothing";
            help "delete it, or write the `{` that it should close"));
    }
}

#[derive(Default)]
struct Walk {
    stack: Vec<usize>,
    /// The first block whose end is indented less than its beginning.
    suspect: Option<usize>,
    /// The end of the last outermost block whose end is indented more than its beginning.
    early: Option<usize>,
    /// The last end of an outermost block.
    last: Option<usize>,
    /// Unmatched closing braces, each with the end of the outermost block before it.
    stray: Vec<(usize, Option<usize>)>,
}

enum BraceFault {
    /// Indentation shows that this `{` was not closed.
    Forgotten(usize),
    /// This `{` is not closed, and indentation does not locate the missing brace.
    Unclosed(usize),
    /// Indentation shows that this `}` is superfluous.
    Early(usize),
    /// Unmatched `}`, each with the end of the outermost block before it.
    Stray(Vec<(usize, Option<usize>)>),
}
