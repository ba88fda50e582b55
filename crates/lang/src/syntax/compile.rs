//! Parser of `compile { ... }`.

use super::cursor::{Parsed, Parser};
use super::token::TokenKind;
use crate::ast::{CompileSetting, MemberKind};
use crate::compile::CompileKey;
use crate::diagnostic::error;

const HELP: &str =
    "write for example `compile { include_dir \"include\"; link \"libmylib.a\", \"z\"; }`";

impl Parser<'_> {
    /// `compile { KEY "VALUE", ...; ... }`
    pub(super) fn compile(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let mut all = Vec::new();
        self.block(|p| {
            while !p.is_done() {
                if p.eat(b';') {
                    continue;
                }
                if p.setting(&mut all).is_err() {
                    p.pos = p.find(p.pos, |p, at| p.is_mark(at, b';'));
                }
            }
            Vec::<()>::new()
        });
        Ok(MemberKind::Compile(all))
    }

    /// `KEY "VALUE", ...;`
    fn setting(&mut self, all: &mut Vec<CompileSetting>) -> Parsed<()> {
        let at = self.pos;
        let key = self.key()?;
        let is_twice = all.iter().any(|s: &CompileSetting| s.key == key);
        if !key.is_list() && is_twice {
            return self.fail(error!("setting-twice" at self.span_at(at),
                "`{}` is set twice", key.word();
                help "leave out one of them"));
        }
        let first = all.len();
        loop {
            all.push(self.setting_value(key)?);
            if !self.eat(b',') {
                break;
            }
        }
        if !key.is_list() && all.len() > first + 1 {
            self.report(error!("setting-twice" at all[first + 1].span,
                "`{}` has only one value", key.word();
                help "leave out the others"));
        }
        if !self.eat(b';') {
            return self.fail(error!("missing-semicolon" at self.after(self.pos),
                "`;` is missing after the value of `{}`", key.word()));
        }
        Ok(())
    }

    fn key(&mut self) -> Parsed<CompileKey> {
        let word = self.word();
        let mut keys = CompileKey::ALL.into_iter();
        if let Some(key) = keys.find(|key| key.word() == word) {
            self.pos += 1;
            return Ok(key);
        }
        let words = CompileKey::ALL.map(|key| format!("`{}`", key.word()));
        let error = error!("unknown-setting" at self.here(),
            "`compile` has no setting {}", self.shown(self.pos));
        self.fail(error.help(format!("settings are {}", words.join(", "))))
    }

    fn setting_value(&mut self, key: CompileKey) -> Parsed<CompileSetting> {
        let text = self.text_at(self.pos);
        let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let is_text = self.kind() == TokenKind::Text && !text.contains('\\');
        let Some(value) = inside.filter(|_| is_text) else {
            let (place, found) = (self.here_or_end(), self.found());
            return self.fail(error!("bad-setting" at place,
                "`{}` needs a string without `\\`{found}", key.word();
                help HELP));
        };
        let span = self.here();
        self.pos += 1;
        if let Err(bad) = key.check(value) {
            self.report(error!("bad-setting" at span, "{}", bad.fault; help bad.help));
        }
        Ok(CompileSetting { key, value: value.to_owned(), span })
    }
}
