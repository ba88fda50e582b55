//! Lines of other servers and configurations: clients behind proxies, names, users with spaces,
//! more fields.

use yamba_load::model::log::{FieldChoice, Log, LogFault, LogReader, Note, Reason, read};

/// Lines with these texts before the time and after the bytes. `I` stands for the number of the
/// line.
fn lines(count: usize, before: &str, after: &str) -> String {
    let line = |i: usize| {
        let number = i.to_string();
        format!(
            "{} [03/May/2020:10:{:02}:{:02} +0000] \"GET /a HTTP/1.1\" 200 5{}\n",
            before.replace('I', &number),
            i / 60,
            i % 60,
            after.replace('I', &number)
        )
    };
    (0..count).map(line).collect()
}

fn read_with(text: &str, choice: FieldChoice) -> Result<Log, LogFault> {
    let mut reader = LogReader::new(choice);
    text.split_inclusive('\n').for_each(|line| reader.line(line));
    reader.finish()
}

/// The client of each line is the expected one.
#[test]
fn clients_are_addresses_of_any_form() {
    for (before, client) in [
        ("192.0.2.I - -", "192.0.2.3"),
        ("2001:DB8::I - -", "2001:db8::3"),
        ("::ffff:192.0.2.I - -", "192.0.2.3"),
        ("192.0.2.I:51234 - -", "192.0.2.3"),
        ("[2001:db8::I]:51234 - -", "2001:db8::3"),
        ("203.0.113.I, 192.0.2.7 - -", "203.0.113.3"),
        ("203.0.113.I,192.0.2.7 - -", "203.0.113.3"),
        ("\"203.0.113.I\" - -", "203.0.113.3"),
        ("192.0.2.I - two words", "192.0.2.3"),
        ("192.0.2.1:443 203.0.113.I - -", "203.0.113.3"),
        ("[shop] 192.0.2.I - -", "192.0.2.3"),
        ("May  3 10:00:00 host nginx: 192.0.2.I - -", "192.0.2.3"),
        ("hostI.example.org - -", "host3.example.org"),
        ("192.0.2.I", "192.0.2.3"),
        ("192.0.2.I -", "192.0.2.3"),
        ("shop 192.0.2.I", "192.0.2.3"),
        ("shop 192.0.2.I -", "192.0.2.3"),
        ("192.0.2.I shop - -", "192.0.2.3"),
    ] {
        let log = read(&lines(12, before, "")).unwrap();
        assert_eq!(log.entries.len(), 12, "{before}");
        let third = log.entries[3].client as usize;
        assert_eq!(log.clients[third], client, "{before}");
    }
}

#[test]
fn uncertain_clients_are_refused_or_named() {
    let fault = |before: &str| read(&lines(12, before, "")).unwrap_err();
    assert_eq!(fault("192.0.2.1 203.0.113.I - -"), LogFault::SeveralClients(vec![1, 2]));
    assert_eq!(fault("shop hostI.example - -"), LogFault::NoClient(4));
    assert_eq!(fault("192.0.2.1 - - 203.0.113.I"), LogFault::SeveralClients(vec![1, 4]));
    assert_eq!(fault("hostI"), LogFault::NoClient(1));
    assert!(fault("").help().contains("10.0.0.1 - - ["));
    let notes = |before: &str| read(&lines(12, before, "")).unwrap().notes;
    let example = "host0".to_owned();
    assert_eq!(notes("hostI - -"), [Note::Names { example }]);
    assert_eq!(notes("192.0.2.I, 192.0.2.9 - -"), [Note::Lists]);
    let several = notes("siteI 192.0.2.1 - -");
    assert!(several[0].to_string().contains("12 values"), "{several:?}");
}

