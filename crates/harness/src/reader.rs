//! Reads records from the bytes that a program writes. A benchmark may write junk to any file
//! descriptor, and may end in the middle of a line. A whole line that begins with `{` is meant as a
//! record; if it cannot be parsed, that is an error of the program: docs/protocol.md.

use yamba_record::Event;

use super::time_digits::round_times;

/// Longest line that may be a record. The longest real record is a crash in code of many parts.
const LONGEST: usize = 1 << 20;

/// More records than any run makes. Later ones are dropped, so that a runaway program costs no
/// memory.
const MOST: usize = 100_000;

/// More bytes than any run writes. A program that writes more is killed.
const MOST_BYTES: u64 = 1 << 28;

/// Characters of a faulty record that its message shows.
const SHOWN: usize = 120;

/// Takes bytes in pieces of any size and keeps the records among them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    too_long: bool,
    events: Vec<Event>,
    garbled: u64,
    bytes: u64,
    lines: u64,
    fault: Option<String>,
}

impl Reader {
    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&b| b == b'\n') {
            self.extend(&rest[..end]);
            self.take_line();
            rest = &rest[end + 1..];
        }
        self.extend(rest);
    }

    /// The records so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Whether there is too much output for a measurement. Further records are dropped.
    pub fn is_flooded(&self) -> bool {
        self.events.len() >= MOST || self.garbled >= MOST as u64 || self.bytes >= MOST_BYTES
    }

    /// The error in the first record that could not be parsed.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// All records, and the number of other lines. An incomplete last line is no record.
    pub fn finish(mut self) -> (Vec<Event>, u64) {
        if self.too_long || !self.line.is_empty() {
            self.garbled += 1;
        }
        (self.events, self.garbled)
    }

    fn extend(&mut self, piece: &[u8]) {
        if self.too_long || self.line.len() + piece.len() > LONGEST {
            self.too_long = true;
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let too_long = std::mem::take(&mut self.too_long);
        self.lines += 1;
        if line.is_empty() && !too_long {
            return;
        }
        match event(&line) {
            Ok(mut event) if !too_long && self.events.len() < MOST => {
                round_times(&mut event);
                self.events.push(event);
            }
            Err(wrong) if line.trim_ascii_start().starts_with(b"{") => {
                let fault = fault(self.lines, &wrong, &line);
                self.fault.get_or_insert(fault);
            }
            _ => self.garbled += 1,
        }
    }
}

/// Reads one record, without the end of its line.
pub(super) fn event(line: &[u8]) -> serde_json::Result<Event> {
    serde_json::from_str(utf8(line)?)
}

/// The text of these bytes. If some types were read from texts and others from bytes, the compiler
/// would translate shared parts twice.
pub(super) fn utf8(bytes: &[u8]) -> serde_json::Result<&str> {
    str::from_utf8(bytes).map_err(serde::de::Error::custom)
}

/// The message about a faulty record.
fn fault(number: u64, wrong: &serde_json::Error, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown: String = text.chars().take(SHOWN).collect();
    let rest = if shown.len() < text.len() { "..." } else { "" };
    // Every line is parsed as a text of its own, so that the parser always reports line 1.
    let wrong = wrong.to_string().replace(" at line 1 ", " at ");
    format!("line {number}: {wrong}: {shown}{rest}")
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<Event>, u64) {
        let mut reader = Reader::default();
        for piece in pieces {
            reader.push(piece);
        }
        reader.finish()
    }

    #[test]
    fn lines_may_arrive_in_pieces() {
        let (events, garbled) = read(&[b"{\"event\":\"e", b"nd\"}\n\n{\"event\":\"end\"}", b"\n"]);
        assert_eq!(events, [Event::End, Event::End]);
        assert_eq!(garbled, 0);
    }

    #[test]
    fn truncated_line_is_no_record() {
        let (events, garbled) = read(&[b"{\"event\":\"end\"}\n{\"event\":\"end\"}"]);
        assert_eq!((events.len(), garbled), (1, 1));
    }

    #[test]
    fn garbage_lines_are_counted_and_skipped() {
        let deep = "[".repeat(100_000);
        let lines = format!("hello\n\u{0}\n{deep}\n{{\"event\":\"end\"}}\n");
        let mut reader = Reader::default();
        reader.push(lines.as_bytes());
        reader.push(b"\xff\xfe\n");
        assert_eq!(reader.fault(), None);
        assert_eq!(reader.finish(), (vec![Event::End], 4));
    }

    #[test]
    fn unparsable_record_is_reported_with_line_and_reason() {
        for (record, reason) in [
            ("{\"event\":\"unknown\"}", "unknown variant `unknown`"),
            ("{\"event\":\"note\"}", "missing field `text`"),
            ("{\"event\":\"batch\",\"ns\":NaN}", "expected value"),
            ("{\"ns\":1}", "missing field `event`"),
        ] {
            let mut reader = Reader::default();
            reader.push(b"junk\n{\"event\":\"end\"}\n");
            reader.push(format!("{record}\n{{}}\n").as_bytes());
            let fault = reader.fault().unwrap();
            assert!(fault.starts_with(&format!("line 3: {reason}")), "{fault}");
            assert!(fault.ends_with(record), "{fault}");
            assert_eq!(reader.finish(), (vec![Event::End], 1));
        }
    }

    #[test]
    fn record_truncated_by_exit_is_no_error() {
        let mut reader = Reader::default();
        reader.push(b"{\"event\":\"batch\",");
        assert_eq!(reader.fault(), None);
    }

    #[test]
    fn long_lines_are_not_buffered() {
        let mut reader = Reader::default();
        for _ in 0..64 {
            reader.push(&[b'x'; 1 << 18]);
            assert!(reader.line.capacity() <= 2 * LONGEST);
        }
        reader.push(b"\n{\"event\":\"end\"}\n");
        assert_eq!(reader.finish(), (vec![Event::End], 1));
    }

    /// Random damage at random cuts: undamaged lines are read, and nothing panics.
    #[test]
    fn damage_loses_only_affected_lines() {
        let good = b"{\"event\":\"note\",\"text\":\"whole\"}\n";
        for seed in 1..=2000u64 {
            let mut random = Rng::with_seed(seed);
            let (mut bytes, mut whole) = (Vec::new(), 0);
            for _ in 0..random.u8(..20) {
                if random.bool() {
                    bytes.extend_from_slice(good);
                    whole += 1;
                } else {
                    // No byte of the damage may end a line: only this line is affected.
                    let mut damaged = good[..good.len() - 1].to_vec();
                    for _ in 0..random.u8(1..=8) {
                        let at = random.usize(..damaged.len());
                        damaged[at] = match random.u8(..) {
                            b'\n' => b' ',
                            other => other,
                        };
                    }
                    damaged.truncate(random.usize(..=damaged.len()));
                    damaged.push(b'\n');
                    bytes.extend_from_slice(&damaged);
                }
            }
            let mut reader = Reader::default();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let cut = random.usize(1..=rest.len());
                reader.push(&rest[..cut]);
                rest = &rest[cut..];
            }
            let note = Event::Note { text: "whole".to_owned() };
            let (events, _) = reader.finish();
            let kept = events.iter().filter(|e| **e == note).count();
            assert!(kept >= whole, "seed {seed}: {kept} of {whole}");
        }
    }
}
