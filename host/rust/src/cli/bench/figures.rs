//! Medians over rounds, and how they are printed.

use std::time::Duration;

use serde::Serialize;

/// One measured figure.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Figure {
    /// What was measured.
    pub(super) what: String,
    /// Its median.
    pub(super) median: f64,
    /// Its smallest and largest round.
    pub(super) range: (f64, f64),
    /// In which unit.
    pub(super) unit: &'static str,
    /// What it is aimed at, as text.
    pub(super) aim: Option<&'static str>,
}

/// The middle one; of an even number the lower middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

impl Figure {
    /// Of a figure that each round gave once.
    pub(super) fn of(what: &str, rounds: &[f64], unit: &'static str, aim: Option<&'static str>) -> Self {
        let range =
            rounds.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
        Self { what: what.to_owned(), median: median(rounds), range, unit, aim }
    }

    /// The ratio of two figures, round by round.
    pub(super) fn ratio(what: &str, above: &[f64], below: &[f64], aim: Option<&'static str>) -> Self {
        let rounds: Vec<f64> = above.iter().zip(below).map(|(above, below)| above / below).collect();
        Self::of(what, &rounds, "ratio", aim)
    }
}

pub(super) fn nanoseconds(time: Duration, count: u32) -> f64 {
    time.as_secs_f64() * 1e9 / f64::from(count)
}

pub(super) fn microseconds(time: Duration, count: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(count)
}

/// For people.
pub(super) fn table(figures: &[Figure]) -> String {
    let digits = |value: f64| {
        if value >= 100.0 {
            format!("{value:.0}")
        } else if value >= 10.0 {
            format!("{value:.1}")
        } else {
            format!("{value:.3}")
        }
    };
    let rows = figures.iter().map(|figure| {
        [
            figure.what.clone(),
            digits(figure.median),
            format!("{} .. {}", digits(figure.range.0), digits(figure.range.1)),
            figure.unit.to_owned(),
            figure.aim.unwrap_or_default().to_owned(),
        ]
    });
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING).set_header(["what", "median", "rounds", "unit", "aim"]).add_rows(rows);
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_one() {
        let check = |values: &[f64], expected: f64| assert!((median(values) - expected).abs() < f64::EPSILON, "{values:?}");
        check(&[3.0, 1.0, 2.0], 2.0);
        check(&[4.0, 1.0, 2.0, 3.0], 2.0);
        check(&[7.0], 7.0);
        assert!(median(&[]).is_nan());
    }
}
