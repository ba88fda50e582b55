//! Captures through bad lines: what arrives is what was sent, and what does not arrive is named.

use fastrand::Rng;
use serde_json::json;

use crate::bundle::capture::{Capture, RecordedLaunch, captures};
use crate::bundle::plan::{Plan, PlannedProgram};
use crate::bundle::{Contents, Executables, is_capture, pack, run_of_capture, unpack};

const RUN: &str = "0123456789abcdef";

fn plan() -> Plan {
    let programs = ["alpha", "beta"]
        .map(|class| PlannedProgram { class: class.to_owned(), ..PlannedProgram::default() });
    Plan {
        isa: "x86_64".to_owned(),
        system: "linux".to_owned(),
        launches: 3,
        programs: programs.to_vec(),
        ..Plan::default()
    }
}

/// The lines of a launch: a beginning, then batches whose times are all different.
fn lines(random: &mut Rng) -> (Vec<String>, String) {
    let begin = r#"{"event":"begin","clock":{"resolution_ns":1.5},"text":"a \"7\" b"}"#;
    let batch = |ns: u64| format!(r#"{{"event":"batch","ns":{ns},"dummy_ns":-2.5e-3}}"#);
    let first = random.u64(..);
    let mut records = vec![format!("!{begin}"), format!("!{}", batch(first))];
    let mut text = format!("{begin}\n{}\n", batch(first));
    for _ in 0..random.usize(1..30) {
        let ns = random.u64(..);
        records.push(format!("1:{ns}"));
        text += &format!("{}\n", batch(ns));
    }
    (records, text)
}

fn launch(entry: u64, round: u64, random: &mut Rng) -> String {
    let (records, text) = lines(random);
    json!({"item": "launch", "entry": entry, "program": entry, "round": round, "quiet_width": null,
        "batch_ns": null, "emulator": null, "started_ns": 1000 * round + entry, "took_ns": 5, "batches_took_ns": 3,
        "exit": "exited", "number": 0, "errors": "", "orphans": [],
        "crc32": crc32fast::hash(text.as_bytes()), "records": records})
    .to_string()
}

fn items(random: &mut Rng) -> Vec<String> {
    let mut plan = serde_json::to_value(plan()).unwrap();
    plan["item"] = "plan".into();
    let begin = json!({"item": "begin", "bundle": "b", "run": RUN, "started_unix_s": 7.0, "seed": 3, "emulator": null,
        "fleet": {"name": "june", "node": "n3", "job": null, "rank": 3}});
    let machine = json!({"item": "machine", "answers": {"cpus": 2}, "files": {"/proc/x": "50 % of \u{e9}\n"}});
    let mut all = vec![begin.to_string(), plan.to_string(), machine.to_string()];
    for entry in 0..2 {
        let point = json!({"item": "point", "entry": entry, "program": entry, "set": [["a", "1"]], "status": 4, "text": "no"});
        all.push(point.to_string());
    }
    all.push(json!({"item": "probes", "records": ["!{}"]}).to_string());
    for round in 0..3 {
        all.extend((0..2).map(|entry| launch(entry, round, random)));
    }
    let end = json!({"item": "end", "items": all.len() + 1, "entries": 2, "interrupted": false, "finished_unix_s": 9.0});
    all.push(end.to_string());
    all
}

/// Bytes of a frame's part, unless it is the last one of an item.
const PAYLOAD_BYTES: usize = 192;

/// The frames of these items, each a line, as `runtime/bundle/writer.h` writes them.
fn framed(items: &[String]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for item in items {
        let mut parts = vec![String::new()];
        for byte in item.bytes() {
            if parts.last().is_some_and(|p| p.len() >= PAYLOAD_BYTES) {
                parts.push(String::new());
            }
            let part = parts.last_mut().unwrap();
            match byte {
                b'%' | 0..0x20 | 0x7F.. => *part += &format!("%{byte:02X}"),
                _ => part.push(char::from(byte)),
            }
        }
        let last = parts.len() - 1;
        for (place, part) in parts.iter().enumerate() {
            let end = if place == last { '.' } else { '+' };
            let number = frames.len();
            let head = format!("~yb {} {number:06x} {:03x}{end} ", &RUN[..8], part.len());
            let sum = crc32fast::hash(format!("{head}{part}").as_bytes());
            frames.push(format!("{head}{sum:08x} {part}\r\n").into_bytes());
        }
    }
    frames
}

fn one(files: &[&[u8]]) -> Capture {
    let named: Vec<(&str, &[u8])> = files.iter().map(|f| ("log", *f)).collect();
    let mut found = captures(&named).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn document(items: &[String]) -> String {
    format!("{{\"schema\":\"yamba-capture/1\",\"items\":[\n{}\n]}}\n", items.join(",\n"))
}

#[test]
fn document_and_serial_log_give_the_same_run() {
    let items = items(&mut Rng::with_seed(1));
    let text = document(&items);
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let log = framed(&items).concat();
    assert!(is_capture(text.as_bytes()) && is_capture(&log));
    assert!(!is_capture(b"{\"schema\":\"yamba-run/1\"}"));
    let (one_way, other) = (one(&[text.as_bytes()]), one(&[&log]));
    assert_eq!(one_way.lost, [""; 0]);
    assert_eq!(other.lost, [""; 0]);
    assert_eq!(one_way.launches, other.launches);
    assert_eq!(one_way.launches.len(), 6);
    assert_eq!(one_way.run, RUN);
    let member = one_way.fleet.clone().unwrap();
    assert_eq!((member.node.as_str(), member.rank), ("n3", Some(3)));
    assert_eq!(one_way.fleet, other.fleet);
    assert_eq!(one_way.plan, Some(plan()));
    assert_eq!(one_way.files["/proc/x"], b"50 % of \xe9\n");
    assert_eq!((one_way.points, one_way.plan), (other.points, other.plan));
    let batches = String::from_utf8(one_way.launches[0].records.clone()).unwrap();
    assert!(batches.lines().count() > 2 && batches.contains(r#""text":"a \"7\" b"}"#));
}

/// As the login shell of a host prints them, the first one without the end of its line, and in
/// another encoding.
#[test]
fn text_before_and_after_a_document_is_ignored() {
    let text = document(&items(&mut Rng::with_seed(3)));
    let whole = one(&[text.as_bytes()]);
    let before = b"Welcome {to} M\xfcnchen\nLast login: today ";
    let log = [&before[..], text.as_bytes(), b"\xe0 bient\xf4t\n]}\n"].concat();
    assert!(is_capture(&log));
    assert_eq!(run_of_capture(&log).as_deref(), Some(RUN));
    let found = one(&[&log]);
    assert_eq!((found.lost, found.launches), (whole.lost, whole.launches));
    assert_eq!(found.finished_unix_s, whole.finished_unix_s);
}

#[test]
fn run_knows_the_files_that_have_its_parts() {
    let text = document(&items(&mut Rng::with_seed(4)));
    let other = text.replace(RUN, "fedcba9876543210");
    let cut = &other.as_bytes()[..other.len() - 40];
    let log = framed(&items(&mut Rng::with_seed(4))).concat();
    let files = [("a", text.as_bytes()), ("b", cut), ("c", text.as_bytes()), ("d", &log[..])];
    let found = captures(&files).unwrap();
    let names: Vec<&[String]> = found.iter().map(|run| &run.files_of_run[..]).collect();
    assert_eq!(names, [&["a", "c"][..], &["b"], &["d"]]);
    assert_eq!(found[0].lost, [""; 0]);
}

/// As the output of several hosts that was appended to one file, the first of them cut.
#[test]
fn each_document_of_a_file_is_read() {
    let text = document(&items(&mut Rng::with_seed(4)));
    let other = text.replace(RUN, "fedcba9876543210");
    let log = framed(&items(&mut Rng::with_seed(4))).concat();
    let cut = &text.as_bytes()[..text.len() - 40];
    let file = [cut, b"\n", other.as_bytes(), other.as_bytes(), &log].concat();
    let found = captures(&[("all", &file)]).unwrap();
    let runs: Vec<(&str, usize)> =
        found.iter().map(|run| (&run.run[..8], run.launches.len())).collect();
    assert_eq!(runs, [(&RUN[..8], 6), ("fedcba98", 6), (&RUN[..8], 6)]);
    assert_eq!(found[0].lost, ["the end of the run"]);
    assert_eq!(found[1].lost, [""; 0]);
    assert_eq!(found[1].files_of_run, ["all"]);
    let joined = captures(&[("x", text.replace('\n', "").as_bytes())]).unwrap_err();
    assert!(joined.1.contains("one item on each line"), "{}", joined.1);
    let unknown = [text.as_bytes(), b"{\"schema\":\"yamba-capture/2\","].concat();
    assert!(captures(&[("x", &unknown)]).is_err());
}

/// A line that is gone from a document that has its end is counted, also one without a number.
#[test]
fn missing_items_of_a_complete_document_are_counted() {
    let items = items(&mut Rng::with_seed(4));
    for (place, item) in items.iter().enumerate() {
        let rest = [&items[..place], &items[place + 1..]].concat();
        let text = document(&rest);
        if item.contains("\"begin\"") {
            assert!(captures(&[("x", text.as_bytes())]).is_err());
            continue;
        }
        let lost = one(&[text.as_bytes()]);
        let is_end = item.contains("\"end\"");
        assert_eq!(lost.missing_items, (!is_end).then_some(1), "{item}");
        let said = if is_end { "the end of the run" } else { "1 of its 13 items" };
        assert!(lost.lost.contains(&said.to_owned()), "{:?}", lost.lost);
    }
    let damaged = document(&items).replacen("\"crc32\":", "\"crc32\":0,\"was\":", 1);
    let damaged = one(&[damaged.as_bytes()]);
    assert_eq!((damaged.launches.len(), damaged.missing_items), (5, Some(1)));
    assert_eq!(damaged.missing_rounds(0, 3), [0]);
    assert_eq!(damaged.missing_rounds(1, 3), [0; 0]);
}

#[test]
fn document_that_was_cut_keeps_its_complete_items() {
    let items = items(&mut Rng::with_seed(2));
    let text = document(&items);
    let whole = one(&[text.as_bytes()]);
    let begun = text.find("machine").unwrap();
    for cut in (begun..text.len() - 4).step_by(97) {
        let part = one(&[&text.as_bytes()[..cut]]);
        assert!(part.launches.iter().all(|l| whole.launches.contains(l)));
        // Nothing says that the run was stopped.
        assert!(!part.interrupted && part.finished_unix_s.is_none(), "{cut}");
        assert!(part.lost.contains(&"the end of the run".to_owned()), "{cut}");
    }
    // Two parts of one run are merged, and a repeated item counts once.
    let half = text.find("\"round\":1").unwrap();
    let merged = one(&[&text.as_bytes()[..half], text.as_bytes()]);
    assert_eq!(merged.launches, whole.launches);
    assert!(captures(&[("x", b"{\"schema\":\"yamba-capture/2\",")]).is_err());
}

#[test]
fn lost_frames_are_named_and_a_second_log_fills_them() {
    let items = items(&mut Rng::with_seed(3));
    let frames = framed(&items);
    let without = |lost: std::ops::Range<usize>| -> Vec<u8> {
        let each = frames.iter().enumerate();
        each.filter(|(i, _)| !lost.contains(i)).flat_map(|(_, f)| f.clone()).collect()
    };
    let (first, second) = (without(20..23), without(24..25));
    let lost = one(&[&first]).lost;
    assert_eq!(lost[0], "frames 20 to 22", "{lost:?}");
    assert_eq!(one(&[&second]).lost[0], "frame 24");
    let whole = one(&[&frames.concat()]);
    let merged = one(&[&first, &second]);
    assert_eq!(merged.lost, [""; 0]);
    assert_eq!(merged.launches, whole.launches);
    // A run whose end is missing says so.
    let cut = one(&[&frames[..frames.len() - 1].concat()]);
    assert!(!cut.interrupted && cut.finished_unix_s.is_none());
    assert_eq!(cut.lost, ["the end of the run"]);
}

const MESSAGES: [&str; 4] = [
    "[   12.345678] usb 1-1: new high-speed USB device number 2 using xhci_hcd\r\n",
    "<6>[    0.000001] random: crng init done\r\n",
    "login: ",
    "\u{1b}[0;32m OK \u{1b}[0m Started ~yb tests\r\n",
];

/// Damages a log: messages between and within lines, lost, repeated and moved lines, changed bits.
fn damaged(frames: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut log = Vec::new();
    for frame in frames {
        let mut line = frame.clone();
        match random.u8(..) {
            0..8 => continue,
            8..16 => line.extend_from_slice(frame),
            16..24 => {
                for _ in 0..random.usize(1..6) {
                    let at = random.usize(..line.len());
                    line[at] ^= 1 << random.u8(..8);
                }
            }
            24..40 => {
                let at = random.usize(..line.len());
                let message = MESSAGES[random.usize(..MESSAGES.len())];
                line.splice(at..at, message.bytes());
            }
            40..44 => line.truncate(random.usize(..line.len())),
            _ => {}
        }
        log.extend(line);
    }
    log
}

/// No launch, description or plan ever differs from those that were sent.
#[test]
fn damaged_logs_never_give_a_wrong_record() {
    let items = items(&mut Rng::with_seed(4));
    let frames = framed(&items);
    let whole = one(&[&frames.concat()]);
    let (mut complete, mut kept) = (0, 0);
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let logs: Vec<Vec<u8>> =
            (0..random.usize(1..4)).map(|_| damaged(&frames, &mut random)).collect();
        let named: Vec<(&str, &[u8])> = logs.iter().map(|log| ("log", log.as_slice())).collect();
        for capture in captures(&named).unwrap() {
            let is_sent = |launch: &RecordedLaunch| whole.launches.contains(launch);
            assert!(capture.launches.iter().all(is_sent), "seed {seed}");
            assert!(capture.points.iter().all(|p| whole.points.contains(p)), "seed {seed}");
            assert!(capture.plan.is_none() || capture.plan == whole.plan, "seed {seed}");
            let is_complete = capture.launches.len() == 6;
            assert!(is_complete || !capture.lost.is_empty(), "seed {seed}: silent loss");
            complete += usize::from(is_complete);
            kept += capture.launches.len();
        }
    }
    // Several logs of one run fill each other's gaps.
    assert!(complete > 40 && kept > 800, "{complete} {kept}");
}

/// A message of the kernel within a frame moves its rest to a later line.
#[test]
fn frames_around_a_kernel_message_are_joined() {
    let items = items(&mut Rng::with_seed(5));
    let frames = framed(&items);
    let whole = one(&[&frames.concat()]);
    let mut random = Rng::with_seed(6);
    let mut log = Vec::new();
    for frame in &frames {
        let mut line = frame.clone();
        let at = random.usize(1..line.len() - 2);
        let message = MESSAGES[random.usize(..2)];
        line.splice(at..at, message.bytes());
        log.extend(line);
    }
    let joined = one(&[&log]);
    assert!(joined.launches.len() >= 4, "{:?}", joined.lost);
    assert!(joined.launches.iter().all(|l| whole.launches.contains(l)));
}

#[test]
fn packed_bundle_gives_its_plan_back_and_notices_damage() {
    let mut contents = Contents {
        runner: b"\x7fELF runner".to_vec(),
        programs: vec![vec![7; 5000], [vec![7; 4000], vec![9; 100]].concat()],
        plan: plan(),
        files: vec!["/proc/cpuinfo".to_owned()],
        ..Contents::default()
    };
    contents.sources.insert("hash".to_owned(), "text".to_owned());
    let packed = pack(&contents, |_| {});
    let archive = unpack(&packed.bytes).unwrap();
    assert_eq!((archive.plan, archive.id.clone()), (plan(), packed.id.clone()));
    assert_eq!(archive.sources, contents.sources);
    assert_eq!(archive.id.len(), 16);
    let executables = Executables::read(&packed.bytes).unwrap();
    for (planned, program) in contents.plan.programs.iter().zip(&contents.programs) {
        assert_eq!(executables.get(&planned.class).as_ref(), Some(program));
    }
    assert_eq!(executables.get("gamma"), None);
    contents.plan.launches = 4;
    assert_ne!(pack(&contents, |_| {}).id, packed.id);
    let mut damaged = packed.bytes.clone();
    damaged[20] ^= 1;
    assert!(unpack(&damaged).is_none() && unpack(b"short").is_none());
    assert!(Executables::read(&damaged).is_none());
}
