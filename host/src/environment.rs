//! Variables, as a process was given them: one look at them, so that nothing changes between two.

use std::ffi::OsString;
use std::sync::Arc;

/// Variables, in their order.
#[derive(Debug, Clone, Default)]
pub struct Environment(Arc<[(OsString, OsString)]>);

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable.
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// A variable that is text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.into_string().ok()
    }

    /// All of them.
    pub fn all(&self) -> &[(OsString, OsString)] {
        &self.0
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn what_is_no_text_is_there_and_not_as_text() {
        let odd = OsString::from_vec(vec![0xff]);
        let environment: Environment = [("A".into(), "a".into()), ("B".into(), odd.clone())].into_iter().collect();
        assert_eq!(environment.text("A").as_deref(), Some("a"));
        assert_eq!((environment.text("B"), environment.get("B")), (None, Some(odd)));
        assert_eq!(environment.get("C"), None);
        assert_eq!(environment.all().len(), 2);
    }
}
