//! The parameters of a processor: found beside claimed.

use yamba_record::hardware::HardwareParameter;
use yamba_record::number::number;
use yamba_report::hardware::{parts, value};
use yamba_report::{Part, Table, Text, View};
use yamba_session::hardware::{Compared, ComparedParameter};

pub fn view(parameters: &[HardwareParameter]) -> View {
    View::new("hardware").section("", parts(parameters))
}

/// Two machines side by side.
pub fn comparison(compared: &Compared) -> View {
    let titles = ["parameter", "A", "B", "B/A", "differs"];
    let rows = compared.parameters.iter().map(compared_row);
    let names = ["A", "B"].into_iter().zip(&compared.processors);
    let names = names.map(|(name, cpu)| {
        (name, Text::from(cpu.as_deref().unwrap_or("a processor without a name")))
    });
    let reasons = compared.parameters.iter().flat_map(|p| {
        let each = ["A", "B"].into_iter().zip(&p.reasons);
        each.filter_map(|(name, why)| {
            Some(format!("{} of {name}: {}", p.name, why.as_ref()?).into())
        })
    });
    let reasons = Part::List(reasons.collect());
    View::new("hardware")
        .section("", [Part::facts(names), Part::Table(Table::new(&titles, rows))])
        .section("Cannot tell", [reasons])
}

fn compared_row(p: &ComparedParameter) -> Vec<String> {
    let [a, b] = p.found.map(|found| found.map(|v| value(v, &p.unit)).unwrap_or_default());
    let differs = match p.differs {
        Some(true) => "yes",
        Some(false) => "no",
        None => "cannot tell",
    };
    vec![p.name.clone(), a, b, p.ratio.map(number).unwrap_or_default(), differs.to_owned()]
}
