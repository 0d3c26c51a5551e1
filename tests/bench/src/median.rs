//! The middle of several measurements.

/// The median; 0 of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The value that this fraction of all is not above; 0 of nothing.
pub(crate) fn percentile(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a position in a list that is in memory"
    )]
    let at = (sorted.len() as f64 * fraction).ceil() as usize;
    sorted.get(at.max(1) - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{median, percentile};

    #[test]
    fn so_many_are_not_above_it() {
        let values: Vec<f64> = (1..=1_000).map(f64::from).rev().collect();
        assert!((percentile(&values, 0.99) - 990.0).abs() < 1e-9);
        assert!((percentile(&values, 0.5) - 500.0).abs() < 1e-9);
        assert!((percentile(&[7.0], 0.99) - 7.0).abs() < 1e-9);
        assert!(percentile(&[], 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_middle_or_the_mean_of_the_two_middle_ones() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median([]).abs() < 1e-9);
    }
}
