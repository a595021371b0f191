//! Reads a list of processors, in the form of `taskset --cpu-list`: `0,2-3`.

/// The limit on the number of a processor: the size of the kernel's sets (`CPU_SETSIZE`).
const MAX_CPUS: usize = 1024;

/// The numbers in a list, in ascending order and each once.
///
/// # Errors
/// The first part that is neither a number nor a range of numbers below 1024.
pub(crate) fn parse(list: &str) -> Result<Vec<usize>, String> {
    let mut is_listed = [false; MAX_CPUS];
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = number(first).zip(number(last)).filter(|(first, last)| first <= last);
        let Some((first, last)) = range else {
            return Err(format!(
                "{part:?} in the list of processors {list:?} is neither a number from 0 to {} nor a \
                 range such as 2-3",
                MAX_CPUS - 1
            ));
        };
        is_listed[first..=last].fill(true);
    }
    Ok((0..MAX_CPUS).filter(|&cpu| is_listed[cpu]).collect())
}

fn number(text: &str) -> Option<usize> {
    // `parse` would also accept a sign.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&cpu| is_number && cpu < MAX_CPUS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn numbers_and_ranges_are_read() {
        for (list, cpus) in [
            ("0", &[0][..]),
            ("0,2-3", &[0, 2, 3]),
            ("3,1,1-3", &[1, 2, 3]),
            ("5-5", &[5]),
            ("1023", &[1023]),
        ] {
            assert_eq!(parse(list).unwrap(), cpus, "{list}");
        }
        assert_eq!(parse("0-1023").unwrap().len(), 1024);
    }

    #[test]
    fn other_lists_are_errors_that_name_the_part() {
        for (list, part) in [
            ("", "\"\""),
            ("0,", "\"\""),
            ("a", "\"a\""),
            ("0,+1", "\"+1\""),
            ("0, 1", "\" 1\""),
            ("-1", "\"-1\""),
            ("3-2", "\"3-2\""),
            ("1-2-3", "\"1-2-3\""),
            ("0,1024", "\"1024\""),
            ("0-99999999999999999999", "\"0-99999999999999999999\""),
        ] {
            let text = parse(list).unwrap_err();
            assert!(text.starts_with(part) && text.contains("0 to 1023"), "{list}: {text}");
        }
    }
}
