//! The last change of every workload on every machine, as a table whose cells are coloured.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::format;
use crate::model::heat::{Cell, HeatMap, LatestStep, UNSTABLE};
use crate::model::severity::WORDS;

/// One workload on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatCell {
    /// Classes of the style sheet.
    pub class: String,
    /// Where it leads; none where nothing was measured.
    pub href: Option<String>,
    /// `−11.8 %`, `steady`, or nothing.
    pub words: String,
    /// The whole of it, for the title.
    pub title: String,
    /// Whether it is unstable.
    pub unstable: bool,
}

/// The map.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/heat.html")]
pub struct HeatView {
    /// Id in addresses and name of each column's machine.
    pub machines: Vec<(String, String)>,
    /// Workload and cells.
    pub rows: Vec<(String, Vec<HeatCell>)>,
    /// Noise floor of what is called unstable.
    pub unstable_from: String,
}

impl HtmlSafe for HeatView {}

impl HeatView {
    /// The map as computed.
    pub fn new(map: &HeatMap) -> HeatView {
        let row = |(workload, cells): &(String, Vec<Option<Cell>>)| {
            (workload.clone(), cells.iter().map(|cell| HeatCell::new(cell.as_ref())).collect())
        };
        HeatView {
            machines: map.machines.clone(),
            rows: map.rows.iter().map(row).collect(),
            unstable_from: format!("{} %", format::limit(100.0 * UNSTABLE)),
        }
    }
}

impl HeatCell {
    fn new(cell: Option<&Cell>) -> HeatCell {
        let Some(cell) = cell else {
            return HeatCell {
                class: "none".into(),
                href: None,
                words: String::new(),
                title: "never measured here".into(),
                unstable: false,
            };
        };
        let curves = format::count(cell.curves, "curve");
        let mut view = match &cell.step {
            None => HeatCell {
                class: "steady".into(),
                href: Some(format!("/curves/{}", cell.curve)),
                words: "steady".into(),
                title: format!("no step stands; {curves}"),
                unstable: cell.unstable,
            },
            Some(step) => HeatCell {
                class: format!("{} heat-{}", step.change.word(), strength(step)),
                href: Some(format!("/incidents/{}", step.incident)),
                words: step.ratio.map_or_else(|| step.change.word().to_owned(), format::change),
                title: format!(
                    "last change: {}, {:.1} noise units; {curves}",
                    step.change.word(),
                    step.units
                ),
                unstable: cell.unstable,
            },
        };
        if view.unstable {
            view.title += "; unstable";
        }
        view
    }
}

/// 1 to 4: the words of a severity, slight to severe.
fn strength(step: &LatestStep) -> usize {
    1 + WORDS.iter().filter(|(least, _)| step.units >= *least).count()
}
