//! Tests of the page in a browser.

mod access;
mod chromium;
mod fleets;
mod made_up;
mod page;
mod predictions;

use serde_json::json;
use yamba_record::Run;
use yamba_report::{Operation, PairVerdict, SideBySide, Study, VerdictKind};

use made_up::{HOSTILE, benchmark, caches, hostile_run, hostile_study, level_found, run, study};
use page::Page;

/// A run with an unordered sweep of four sizes, a single figure, an invalid one and a skipped one.
fn sample_run() -> Run {
    let mut invalid = benchmark("lat_wrong", 16, "invalid");
    invalid.notes = vec!["faults is 1, expected 7".into()];
    run(vec![
        benchmark("lat_mem", 4096, "ok"),
        benchmark("lat_mem", 512, "ok"),
        benchmark("lat_mem", 1024, "ok"),
        benchmark("lat_mem", 65536, "ok"),
        benchmark("lat_alone", 300, "ok"),
        invalid,
        benchmark("lat_absent", 1, "skipped"),
    ])
}

/// Opens the page of `runs`, runs the test on it, and checks that the page reported no faults.
fn on_page(runs: &[Run], test: impl FnOnce(&mut Page)) {
    on_page_with(runs, &[], test);
}

fn on_page_with(runs: &[Run], studies: &[Study], test: impl FnOnce(&mut Page)) {
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    let mut page = Page::of(&mut browser, runs, studies);
    test(&mut page);
    assert_eq!(page.faults(), [""; 0]);
}

/// Number of opaque pixels of a canvas.
const INK: &str = "(() => { const c = document.querySelector('.plot canvas'); if (!c) return 0;
    return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length; })()";

