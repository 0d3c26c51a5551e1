//! Putting things in order by a number. Sorting is compiled once, for the numbers alone: each
//! type that is sorted itself would add to the component.

/// The things in the order of their numbers; of equal ones the first comes first.
pub(crate) fn by<T>(things: Vec<T>, number: impl Fn(&T) -> i64) -> Vec<T> {
    let mut order: Vec<(i64, usize)> = things.iter().map(number).zip(0..).collect();
    order.sort_unstable();
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(_, at)| things[at].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::by;

    #[test]
    fn equal_numbers_keep_their_order() {
        let things = vec![(2, 'a'), (1, 'b'), (2, 'c'), (0, 'd'), (1, 'e')];
        assert_eq!(by(things, |thing| thing.0), [(0, 'd'), (1, 'b'), (1, 'e'), (2, 'a'), (2, 'c')]);
    }
}
