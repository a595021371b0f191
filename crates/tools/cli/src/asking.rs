//! Asks several nodes at once, so that a node that does not answer does not delay the others.

use std::panic::resume_unwind;
use std::thread::Builder;

use feros_sync::{AtomicUsize, Ordering};

/// The limit on questions that wait for their answers at a time, since each question costs a thread
/// and announced endpoints.
pub(crate) const MOST_ASKED: usize = 32;

/// Asks all questions, and returns the answers in the order of the questions.
pub(crate) fn all_at_once<Q: Sync, A: Send>(
    questions: &[Q],
    ask: impl Fn(&Q) -> A + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let ask_on = || {
        let mut answers = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(question) = questions.get(number) else { return answers };
            answers.push((number, ask(question)));
        }
    };
    let mut answers = std::thread::scope(|scope| {
        // This thread asks too; if there are no others, it asks alone.
        let others = 1..questions.len().min(MOST_ASKED);
        let start = |_| Builder::new().spawn_scoped(scope, ask_on).ok();
        let others: Vec<_> = others.filter_map(start).collect();
        let mut answers = ask_on();
        for other in others {
            answers.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        answers
    });
    answers.sort_unstable_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn as_many_as_may_be_are_asked_at_a_time() {
        let asked = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        // The first questions are answered only when this many wait.
        let together = Barrier::new(MOST_ASKED);
        let questions: Vec<usize> = (0..3 * MOST_ASKED).collect();
        let answers = all_at_once(&questions, |number| {
            let now = asked.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            together.wait();
            asked.fetch_sub(1, Ordering::SeqCst);
            number * 2
        });
        assert!(answers.iter().copied().eq((0..3 * MOST_ASKED).map(|number| number * 2)));
        assert_eq!(most.into_inner(), MOST_ASKED);
    }

    #[test]
    fn one_that_does_not_answer_keeps_one_place_only() {
        let answered = AtomicUsize::new(0);
        let others = 2 * MOST_ASKED;
        let questions: Vec<usize> = (0..=others).collect();
        let answers = all_at_once(&questions, |number| {
            if *number == 0 {
                while answered.load(Ordering::SeqCst) < others {
                    std::thread::yield_now();
                }
            } else {
                answered.fetch_add(1, Ordering::SeqCst);
            }
            *number
        });
        assert_eq!(answers, questions);
    }

    #[test]
    fn nobody_is_asked_nothing() {
        assert_eq!(all_at_once(&[(); 0], |()| ()), []);
    }
}
