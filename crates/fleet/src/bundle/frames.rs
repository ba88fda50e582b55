//! Finds the frames of a capture in the log of a serial line, among other lines, and joins them to
//! items.
//!
//! A frame is a line `~yb RUN NUMBER LENGTH+ CRC PART`: the first eight digits of the run's id, the
//! number of the frame, the length of the part in hexadecimal, `.` instead of `+` if the part ends
//! an item, and the CRC-32 of everything else. Messages of the kernel may stand between frames and
//! within them. A frame counts only if its checksum is right.

use std::collections::BTreeMap;

/// Begins each frame.
const MARK: &[u8] = b"~yb ";

/// Length of mark, run, number and length with their spaces, and of the checksum with its space.
const HEAD: usize = 4 + 9 + 7 + 5;
const SUM: usize = 9;

/// Most lines that a message within a frame may have.
const MOST_LINES_WITHIN: usize = 3;

/// The frames of one run that arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frames {
    /// The parts by their number, each with whether it ends an item.
    pub parts: BTreeMap<u64, (Vec<u8>, bool)>,
    /// Begun frames without a right checksum.
    pub damaged: u64,
}

impl Frames {
    /// Adds the frames of the same run in another log.
    pub fn add(&mut self, other: Frames) {
        self.parts.extend(other.parts);
        self.damaged += other.damaged;
    }
}

/// Whether the text has a frame.
pub(crate) fn is_it(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

/// Adds the frames in the log of a serial line to those of each run.
pub(crate) fn read(log: &[u8], runs: &mut BTreeMap<String, Frames>) {
    let lines: Vec<&[u8]> = log.split(|b| *b == b'\n').map(trimmed).collect();
    let mut damaged = 0;
    for (place, line) in lines.iter().enumerate() {
        for at in starts(line) {
            let following = &lines[place + 1..];
            match whole(&line[at..], following) {
                Some(frame) => {
                    let frames = runs.entry(frame.run).or_default();
                    frames.parts.insert(frame.number, (frame.part, frame.is_last));
                }
                None => damaged += 1,
            }
        }
    }
    for frames in runs.values_mut() {
        frames.damaged += damaged;
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The places in a line where a frame may begin.
fn starts(line: &[u8]) -> Vec<usize> {
    let windows = line.windows(MARK.len()).enumerate();
    windows.filter(|(_, w)| *w == MARK).map(|(at, _)| at).collect()
}

struct Frame {
    run: String,
    number: u64,
    part: Vec<u8>,
    is_last: bool,
}

/// The frame that begins `line`. A message may have interrupted it: its rest begins one of the next
/// lines then.
fn whole(line: &[u8], following: &[&[u8]]) -> Option<Frame> {
    if let Some(frame) = checked(line) {
        return Some(frame);
    }
    for cut in interruptions(line) {
        for rest in following.iter().take(MOST_LINES_WITHIN) {
            let joined = [&line[..cut], rest].concat();
            if let Some(frame) = checked(&joined) {
                return Some(frame);
            }
        }
    }
    None
}

/// The places where a message of the kernel may begin, such as `[   12.345678] usb` or `<6>[`, and
/// the end of the line.
fn interruptions(line: &[u8]) -> impl Iterator<Item = usize> {
    let begins = line.iter().enumerate();
    let begins = begins.filter(|(_, b)| matches!(b, b'[' | b'<'));
    let begins: Vec<usize> = begins.map(|(at, _)| at).collect();
    begins.into_iter().chain([line.len()])
}

/// The frame of this text, if its checksum is right. Text after the frame is ignored.
fn checked(text: &[u8]) -> Option<Frame> {
    let head = str::from_utf8(text.get(..HEAD)?).ok()?;
    let mut words = head.strip_prefix("~yb ")?.split(' ');
    let (run, number, length) = (words.next()?, words.next()?, words.next()?);
    let is_last = match length.as_bytes().last()? {
        b'.' => true,
        b'+' => false,
        _ => return None,
    };
    let digits = length.get(..3).filter(|_| length.len() == 4)?;
    let length = usize::from_str_radix(digits, 16).ok()?;
    let part = text.get(HEAD + SUM..HEAD + SUM + length)?;
    let sum = str::from_utf8(text.get(HEAD..HEAD + SUM)?).ok()?;
    let covered = [&text[..HEAD], part].concat();
    if u32::from_str_radix(sum.strip_suffix(' ')?, 16).ok()? != crc32fast::hash(&covered) {
        return None;
    }
    Some(Frame {
        run: run.to_owned(),
        number: u64::from_str_radix(number, 16).ok()?,
        part: part.to_vec(),
        is_last,
    })
}

impl Frames {
    /// The items whose frames are all there, and the lost frames as ranges of numbers. Frames after
    /// the last one that arrived are unknown.
    pub fn items(&self) -> (Vec<String>, Vec<(u64, u64)>) {
        let (mut items, mut lost) = (Vec::new(), Vec::new());
        let mut next = 0;
        // The item so far; `None` if a part of it is missing.
        let mut item = Some(Vec::new());
        for (number, (part, is_last)) in &self.parts {
            if *number > next {
                lost.push((next, number - 1));
                item = None;
            }
            next = number + 1;
            if let Some(item) = &mut item {
                item.extend_from_slice(part);
            }
            if *is_last {
                items.extend(item.as_deref().and_then(unescaped));
                item = Some(Vec::new());
            }
        }
        (items, lost)
    }
}

/// The text with each `%XX` replaced by its byte.
fn unescaped(text: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'%' {
            let digits = str::from_utf8(text.get(at + 1..at + 3)?).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}