#[test]
#[ignore = "needs Chromium"]
fn page_from_file_requests_nothing_and_logs_nothing() {
    on_page(&[sample_run(), sample_run()], |page| {
        assert_eq!(page.value("document.readyState"), "complete");
        assert_eq!(page.value("location.protocol"), "file:");
        assert_eq!(page.value("performance.getEntriesByType('resource').length"), 0);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn charts_are_drawn() {
    on_page(&[sample_run()], |page| {
        page.place(".plot");
        page.until(&format!("{INK} > 2000"));
        assert_eq!(page.value("document.querySelectorAll('.plot').length"), 1);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn pointer_shows_table_value_in_chart() {
    on_page(&[sample_run()], |page| {
        page.place(".plot");
        page.until("!!document.querySelector('.plot .u-over')");
        let [x, y, width, height] = page.place(".plot .u-over");
        for (at, size) in [(x + 2.0, "512"), (x + width - 2.0, "64Ki")] {
            page.point_at(at, y + height / 2.0);
            page.until(&format!(
                "document.querySelector('.plot .u-legend').innerText.includes({})",
                json!(size)
            ));
            let [figure, interval] = row_of(page, size);
            let legend = page.text(".plot .u-legend");
            assert!(legend.contains(&format!("{figure} {interval}")), "{legend}");
        }
    });
}

#[test]
#[ignore = "needs Chromium"]
fn chart_is_saved_as_displayed() {
    let mut run = sample_run();
    for sweep in run.benchmarks.iter_mut().filter(|b| b.name == "lat_mem") {
        sweep.declaration.provenance.tags = vec!["memory_sizes".to_owned()];
    }
    run.benchmarks.push(level_found(1, 32 << 10));
    run.machine.details = Some(caches(&[(2, 48 << 10)]));
    on_page(&[run], |page| {
        let svg = page.save(".save", "lat_mem-latency-size.svg");
        assert!(svg.starts_with("<svg xmlns="), "{svg}");
        for text in [
            "latency (us)",
            ">size<",
            ">16Ki<",
            ">L1<",
            ">L2<",
            "Dashed: caches as the benchmark cache measured them",
        ] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert_eq!(svg.matches("class=\"mark\"").count(), 4, "a mark for each point");
        let points = svg.split_once("<polyline points=\"").unwrap().1;
        let points = points.split_once('"').unwrap().0;
        // No point lies in L2, so the line ends before that level.
        assert_eq!(points.split(' ').count(), 3);
        assert!(!points.contains("NaN"));
        let well_formed = format!(
            "new DOMParser().parseFromString({}, 'image/svg+xml').querySelector('parsererror') === null",
            json!(svg)
        );
        assert_eq!(page.value(&well_formed), true);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn logarithmic_axes_are_labelled_with_powers_of_ten() {
    let sizes = [10_300, 103_000, 1_030_000];
    let swept = run(sizes.map(|size| benchmark("lat_far", size, "ok")).to_vec());
    on_page(&[swept], |page| {
        let svg = page.save(".save", "lat_far-latency-size.svg");
        let labels: Vec<&str> = svg.split("<text ").skip(1).collect();
        let labels = labels.iter().filter_map(|t| t.split_once('>')?.1.split_once('<'));
        let mut labels: Vec<&str> = labels.map(|(label, _)| label).collect();
        labels.retain(|l| l.starts_with(|c: char| c.is_ascii_digit()));
        // The x axis, then the y axis in ms.
        assert_eq!(labels, ["100000", "1000000", "0.01", "0.1", "1"]);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn points_below_zero_are_within_the_axis() {
    let mut swept = run([1, 2, 3].map(|size| benchmark("lat_cold", size, "ok")).to_vec());
    for (i, entry) in swept.benchmarks.iter_mut().enumerate() {
        entry.median = Some(-52.0 + i as f64);
        entry.confidence_interval = Some([-60.0, -49.0]);
        entry.unit = Some("degrees".to_owned());
    }
    on_page(&[swept], |page| {
        let svg = page.save(".save", "lat_cold-latency-size.svg");
        let numbers = |text: &str| -> Vec<f64> {
            text.split([',', ' ']).map(|n| n.parse().unwrap()).collect()
        };
        let points = svg.split_once("<polyline points=\"").unwrap().1;
        let points = numbers(points.split_once('"').unwrap().0);
        let [_, y, _, height] = page.place(".plot .u-over");
        let [_, top, ..] = page.place(".plot .uplot");
        let is_within = |at: &f64| (y - top..=y - top + height).contains(at);
        assert!(points.chunks(2).all(|p| is_within(&p[1])), "{points:?} {svg}");
    });
}

/// The luminance of the page, the least contrast of its texts, and the number of pixels in a chart
/// with the text colour.
const COLOURS: &str = "(() => {
    const rgb = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
    const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const style = (selector) => getComputedStyle(document.querySelector(selector));
    const back = light(rgb(style('body').backgroundColor));
    const texts = ['body', 'a', 'caption', 'figcaption', '.counts', '.fix', '.card .about', '.card .which', '.badge.invalid', 's.invalid', 'small'];
    const contrasts = texts.map((s) => light(rgb(style(s).color))).map((t) => (Math.max(t, back) + 0.05) / (Math.min(t, back) + 0.05));
    const text = rgb(style('body').color);
    const c = document.querySelector('.plot canvas');
    // A copy, which may be read as often as a test likes.
    const copy = Object.assign(document.createElement('canvas'), { width: c?.width ?? 1, height: c?.height ?? 1 }).getContext('2d', { willReadFrequently: true });
    if (c) copy.drawImage(c, 0, 0);
    const points = copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data;
    let inked = 0;
    for (let i = 0; i < points.length; i += 4) if (points[i + 3] > 200 && text.every((v, k) => Math.abs(v - points[i + k]) < 30)) inked++;
    return [back, Math.min(...contrasts), inked];
})()";

#[test]
#[ignore = "needs Chromium"]
fn light_and_dark_colours_have_contrast() {
    on_page(&[sample_run()], |page| {
        page.place(".plot");
        for (scheme, is_dark) in [("light", false), ("dark", true), ("light", false)] {
            let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
            page.call("Emulation.setEmulatedMedia", json!({"features": features}));
            // The chart is redrawn in the other colours.
            page.until(&format!("{COLOURS}[2] > 50"));
            let [back, contrast, _]: [f64; 3] =
                serde_json::from_value(page.value(COLOURS)).unwrap();
            assert_eq!(back < 0.05, is_dark, "{scheme}: luminance {back}");
            assert!(contrast >= 4.5, "{scheme}: contrast {contrast}");
        }
    });
}

#[test]
#[ignore = "needs Chromium"]
fn printed_charts_are_lines() {
    on_page(&[sample_run()], |page| {
        page.value("dispatchEvent(new Event('beforeprint'))");
        page.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        assert_eq!(page.texts(".plot > svg polyline").len(), 1);
        assert_eq!(page.texts(".plot .uplot, .save, .filter").len(), 0);
        page.value("dispatchEvent(new Event('afterprint'))");
        assert_eq!(page.texts(".plot > svg").len(), 0);
    });
}

/// Figure and interval of `lat_mem` at a size, from the table.
fn row_of(page: &mut Page, size: &str) -> [String; 2] {
    let cells = format!(
        "(r => [r.cells[2].innerText, r.cells[3].innerText])([...document.querySelectorAll('.figures tbody tr')]
            .find(r => r.cells[0].innerText === 'lat_mem' && r.cells[1].innerText === 'size={size}'))"
    );
    serde_json::from_value(page.value(&cells)).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn table_sorts_in_both_directions() {
    on_page_with(&[sample_run()], &[study()], |page| {
        let figures = "table.figures td.number[data-unit]";
        let before = page.texts(figures);
        assert_eq!(before[0], "4.096 us");
        let heading =
            |column: usize| format!("table:not(.study) th[data-column='{column}'] button");
        page.click(&heading(2));
        let up = ["16 ns", "300 ns", "512 ns", "1.024 us", "4.096 us", "65.54 us"];
        assert_eq!(page.texts(figures), up);
        assert_eq!(page.texts("th[aria-sort=ascending]").len(), 1);
        page.click(&heading(2));
        assert_eq!(page.texts(figures)[0], "65.54 us");
        assert_eq!(page.texts("th[aria-sort=descending]").len(), 1);
        page.click(&heading(0));
        assert_eq!(page.texts("table.figures tbody th.name")[0], "lat_alone");
        assert_eq!(page.texts("th[aria-sort]").len(), 1);
        check_study_sorts_and_links(page);
    });
}

fn check_study_sorts_and_links(page: &mut Page) {
    let operations = "table.study th.operation";
    assert_eq!(page.texts(operations), ["Load", "Growth", "Absent"]);
    page.click("table.study th[data-sort=number] button");
    assert_eq!(page.texts(operations), ["Growth", "Load", "Absent"]);
    assert_eq!(page.texts(".behind").len(), 0, "folded at first");
    for _ in 0..2 {
        page.click("table.study td.measured > a");
        page.until("document.activeElement.getAttribute('aria-expanded') === 'true'");
        let behind = page.texts(".behind").concat();
        assert!(behind.contains("--raw --at 'size=512' -- "), "{behind}");
        // The same link unfolds the details again after they were folded.
        page.press("Enter");
        page.until("document.activeElement.getAttribute('aria-expanded') === 'false'");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn filter_shows_matching_rows() {
    let mut run = sample_run();
    run.benchmarks[0].interference.is_disturbed = true;
    on_page(&[run], |page| {
        page.click("#filter");
        page.write("lat_mem SIZE=1024");
        assert_eq!(page.texts("table.figures tbody th.name"), ["lat_mem"]);
        assert_eq!(page.text("#found"), "1 of 7 rows");
        page.value("document.querySelector('#filter').select()");
        page.write("invalid");
        assert_eq!(page.texts("table.figures tbody th.name"), ["lat_wrong"]);
        // The words that the page shows in a row, or above its table.
        for (text, count) in
            [("size=4Ki", 1), ("disturbed", 1), ("expected 7", 1), ("benchmarks", 6), ("valid", 5)]
        {
            page.value("document.querySelector('#filter').select()");
            page.write(text);
            assert_eq!(page.text("#found"), format!("{count} of 7 rows"), "{text}");
        }
    });
}

#[test]
#[ignore = "needs Chromium"]
fn parameters_sort_by_their_numbers() {
    let values = [json!(1.5), json!(0.25), json!(-2), json!(0.5), json!(16), json!(-4)];
    let mut swept = run((0..).zip(&values).map(|(i, _)| benchmark("lat", i, "ok")).collect());
    for (entry, value) in swept.benchmarks.iter_mut().zip(values) {
        entry.parameters.0[0].1 = value;
    }
    on_page(&[swept], |page| {
        page.click("table.figures th[data-column='1'] button");
        let sorted = ["size=-4", "size=-2", "size=0.25", "size=0.5", "size=1.5", "size=16"];
        assert_eq!(page.texts("table.figures td.point"), sorted);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn keyboard_unfolds_figure() {
    on_page(&[sample_run()], |page| {
        assert_eq!(page.texts(".behind").len(), 0, "folded at first");
        let on_button = "document.activeElement.matches('th.name button')";
        for _ in 0..40 {
            page.press("Tab");
            if page.value(on_button) == json!(true) {
                break;
            }
        }
        assert_eq!(page.value(on_button), true, "out of the keyboard's reach");
        page.press("Enter");
        page.until("document.activeElement.getAttribute('aria-expanded') === 'true'");
        let behind = page.texts(".behind").concat();
        assert!(behind.contains("Medians of the launches"), "{behind}");
        assert!(
            behind.contains("yamba show --raw --at 'size=4096' -- 0123456789abcdef lat_mem"),
            "{behind}"
        );
        assert_eq!(page.texts(".behind figure.samples").len(), 1);
        page.press("Enter");
        page.until("document.activeElement.getAttribute('aria-expanded') === 'false'");
        assert_eq!(page.texts(".behind").len(), 0);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn hostile_names_are_displayed_as_text() {
    on_page_with(&[hostile_run()], &[hostile_study()], |page| {
        assert!(page.texts("tbody th.name").iter().all(|name| name == HOSTILE));
        assert_eq!(page.texts("th.operation"), [HOSTILE]);
        assert_eq!(page.value("document.images.length"), 0);
        page.place(".plot");
        page.until(&format!("{INK} > 2000"));
        page.click("th.name button");
        page.click("th[data-sort=word] button");
        let legend = page.text(".plot .u-legend");
        assert!(legend.contains(HOSTILE), "{legend}");
    });
}

#[test]
#[ignore = "needs Chromium"]
fn invalid_figure_is_visibly_marked() {
    on_page(&[sample_run()], |page| {
        let style =
            page.value("getComputedStyle(document.querySelector('s.invalid')).textDecorationLine");
        assert_eq!(style, "line-through");
        let status = page.texts("td.status");
        let invalid: Vec<&String> = status.iter().filter(|s| s.contains("invalid")).collect();
        assert_eq!(invalid.len(), 1);
        let reasons = page.texts("tr.why").concat();
        assert!(reasons.contains("invalid: faults is 1, expected 7"), "{reasons}");
    });
}

/// The comparison of the figures of two sample runs: one seems slower, one is undecided, the others
/// are alike.
fn sample_comparison() -> SideBySide {
    let pair = |at: usize, kind, word: &str| PairVerdict {
        entries: [at; 2],
        ratio: (kind != VerdictKind::Undecided).then_some(1.25),
        confidence_interval: (kind != VerdictKind::Undecided).then_some([1.125, 1.5]),
        kind,
        word: word.to_owned(),
    };
    let mut pairs = vec![
        pair(0, VerdictKind::Slower, "seems slower"),
        pair(5, VerdictKind::Undecided, "invalid in A, invalid in B"),
    ];
    pairs.extend((1..5).map(|at| pair(at, VerdictKind::Same, "no difference shown")));
    SideBySide {
        summary: "Of B: 1 seems slower, 4 without a shown difference.".to_owned(),
        remarks: vec!["It may be drift.".to_owned()],
        pairs,
    }
}

#[test]
#[ignore = "needs Chromium"]
fn page_does_not_scroll_sideways_at_any_width() {
    let runs = [sample_run(), sample_run()];
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    for comparison in [None, Some(&sample_comparison())] {
        let mut page = Page::compared(&mut browser, &runs, &[study()], comparison);
        page.place(".plot");
        page.until("!!document.querySelector('.plot .u-over')");
        for scheme in ["light", "dark"] {
            let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
            page.call("Emulation.setEmulatedMedia", json!({"features": features}));
            for width in [390, 900, 1400] {
                page.window(width, 800);
                page.until(
                    "document.documentElement.scrollWidth === document.documentElement.clientWidth",
                );
                assert_eq!(page.value("innerWidth"), width);
                let [x, _, own, _] = page.place("td.number[data-unit]");
                assert!(x >= 0.0 && x + own <= f64::from(width), "a figure out of sight");
                let [_, _, chart, _] = page.place(".plot");
                assert!(chart > f64::from(width) - 60.0, "a chart of {chart} at {width}");
            }
        }
        assert_eq!(page.faults(), [""; 0]);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn every_cell_is_in_sight_between_phone_and_desktop() {
    let outside = "[...document.querySelectorAll('table.figures td')]
        .filter((cell) => cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.innerText).join()";
    for runs in [vec![sample_run()], vec![sample_run(), sample_run()]] {
        on_page(&runs, |page| {
            for width in [780, 820, 1024, 1200] {
                page.window(width, 900);
                page.until(&format!("innerWidth === {width}"));
                assert_eq!(page.value(outside), "", "{} runs at {width}", runs.len());
            }
        });
    }
}

#[test]
#[ignore = "needs Chromium"]
fn bars_over_names_are_among_the_charts_and_fit_every_width() {
    let of = |order: &str, size: u64| {
        let mut point = benchmark("read", size, "ok");
        point.parameters.0 = vec![("order".to_owned(), json!(order))];
        point.interference.is_disturbed = true;
        point.declaration.charts.clear();
        point
    };
    let run = run(vec![of("sequential_forward", 25_000), of("random_backward", 123_456)]);
    on_page(&[run], |page| {
        assert_eq!(page.texts("section:has(> #plots) .bars tr").len(), 2);
        assert_eq!(page.texts("section:has(> #plots) ~ section:has(table.figures)").len(), 1);
        for width in [390, 820, 1400] {
            page.window(width, 900);
            page.until(
                "document.documentElement.scrollWidth === document.documentElement.clientWidth",
            );
            let [x, _, own, _] = page.place(".bars svg");
            let is_in_sight = x >= 0.0 && x + own <= f64::from(width);
            assert!(is_in_sight && own > 200.0, "a drawing of {own} at {width}");
        }
    });
}

#[test]
#[ignore = "needs Chromium"]
fn first_screen_says_what_was_measured_and_whether_to_trust_it() {
    on_page(&[sample_run()], |page| {
        page.window(1400, 900);
        let seen = page.value(
            "[...document.querySelectorAll('h1, .measured, .counts, .problems > li, .card')]
                .filter((e) => e.getBoundingClientRect().bottom <= innerHeight).map((e) => e.innerText).join('\\n')",
        );
        let seen = seen.as_str().unwrap();
        for text in [
            "Made Up 3000, 2 processors",
            "3 benchmarks (lat_mem, lat_alone, lat_wrong), 6 figures",
            "5 of 6 figures are valid and undisturbed; 1 invalid; 1 skipped.",
            "lat_wrong (faults is 1, expected 7)",
            "300 ns",
        ] {
            assert!(seen.contains(text), "{text}: {seen}");
        }
        // Facts come last, folded.
        let last = page.value("[...document.querySelectorAll('main > section')].at(-1).innerText");
        assert_eq!(last, "Machine and run");
        assert_eq!(page.texts("table.facts").len(), 0);
    });
}

#[test]
#[ignore = "needs Chromium"]
fn two_runs_have_ratio_and_verdict_in_each_row() {
    let runs = [sample_run(), sample_run()];
    let browser = chromium::shared();
    let mut browser = chromium::lock(&browser);
    let mut page = Page::compared(&mut browser, &runs, &[], Some(&sample_comparison()));
    let summary = page.text("#differences + .counts");
    assert_eq!(summary, "Of B: 1 seems slower, 4 without a shown difference.");
    let listed = page.texts(".differences li");
    assert_eq!(listed, ["lat_mem size=4Ki: seems slower, B/A 1.250 [1.125, 1.500]"]);
    let ratios = page.texts("td.ratio");
    assert_eq!(ratios.len(), 6);
    assert_eq!(ratios[0], "1.250 [1.125, 1.500]");
    let verdicts = page.texts("td.judged");
    assert_eq!(verdicts[..2], ["seems slower", "no difference shown"]);
    assert_eq!(verdicts[5], "invalid in A, invalid in B");
    page.click(".differences a");
    page.until("document.activeElement.getAttribute('aria-expanded') === 'true'");
    assert_eq!(page.faults(), [""; 0]);
}

/// Two curves in a chart, also on paper without colours.
#[test]
#[ignore = "needs Chromium"]
fn curves_differ_by_mark_and_dash() {
    on_page(&[sample_run(), sample_run()], |page| {
        let svg = page.save(".save", "lat_mem-latency-size.svg");
        let lines: Vec<&str> = svg.split("<polyline").skip(1).collect();
        assert_eq!(lines.len(), 2);
        let head = |line: &str| line.split('>').next().unwrap().to_owned();
        assert!(!head(lines[0]).contains("stroke-dasharray"), "{}", lines[0]);
        assert!(head(lines[1]).contains("stroke-dasharray"), "{}", lines[1]);
        let mark = |line: &str| {
            let path = line.split("class=\"mark\" d=\"").nth(1).unwrap();
            let path = path.split('"').next().unwrap();
            path.chars().filter(char::is_ascii_alphabetic).collect::<String>()
        };
        assert_eq!([mark(lines[0]), mark(lines[1])], ["Maaz", "Mhvhz"]);
        let samples = page.value("document.querySelectorAll('.u-legend svg.mark').length");
        assert_eq!(samples, 2);
        // A name without a value has no colon after it.
        let colon = page.value(
            "getComputedStyle(document.querySelector('.u-legend .u-series:nth-child(2) th'), '::after').content",
        );
        assert_eq!(colon, "none");
    });
}

/// Chromium repeats the titles of a table on each further page, but without the boxes of buttons.
#[test]
#[ignore = "needs Chromium"]
fn printed_titles_are_text_without_boxes() {
    on_page(&[sample_run()], |page| {
        let boxes = "[...document.querySelectorAll('.figures thead button')].map((b) => b.getClientRects().length)";
        let on_screen: Vec<u64> = serde_json::from_value(page.value(boxes)).unwrap();
        assert!(on_screen.len() >= 5 && on_screen.iter().all(|boxes| *boxes == 1));
        page.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        let on_paper: Vec<u64> = serde_json::from_value(page.value(boxes)).unwrap();
        assert_eq!(on_paper, vec![0; on_screen.len()]);
        let titles = page.texts(".figures thead tr").concat();
        assert!(titles.contains("Benchmark") && titles.contains("Figure"), "{titles}");
    });
}

#[test]
#[ignore = "needs Chromium"]
fn paper_shows_folded_facts() {
    on_page(&[sample_run()], |page| {
        assert_eq!(page.texts("table.facts").len(), 0);
        page.value("dispatchEvent(new Event('beforeprint'))");
        page.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        assert_eq!(page.texts("table.facts").len(), 1);
        let note = page.texts(".paper").concat();
        assert!(note.contains("folded on paper"), "{note}");
        page.value("dispatchEvent(new Event('afterprint'))");
        assert_eq!(page.texts("table.facts").len(), 0);
    });
}