/// The option in the help of each refusal works.
#[test]
fn client_that_the_user_names_is_read() {
    for (before, field, client) in [
        ("hostI", 1, "host3"),
        ("hostI -", 1, "host3"),
        ("shop hostI - -", 2, "host3"),
        ("192.0.2.1 - - 203.0.113.I", 4, "203.0.113.3"),
        ("192.0.2.1 203.0.113.I - -", 1, "192.0.2.1"),
    ] {
        let choice = FieldChoice { client: Some(field), latency: None };
        let log = read_with(&lines(12, before, ""), choice).unwrap();
        let third = log.entries[3].client as usize;
        assert_eq!((log.entries.len(), &*log.clients[third]), (12, client), "{before}");
    }
}

/// lighttpd writes `%V` in the place of the identity, and many configurations of nginx `$host`.
#[test]
fn virtual_hosts_after_the_client_are_named() {
    for (before, place) in [
        ("192.0.2.1 siteI -", 2),
        ("192.0.2.1 siteI bob", 2),
        ("192.0.2.1 siteI", 2),
        ("192.0.2.1 siteI - -", 2),
        ("192.0.2.1 - - siteI", 4),
        ("siteI 192.0.2.1 -", 1),
    ] {
        let log = read(&lines(12, before, "")).unwrap();
        assert_eq!((log.entries.len(), log.refused_count), (12, 0), "{before}");
        let note = Note::Before { field: place, example: "site0".to_owned(), values: 12 };
        assert_eq!(log.notes, [note], "{before}");
    }
    let one = read(&lines(12, "192.0.2.1 site -", "")).unwrap().notes;
    assert_eq!(one[0].to_string(), "field 2 of the lines (\"site\") is not used");
    for before in ["192.0.2.1 - bob", "192.0.2.1 - userI", "192.0.2.1 -"] {
        assert_eq!(read(&lines(12, before, "")).unwrap().notes, [], "{before}");
    }
}

/// A number in the place of the user may be that of the bytes, unless users are numbers.
#[test]
fn redirects_of_numeric_users_are_read() {
    let redirect = lines(1, "192.0.2.1 - 10234", "").replace("200 5", "302 -");
    let log = read(&(lines(12, "192.0.2.1 - 1023I", "") + &redirect)).unwrap();
    assert_eq!((log.entries.len(), log.refused_count), (13, 0));
    assert_eq!(log.entries.iter().filter(|e| e.status == 302).count(), 1);
    let log = read(&(lines(12, "192.0.2.1 - -", "") + &redirect)).unwrap();
    assert_eq!(log.refused[0].reason, Reason::NumberBefore);
}

/// A name among addresses may be a virtual host, and another number of fields an exchanged one.
#[test]
fn lines_unlike_the_others_are_left_out_with_a_reason() {
    let odd = |before: &str, after: &str| {
        let text = lines(20, "192.0.2.I - -", " \"-\" \"curl\"") + &lines(1, before, after);
        let log = read(&text).unwrap();
        assert_eq!((log.entries.len(), log.refused_count), (20, 1), "{before}{after}");
        log.refused[0].reason.clone()
    };
    let agent = " \"-\" \"curl\"";
    assert_eq!(odd("host - -", agent), Reason::Client);
    assert_eq!(odd("- - -", agent), Reason::Client);
    assert_eq!(odd("192.0.2.1 - \"203.0.113.1, 192.0.2.9\"", agent), Reason::ListAfter);
    let (found, usual) = (4, 3);
    assert_eq!(odd("shop 192.0.2.1 - -", agent), Reason::FieldsBefore { found, usual });
    let (found, usual) = (0, 2);
    assert_eq!(odd("192.0.2.1 - -", ""), Reason::FieldsAfter { found, usual });
    assert_eq!(odd("192.0.2.1 - -", " \"-\" \"curl"), Reason::OpenAfter);
    assert_eq!(odd("192.0.2.1 - \"bob", agent), Reason::OpenBefore);
}

