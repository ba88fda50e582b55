//! A page of charts and tables that are not those of a run.

use maud::{DOCTYPE, PreEscaped, html as markup};

use super::chart::{Chart, Curve, Drawn, Point};
use super::preamble::preamble;
use super::{CHARTS, PLOT_SCRIPT, PLOT_STYLE, STYLE, TABLES, json, placeholder};

/// A point with its interval, if it has one.
#[derive(Clone, Copy, Debug)]
pub struct BandPoint {
    /// Its place on the x axis.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// The interval of the value.
    pub interval: Option<[f64; 2]>,
}

/// A chart of named curves with logarithmic axes.
#[derive(Clone, Debug)]
pub struct BandChart {
    /// Its name.
    pub name: String,
    /// Titles of the axes.
    pub x: String,
    /// The title of the y axis.
    pub y: String,
    /// Name and points of each curve, in ascending order of x.
    pub curves: Vec<(String, Vec<BandPoint>)>,
}

/// A table with its title; the first row has the titles of the columns.
#[derive(Clone, Debug)]
pub struct PlainTable {
    /// Its title.
    pub title: String,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// The page: a title, sentences, charts and tables.
pub fn chart_page(
    title: &str,
    sentences: &[String],
    charts: &[BandChart],
    tables: &[PlainTable],
) -> String {
    let charts: Vec<Chart> = charts.iter().map(chart).collect();
    let drawn: Vec<Drawn> = charts.iter().map(Chart::drawn).collect();
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble(title, &[PLOT_STYLE, STYLE], &[PLOT_SCRIPT, TABLES, CHARTS]))
            body {
                header { h1 { "Yamba: " (title) } }
                main {
                    @for sentence in sentences { p { (sentence) } }
                    noscript { p { "Curves are drawn by a script; the tables below have the same figures." } }
                    div.charts { @for (i, chart) in charts.iter().enumerate() { (placeholder(i, chart)) } }
                    @for table in tables {
                        h2 { (table.title) }
                        table {
                            @for (i, row) in table.rows.iter().enumerate() {
                                tr { @for cell in row { @if i == 0 { th scope="col" { (cell) } } @else { td { (cell) } } } }
                            }
                        }
                    }
                }
                footer { p { "Made by Yamba " (env!("CARGO_PKG_VERSION")) ". Charts: uPlot 1.6.32, MIT licence, © Leon Sorokin." } }
                script #charts type="application/json" { (PreEscaped(json(&drawn))) }
                script { (PreEscaped(PLOT_SCRIPT)) }
                script { (PreEscaped(TABLES)) }
                script { (PreEscaped(CHARTS)) }
            }
        }
    };
    page.into_string()
}

fn chart(of: &BandChart) -> Chart {
    let curves = of.curves.iter().map(|(name, points)| Curve {
        name: name.clone(),
        points: points.iter().map(point).collect(),
        line: None,
    });
    Chart {
        name: of.name.clone(),
        x: of.x.clone(),
        y: of.y.clone(),
        log: true,
        log_y: true,
        curves: curves.collect(),
        ..Chart::default()
    }
}

fn point(of: &BandPoint) -> Point {
    Point {
        x: of.x,
        y: of.y,
        confidence_interval: of.interval,
        is_within: false,
        is_disturbed: false,
        is_sound: true,
        quiet_factors: None,
        text: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_the_points_and_escapes_names() {
        let chart = BandChart {
            name: "pause".to_owned(),
            x: "heap (MiB)".to_owned(),
            y: "ms".to_owned(),
            curves: vec![(
                "<serial>".to_owned(),
                vec![BandPoint { x: 64.0, y: 12.5, interval: Some([11.0, 14.0]) }],
            )],
        };
        let table = PlainTable {
            title: "All".to_owned(),
            rows: vec![vec!["heap".to_owned()], vec!["<64>".to_owned()]],
        };
        let page = chart_page("collections", &["One.".to_owned()], &[chart], &[table]);
        assert!(page.contains("12.5") && page.contains("&lt;64&gt;"), "{page}");
        assert!(!page.contains("<serial>") && page.contains("u003cserial"));
    }
}
