//! Recorded changes undone, the newest first, on the file as it is now.

use sepia_ir::Diff;

/// What the file is once the changes are undone; none: it does not exist. A change that can't be undone
/// for certain leaves the whole file as it is, with the reason.
pub(super) fn undone(now: Option<Vec<u8>>, diffs: &[Diff]) -> Result<Option<Vec<u8>>, String> {
    if diffs.is_empty() {
        return Err("the session recorded no change of it".to_owned());
    }
    let now = now.map(String::from_utf8).transpose();
    let mut text = now.map_err(|_| "it is no text now, and changes are recorded as text".to_owned())?;
    for diff in diffs.iter().rev() {
        text = undo(text, diff)?;
    }
    Ok(text.map(String::into_bytes))
}

fn undo(text: Option<String>, diff: &Diff) -> Result<Option<String>, String> {
    let Some(new) = &diff.new_text else {
        // It was removed.
        return match text {
            None => Ok(diff.old_text.clone()),
            Some(_) => Err("it was removed in the session and is there again".to_owned()),
        };
    };
    let Some(text) = text else { return Ok(diff.old_text.clone()) };
    if text == *new {
        return Ok(diff.old_text.clone());
    }
    if new.is_empty() {
        return Err("a change emptied it, and it has other content now".to_owned());
    }
    let mut places = text.match_indices(new.as_str());
    match (places.next(), places.next()) {
        (Some((at, _)), None) => {
            let mut restored = text.clone();
            restored.replace_range(at..at + new.len(), diff.old_text.as_deref().unwrap_or_default());
            Ok(Some(restored))
        }
        (None, _) => Err("a change is not in it any more; it was changed since".to_owned()),
        (Some(_), Some(_)) => Err("a change fits it at several places".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::undone;
    use sepia_ir::Diff;

    fn diff(old: Option<&str>, new: Option<&str>) -> Diff {
        Diff { path: "a".into(), old_text: old.map(str::to_owned), new_text: new.map(str::to_owned) }
    }

    fn of(now: Option<&str>, diffs: &[Diff]) -> Result<Option<String>, ()> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap_or_default();
        undone(now.map(|now| now.as_bytes().to_vec()), diffs).map(|done| done.map(text)).map_err(drop)
    }

    #[test]
    fn changes_are_undone_newest_first() {
        let made = diff(None, Some("one\n"));
        let edited = diff(Some("one"), Some("two"));
        assert_eq!(of(Some("two\n"), &[made.clone(), edited.clone()]), Ok(None));
        assert_eq!(of(Some("two\n"), std::slice::from_ref(&edited)), Ok(Some("one\n".into())));
        assert_eq!(of(None, &[diff(Some("x"), None)]), Ok(Some("x".into())));
        assert_eq!(of(None, &[edited]), Ok(Some("one".into())));
        assert_eq!(of(Some("one\n"), &[made]), Ok(None));
    }

    #[test]
    fn what_is_not_certain_leaves_the_file_alone() {
        assert_eq!(of(Some("a b a"), &[diff(Some("x"), Some("a"))]), Err(()));
        assert_eq!(of(Some("z"), &[diff(Some("x"), Some("a"))]), Err(()));
        assert_eq!(of(Some("z"), &[diff(Some("x"), Some(""))]), Err(()));
        assert_eq!(of(Some("z"), &[diff(Some("x"), None)]), Err(()));
        assert_eq!(of(Some("z"), &[]), Err(()));
        assert!(undone(Some(vec![0xff]), &[diff(None, Some("a"))]).is_err());
    }
}