#[test]
fn log_of_two_formats_is_refused() {
    let text = lines(10, "192.0.2.I - -", " \"-\" \"curl\"") + &lines(10, "192.0.2.I - -", "");
    assert_eq!(read(&text).unwrap_err(), LogFault::MixedLines);
}

/// The ingress of Kubernetes writes the time of the request and that of the upstream: only the user
/// knows which one is the latency.
#[test]
fn one_of_several_times_is_the_latency_only_if_the_user_names_it() {
    let after = " \"-\" \"curl\" 345 0.005 [ns-svc-80] [] 10.1.1.1:80 612 0.004 200 abcI";
    let text = lines(12, "192.0.2.I - -", after);
    let log = read(&text).unwrap();
    assert_eq!((log.took_from, log.entries[0].took_s), (None, None));
    let [Note::Latencies(times), Note::After { fields: others, .. }] = &log.notes[..] else {
        panic!("{:?}", log.notes);
    };
    let fields = [(4, "0.005".to_owned()), (9, "0.004".to_owned())];
    assert_eq!((times, others.len()), (&fields.to_vec(), 7));
    assert_eq!(
        log.notes[0].to_string(),
        "each of the fields after the bytes 4 (\"0.005\"), 9 (\"0.004\") may be the latency, so none is used; --latency-field N=UNIT decides"
    );
    let choice = FieldChoice { client: None, latency: Some("4=s".parse().unwrap()) };
    let log = read_with(&text, choice).unwrap();
    assert_eq!(log.entries[0].took_s, Some(0.005));
    assert_eq!(log.took_step_s, 0.001);
    let unused = "fields after the bytes that are not used: 3 (\"345\"), 5";
    assert!(log.notes[0].to_string().starts_with(unused), "{:?}", log.notes);
    assert!(!log.notes[0].to_string().contains("names one"));
}

/// Traefik's common format ends with `12ms`, and configurations of nginx write `rt=0.004`.
#[test]
fn latencies_may_have_their_unit_and_a_key() {
    let latency = |after: &str, odd: &str, choice: &str| {
        let choice = FieldChoice { client: None, latency: Some(choice.parse().unwrap()) };
        let text = lines(12, "192.0.2.I - -", after) + &lines(1, "192.0.2.1 - -", odd);
        let log = read_with(&text, choice).unwrap();
        let known: Vec<f64> = log.entries.iter().filter_map(|e| e.took_s).collect();
        let Some(Note::NotTimes(not_times)) = log.notes.last() else {
            panic!("{:?}", log.notes);
        };
        assert_eq!((not_times.count, not_times.line), (1, 13));
        (known.len(), known.first().copied(), log.took_step_s)
    };
    let traefik = " \"-\" \"-\" 17 \"web@docker\" \"http://10.1.1.1:80\" 12ms";
    assert_eq!(latency(traefik, &traefik.replace("12ms", "1.2s"), "6=ms"), (12, Some(0.012), 1e-3));
    for field in ["rt=0.0040", "rt=\"0.0040\"", "rt=0.0040s"] {
        let after = format!(" \"-\" \"-\" {field} uct=0.001");
        // The odd line's fields are exchanged.
        let odd = format!(" \"-\" \"-\" uct=0.001 {field}");
        assert_eq!(latency(&after, &odd, "3=s"), (12, Some(0.004), 1e-4));
    }
}

#[test]
fn requests_without_a_latency_are_counted() {
    let text = lines(12, "192.0.2.I - -", " 0.004") + &lines(1, "192.0.2.1 - -", " 0,004");
    let log = read(&text).unwrap();
    assert_eq!(log.entries.iter().filter(|e| e.took_s == Some(0.004)).count(), 12);
    let text = "the latency is no time in 1 of 13 requests, first line 13 (\"0,004\")";
    assert_eq!(log.notes[0].to_string(), text);
    let text = lines(12, "192.0.2.I - -", " 0.004") + &lines(1, "192.0.2.1 - -", " -");
    assert_eq!(read(&text).unwrap().notes, [Note::NoLatency(1)]);
}

