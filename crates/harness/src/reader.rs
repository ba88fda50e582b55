//! Reads records out of whatever bytes a program writes: a benchmark may scribble on any file descriptor, and may end
//! in the middle of a line.

use yamba_record::Event;

/// A longer line is no record. The longest true one is a crash in code of many parts.
const LONGEST: usize = 1 << 20;

/// More records than any run makes; what follows is dropped, so that a runaway program costs no memory.
const MOST: usize = 100_000;

/// More bytes than they have.
const MOST_BYTES: u64 = 1 << 28;

/// Takes bytes in pieces of any size and keeps the records among them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    too_long: bool,
    events: Vec<Event>,
    garbled: u64,
    bytes: u64,
}

impl Reader {
    /// Takes some more bytes. True if a record was among them.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let before = self.events.len();
        self.bytes += bytes.len() as u64;
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&b| b == b'\n') {
            self.extend(&rest[..end]);
            self.take_line();
            rest = &rest[end + 1..];
        }
        self.extend(rest);
        self.events.len() > before
    }

    /// The records so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Whether so much was written that it cannot be a measurement: what else comes is dropped.
    pub fn is_flooded(&self) -> bool {
        self.events.len() >= MOST || self.garbled >= MOST as u64 || self.bytes >= MOST_BYTES
    }

    /// All records, and how many lines were none. What follows the last line end is no record: it was cut off.
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
        if line.is_empty() && !too_long {
            return;
        }
        match serde_json::from_slice(&line) {
            Ok(event) if !too_long && self.events.len() < MOST => self.events.push(event),
            _ => self.garbled += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<Event>, u64) {
        let mut reader = Reader::default();
        for piece in pieces {
            reader.push(piece);
        }
        reader.finish()
    }

    #[test]
    fn lines_may_come_in_pieces() {
        let (events, garbled) = read(&[b"{\"event\":\"e", b"nd\"}\n\n{\"event\":\"end\"}", b"\n"]);
        assert_eq!(events, [Event::End, Event::End]);
        assert_eq!(garbled, 0);
    }

    #[test]
    fn what_is_cut_off_is_no_record() {
        let (events, garbled) = read(&[b"{\"event\":\"end\"}\n{\"event\":\"end\"}"]);
        assert_eq!((events.len(), garbled), (1, 1));
    }

    #[test]
    fn garbage_is_counted_and_passed_over() {
        let deep = "[".repeat(100_000);
        let lines = format!(
            "hello\n\u{0}\n{deep}\n{{\"event\":\"unknown\"}}\n{{\"event\":\"note\"}}\n{{\"event\":\"interval\",\"ns\":NaN}}\n{{\"event\":\"end\"}}\n"
        );
        let (events, garbled) = read(&[lines.as_bytes(), b"\xff\xfe\n"]);
        assert_eq!(events, [Event::End]);
        assert_eq!(garbled, 7);
    }

    #[test]
    fn huge_lines_cost_no_memory() {
        let mut reader = Reader::default();
        for _ in 0..64 {
            reader.push(&[b'x'; 1 << 18]);
            assert!(reader.line.capacity() <= 2 * LONGEST);
        }
        reader.push(b"\n{\"event\":\"end\"}\n");
        assert_eq!(reader.finish(), (vec![Event::End], 1));
    }

    /// A small generator (xorshift64*), so that a failure can be repeated from its number.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Whatever the damage and however the bytes are cut, lines that were left whole are read, and nothing panics.
    #[test]
    fn any_damage_costs_only_the_lines_it_touches() {
        let good = b"{\"event\":\"note\",\"text\":\"whole\"}\n";
        for seed in 1..=2000u64 {
            let mut state = seed;
            let (mut bytes, mut whole) = (Vec::new(), 0);
            for _ in 0..random(&mut state) % 20 {
                if random(&mut state).is_multiple_of(2) {
                    bytes.extend_from_slice(good);
                    whole += 1;
                } else {
                    // Never a byte that could end or make a line: only that line is touched.
                    let mut damaged = good[..good.len() - 1].to_vec();
                    for _ in 0..1 + random(&mut state) % 8 {
                        let at = random(&mut state) as usize % damaged.len();
                        damaged[at] = match random(&mut state) as u8 {
                            b'\n' => b' ',
                            other => other,
                        };
                    }
                    damaged.truncate(random(&mut state) as usize % (damaged.len() + 1));
                    damaged.push(b'\n');
                    bytes.extend_from_slice(&damaged);
                }
            }
            let mut reader = Reader::default();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let cut = 1 + random(&mut state) as usize % rest.len();
                reader.push(&rest[..cut]);
                rest = &rest[cut..];
            }
            let note = Event::Note {
                text: "whole".to_owned(),
            };
            let (events, _) = reader.finish();
            let kept = events.iter().filter(|e| **e == note).count();
            assert!(kept >= whole, "seed {seed}: {kept} of {whole}");
        }
    }
}
