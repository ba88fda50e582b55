//! A coloured matrix: a table with its values, or without them if it has too many columns.

use maud::{Markup, html as markup};
use yamba_record::number::{number, rounded};

use crate::view::Matrix;

/// A table with more columns is no longer read value by value.
const MOST_COLUMNS: usize = 20;

/// The colours, from the palest.
const STEPS: usize = 10;

/// Side of a cell of a drawn matrix.
const CELL: usize = 6;

pub(super) fn matrix(map: &Matrix) -> Markup {
    markup! {
        figure.matrix {
            figcaption { (map.caption) }
            @if map.columns.len() <= MOST_COLUMNS { (table(map)) } @else { (drawing(map)) }
        }
    }
}

fn table(map: &Matrix) -> Markup {
    markup! {
        div.wide role="region" aria-label=(map.caption) tabindex="0" {
            table.matrix {
                thead { tr {
                    th scope="col" { (map.corner) }
                    @for name in &map.columns { th scope="col" { (name) } }
                } }
                tbody { @for (name, row) in map.rows.iter().zip(&map.values) { tr {
                    th scope="row" { (name) }
                    @for value in row {
                        @match value {
                            Some(value) => td class=(class(map, *value)) { (short(*value)) },
                            None => td {},
                        }
                    }
                } } }
            }
        }
    }
}

/// A square for each known value, with its figure where the pointer is.
fn drawing(map: &Matrix) -> Markup {
    let known = map.values.iter().enumerate().flat_map(|(row, values)| {
        let values = values.iter().enumerate();
        values.filter_map(move |(column, value)| Some((row, column, (*value)?)))
    });
    let [width, height] = [map.columns.len(), map.rows.len()].map(|count| count * CELL);
    let [low, high] = map.ends;
    markup! {
        p.scale { span { (short(low)) } span.steps { @for step in 0..STEPS { i class={ "m" (step) } {} } } span { (short(high)) } }
        svg.matrix role="img" aria-label=(map.caption) viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
            rect.back width=(width) height=(height) {}
            @for (row, column, value) in known {
                rect class=(class(map, value)) x=(column * CELL) y=(row * CELL) width=(CELL) height=(CELL) {
                    title { (map.rows[row]) ", " (map.columns[column]) ": " (short(value)) }
                }
            }
        }
    }
}

fn class(map: &Matrix, value: f64) -> String {
    let [low, high] = map.ends;
    let share = (value / low).ln() / (high / low).ln();
    let last = (STEPS - 1) as f64;
    let step = if share.is_finite() { (share * last).round().clamp(0.0, last) } else { last };
    format!("m{step}")
}

fn short(value: f64) -> String {
    number(rounded(value, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(columns: usize) -> Matrix {
        let names: Vec<String> = (0..columns).map(|n| n.to_string()).collect();
        let mut values = vec![vec![None; columns]; columns];
        (values[0][0], values[0][1], values[1][0]) = (Some(50.0), Some(500.0), Some(158.1));
        Matrix {
            caption: "ns < us".to_owned(),
            corner: "from".to_owned(),
            rows: names.clone(),
            columns: names,
            values,
            ends: [50.0, 500.0],
        }
    }

    #[test]
    fn small_matrix_is_a_table_with_colours() {
        let page = matrix(&sample(2)).into_string();
        let row = r#"<td class="m0">50</td><td class="m9">500</td>"#;
        assert!(page.contains(row), "{page}");
        // Half of the way on a logarithmic scale.
        assert!(page.contains(r#"<td class="m4">158</td><td></td>"#), "{page}");
        assert!(page.contains("ns &lt; us") && !page.contains("svg"), "{page}");
    }

    #[test]
    fn large_matrix_is_drawn_with_known_cells_only() {
        let page = matrix(&sample(200)).into_string();
        assert_eq!(page.matches("<rect class=\"m").count(), 3, "{page}");
        assert!(page.contains("<span>50</span>") && page.contains("<span>500</span>"), "{page}");
        assert!(page.contains("<title>0, 1: 500</title>") && !page.contains("<td"), "{page}");
    }
}