/// Of `-`, which servers write for no latency, there may be many.
#[test]
fn field_that_is_no_latency_in_most_requests_is_refused() {
    let after = |texts: &[(usize, &str)]| -> String {
        let each = texts.iter();
        each.map(|(count, text)| lines(*count, "192.0.2.I - -", &format!(" {text}"))).collect()
    };
    let read = |text: &str, field: &str| {
        let latency = Some(field.parse().unwrap());
        let choice = FieldChoice { client: None, latency };
        read_with(text, choice)
    };
    for (texts, field, refused) in [
        (&[(12, "12ms")][..], "1=s", Some((1, "12ms"))),
        (&[(12, "NONE")], "1=s", Some((1, "NONE"))),
        // nginx' $msec, and Apache's %D in a wrong unit.
        (&[(12, "1588500000.123")], "1=s", Some((1, "1588500000.123"))),
        (&[(5, "40000"), (7, "400000")], "1=s", Some((6, "400000"))),
        (&[(7, "40000"), (5, "400000")], "1=s", None),
        (&[(9, "-"), (1, "NONE"), (2, "0.004")], "1=s", None),
        (&[(9, "-"), (2, "NONE"), (1, "0.004")], "1=s", Some((10, "NONE"))),
    ] {
        let found = read(&after(texts), field);
        match refused {
            None => assert!(found.is_ok(), "{texts:?}: {found:?}"),
            Some((line, example)) => {
                let Err(LogFault::NoLatency(_, not_times)) = found else {
                    panic!("{texts:?}: {found:?}");
                };
                assert_eq!((not_times.line, &*not_times.example), (line, example));
                assert_eq!(not_times.all, 12);
            }
        }
    }
    assert_eq!(
        read(&after(&[(12, "NONE")]), "1=s").unwrap_err().to_string(),
        "--latency-field: field 1 after the bytes, in s, is no time of at most a day in 12 of 12 requests, first line 1 (\"NONE\")"
    );
}

/// A line with a virtual host among lines without, and the other way round.
#[test]
fn reason_of_a_line_does_not_claim_what_others_have() {
    let text = lines(12, "shop 192.0.2.I - -", "") + &lines(3, "192.0.2.I - -", "");
    let choice = FieldChoice { client: Some(1), latency: None };
    let log = read_with(&text, choice).unwrap();
    let (found, usual) = (4, 3);
    assert_eq!(log.refused_by, [(Reason::FieldsBefore { found, usual }, 12)]);
    assert_eq!(
        log.refusals().unwrap(),
        "12 of 15 lines (80.0 %) are left out: it has 4 fields before its time, and lines with 3 are read (12)"
    );
}

#[test]
fn reasons_of_lines_are_counted() {
    let mut text = lines(20, "192.0.2.I - -", "");
    for (count, line) in [(2, "a b"), (9, "word"), (1, "x \"GET /"), (3, "a [b]")] {
        text += &format!("{line}\n").repeat(count);
    }
    let log = read(&(text + "cut")).unwrap();
    assert_eq!(
        log.refusals().unwrap(),
        "16 of 36 lines (44.4 %) are left out: it has no fields (9); it has no [time] (3); it has no \"request\" (3); it does not end in a line feed, so it may be cut off (1)"
    );
}

/// The first lines decide on the form; later ones must have it, too.
#[test]
fn lines_after_the_sample_have_the_same_form() {
    let mut reader = LogReader::default();
    let line = lines(1, "192.0.2.1 - -", "");
    for _ in 0..10_001 {
        reader.line(&line);
    }
    reader.line(&lines(1, "shop 192.0.2.1 - -", ""));
    reader.line(&line);
    let log = reader.finish().unwrap();
    assert_eq!((log.entries.len(), log.refused_count), (10_002, 1));
    assert_eq!(log.refused[0].line, 10_002);
}
