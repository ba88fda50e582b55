//! Finds statements that the compiler has replaced by their result: they have a loop or a call, but
//! take less time than one operation of it.

use yamba_lang::cpp::{self, CppTokenKind};

/// The most iterations of a loop in one cycle: with vectors of 64 elements in four units.
const ITERATIONS_PER_CYCLE: f64 = 256.0;

/// How to keep the computation.
const HELP: &str = "hide its inputs with `do_not_optimize(VARIABLE);` before it, in --setup or in the statement, and write `do_not_optimize(RESULT);` \
                    after each operation that counts";

/// A hint that the compiler may have replaced `statement`, which takes `cycles` core cycles, by its
/// result. `None` if it takes long enough for its text.
pub(super) fn hint(statement: &str, cycles: f64) -> Option<String> {
    let words = Words::new(statement);
    let (what, least) = match words.loop_count() {
        Some(count) => ("a loop", (count / ITERATIONS_PER_CYCLE).max(1.0)),
        None => ("a call", words.has_call().then_some(1.0)?),
    };
    (cycles < least).then(|| {
        format!(
            "the compiler may have replaced the statement by its result: it has {what}, but takes {} cycles; {HELP}",
            yamba_record::number::number(cycles)
        )
    })
}

/// Words that stand before `(` without calling a function, and the functions of Yamba that cost
/// nothing.
const NO_CALLS: [&str; 16] = [
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "alignof",
    "decltype",
    "catch",
    "noexcept",
    "static_cast",
    "const_cast",
    "reinterpret_cast",
    "do_not_optimize",
    "alignas",
    "assert",
];

/// The tokens of a statement, without comments.
struct Words<'a>(Vec<(CppTokenKind, &'a str)>);

impl Words<'_> {
    fn new(text: &str) -> Words<'_> {
        let tokens = cpp::tokens(text).into_iter();
        Words(tokens.map(|t| (t.kind, &text[t.range])).collect())
    }

    fn text(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |(_, text)| text)
    }

    fn has_call(&self) -> bool {
        self.0.iter().enumerate().any(|(at, (kind, text))| {
            *kind == CppTokenKind::Word && self.text(at + 1) == "(" && !NO_CALLS.contains(text)
        })
    }

    /// The number of iterations of the longest loop that counts to a number; 1 for other loops and
    /// for loops that may end early. `None` without a loop.
    fn loop_count(&self) -> Option<f64> {
        let is = |at: usize, words: &[&str]| words.contains(&self.text(at));
        let all = 0..self.0.len();
        let loops = all.clone().filter(|at| is(*at, &["for", "while"]));
        let may_end_early = all.clone().any(|at| is(at, &["break", "return", "goto", "throw"]));
        let counts = loops.map(|at| match self.limit(at) {
            Some(limit) if !may_end_early => limit,
            _ => 1.0,
        });
        counts.reduce(f64::max)
    }

    /// The `N` of `for (TYPE NAME = 0; NAME < N; ++NAME)` or `NAME++`, if a `for` of exactly this
    /// form begins at `at`.
    fn limit(&self, at: usize) -> Option<f64> {
        let begin = (at..at + 6).find(|at| self.text(*at) == "=")?;
        let name = self.text(begin - 1);
        let is_step = [["+", "+", name], [name, "+", "+"]]
            .iter()
            .any(|step| (0..3).all(|i| self.text(begin + 7 + i) == step[i]));
        let is_counting = self.text(at + 1) == "("
            && self.text(begin + 1) == "0"
            && self.text(begin + 2) == ";"
            && self.text(begin + 3) == name
            && self.text(begin + 4) == "<"
            && self.text(begin + 6) == ";"
            && is_step
            && self.text(begin + 10) == ")";
        let count = cpp::constant_integer(self.text(begin + 5)).filter(|_| is_counting)?;
        Some(count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_calls_below_one_cycle_get_a_hint() {
        let sum = "long s = 0; for (int i = 0; i < 100; i++) s += i; do_not_optimize(s);";
        let long = sum.replace("100", "1'000'000");
        for (statement, cycles, what) in [
            (sum, 0.25, "a loop"),
            ("while (f(x)) x++;", 0.3, "a loop"),
            ("sqrt(2.0)", 0.25, "a call"),
            (long.as_str(), 1000.0, "a loop"),
        ] {
            let hint = hint(statement, cycles).expect(statement);
            assert!(hint.contains(what) && hint.contains("do_not_optimize("), "{hint}");
        }
        let early = long.replace("s += i;", "if (s += i; s > 9) break;");
        let from_end = long.replace("i = 0", "i = 999990");
        for (statement, cycles) in [
            (sum, 1.0),
            (long.as_str(), 4000.0),
            (early.as_str(), 50.0),
            (from_end.as_str(), 50.0),
            ("x = y + 1;", 0.25),
            ("do_not_optimize(x);", 0.2),
            ("if (x) y = sizeof(int);", 0.3),
            ("/* for (;;) f(); */ x++;", 0.5),
            ("\"f(x)\"[1]", 0.5),
        ] {
            assert_eq!(hint(statement, cycles), None, "{statement}");
        }
    }
}
