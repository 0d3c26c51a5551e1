//! The folder that a project's sessions are in, by where the person works.

/// Longest name that is used as it is.
const LONGEST: usize = 200;

/// Name of the folder for a real path: each UTF-16 unit that is no ASCII letter or digit is a dash, and a long
/// name is cut and told apart by a hash. The agent looks for a session in this folder only.
pub(crate) fn name(directory: &str) -> String {
    let directory = if directory.len() > 1 { directory.trim_end_matches('/') } else { directory };
    let directory = if directory.is_empty() { "/" } else { directory };
    let mut name = String::with_capacity(directory.len());
    for c in directory.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            name.extend(std::iter::repeat_n('-', c.len_utf16()));
        }
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push('-');
        name.push_str(&base36(hash(directory).unsigned_abs()));
    }
    name
}

/// The hash that Java gave to strings.
fn hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{base36, hash, name};

    #[test]
    fn what_is_no_letter_or_digit_is_a_dash() {
        assert_eq!(name("/home/dev/shop"), "-home-dev-shop");
        assert_eq!(name("/home/dev/shop/"), "-home-dev-shop");
        assert_eq!(name("/"), "-");
        assert_eq!(name("/p/A_b.c d"), "-p-A-b-c-d");
        assert_eq!(name("/caf\u{e9}"), "-caf-");
        assert_eq!(name("/cafe\u{301}"), "-cafe-");
        assert_eq!(name("/\u{1f600}"), "---");
    }

    #[test]
    fn a_long_name_is_cut_and_hashed() {
        let path = format!("/{}", "a".repeat(199));
        assert_eq!(name(&path).len(), 200);
        let path = format!("/{}", "a".repeat(200));
        let name = name(&path);
        assert_eq!(name, format!("-{}-{}", "a".repeat(199), base36(hash(&path).unsigned_abs())));
        // "hello" is a known value of that hash.
        assert_eq!((hash("hello"), base36(99_162_322).as_str()), (99_162_322, "1n1e4y"));
    }
}
