//! What other servers and configurations write: clients behind proxies, names, users with spaces, more fields.

use yamba_load::log::{FieldChoice, LogFault, LogReader, Note, Reason, read};

/// Lines with these texts before the time and after the bytes. `I` stands for the number of the line.
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

/// The client of each line is the expected one.
#[test]
fn clients_are_addresses_of_any_form() {
    for (before, client) in [
        ("192.0.2.I - -", "192.0.2.3"),
        ("2001:DB8::I - -", "2001:db8::3"),
        ("::ffff:192.0.2.I - -", "192.0.2.3"),
        ("192.0.2.I:51234 - -", "192.0.2.3"),
        ("203.0.113.I, 192.0.2.7 - -", "203.0.113.3"),
        ("203.0.113.I,192.0.2.7 - -", "203.0.113.3"),
        ("\"203.0.113.I\" - -", "203.0.113.3"),
        ("192.0.2.I - two words", "192.0.2.3"),
        ("192.0.2.1:443 203.0.113.I - -", "203.0.113.3"),
        ("[shop] 192.0.2.I - -", "192.0.2.3"),
        ("May  3 10:00:00 host nginx: 192.0.2.I - -", "192.0.2.3"),
        ("hostI.example.org - -", "host3.example.org"),
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
    assert_eq!(
        fault("192.0.2.1 203.0.113.I - -"),
        LogFault::SeveralClients(vec![1, 2])
    );
    assert_eq!(fault("shop hostI.example - -"), LogFault::NoClient(4));
    let notes = |before: &str| read(&lines(12, before, "")).unwrap().notes;
    let example = "host0".to_owned();
    assert_eq!(notes("hostI - -"), [Note::Names { example }]);
    assert_eq!(notes("192.0.2.I, 192.0.2.9 - -"), [Note::Lists]);
    let several = notes("siteI 192.0.2.1 - -");
    assert!(several[0].to_string().contains("12 values"), "{several:?}");
}

/// A name among addresses may be a virtual host, and another number of fields an exchanged one.
#[test]
fn lines_unlike_the_others_are_left_out_with_a_reason() {
    let odd = |before: &str, after: &str| {
        let text = lines(20, "192.0.2.I - -", " \"-\" \"curl\"") + &lines(1, before, after);
        let log = read(&text).unwrap();
        assert_eq!(
            (log.entries.len(), log.refused_count),
            (20, 1),
            "{before}{after}"
        );
        log.refused[0].reason.clone()
    };
    let agent = " \"-\" \"curl\"";
    assert_eq!(odd("host - -", agent), Reason::Client);
    assert_eq!(odd("- - -", agent), Reason::Client);
    let (found, usual) = (4, 3);
    assert_eq!(
        odd("shop 192.0.2.1 - -", agent),
        Reason::FieldsBefore { found, usual }
    );
    let (found, usual) = (0, 2);
    assert_eq!(
        odd("192.0.2.1 - -", ""),
        Reason::FieldsAfter { found, usual }
    );
    assert_eq!(odd("192.0.2.1 - -", " \"-\" \"curl"), Reason::Open);
}

#[test]
fn log_of_two_formats_is_refused() {
    let text = lines(10, "192.0.2.I - -", " \"-\" \"curl\"") + &lines(10, "192.0.2.I - -", "");
    assert_eq!(read(&text).unwrap_err(), LogFault::MixedLines);
}

/// The ingress of Kubernetes writes the time of the request and that of the upstream: only the user knows which one is the latency.
#[test]
fn one_of_several_times_is_the_latency_only_if_the_user_names_it() {
    let after = " \"-\" \"curl\" 345 0.005 [ns-svc-80] [] 10.1.1.1:80 612 0.004 200 abcI";
    let text = lines(12, "192.0.2.I - -", after);
    let log = read(&text).unwrap();
    assert_eq!((log.took_from, log.entries[0].took_s), (None, None));
    let Note::After(fields) = &log.notes[0] else {
        panic!("{:?}", log.notes);
    };
    assert_eq!(fields.len(), 9);
    assert_eq!(fields[1], (4, "0.005".to_owned()));
    let mut reader = LogReader::new(FieldChoice {
        client: None,
        latency: Some("4=s".parse().unwrap()),
    });
    text.split_inclusive('\n')
        .for_each(|line| reader.line(line));
    let log = reader.finish().unwrap();
    assert_eq!(log.entries[0].took_s, Some(0.005));
    assert_eq!(log.took_step_s, 0.001);
}

#[test]
fn requests_without_a_latency_are_counted() {
    let text = lines(12, "192.0.2.I - -", " 0.004") + &lines(1, "192.0.2.1 - -", " 0,004");
    let log = read(&text).unwrap();
    assert_eq!(
        log.entries
            .iter()
            .filter(|e| e.took_s == Some(0.004))
            .count(),
        12
    );
    assert_eq!(log.notes, [Note::NoLatency(1)]);
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
