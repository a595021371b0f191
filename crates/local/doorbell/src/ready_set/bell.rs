//! The values of this process's bell. They tell which threads sleep and have not been woken since
//! then.
//!
//! If there is a single thread, it writes [`AWAKE`], or the value for the word on which it sleeps.
//! If there are several threads, each of them registers before it sleeps, and a ring removes a
//! thread before it wakes the thread. So two rings never rely on the same thread. If no thread is
//! registered, all threads are awake or have already been woken.

use crate::doorbell::{AWAKE, SLEEPING};

/// The single thread sleeps on the shared doorbell.
pub(super) const SLEEPING_SHARED: u32 = 2;
/// No thread has been woken since the last of several threads went to sleep.
const UNTOUCHED: u32 = 4;
/// The leader sleeps on a word of this process.
pub(super) const LEADER: u32 = 8;
/// The leader sleeps on the shared doorbell.
pub(super) const LEADER_SHARED: u32 = 16;
/// One follower sleeps. This bit and the higher bits count the followers.
pub(super) const FOLLOWER: u32 = 32;

/// The bell with one additional sleeper.
pub(super) fn with(bell: u32, sleeper: u32) -> u32 {
    (bell + sleeper) | UNTOUCHED
}

/// The bell without the next thread to wake, which is a follower or, if there are no followers
/// left, the leader.
pub(super) fn without_next(bell: u32) -> u32 {
    if bell >= FOLLOWER { (bell - FOLLOWER) & !UNTOUCHED } else { AWAKE }
}

/// The bell without the leader, if the leader is registered.
pub(super) fn without_leader(bell: u32) -> u32 {
    if has_leader(bell) { bell & !(LEADER | LEADER_SHARED | UNTOUCHED) } else { bell }
}

/// The bell with at most this many followers.
pub(super) fn with_followers(bell: u32, most: u32) -> u32 {
    let surplus = (bell / FOLLOWER).saturating_sub(most);
    let rest = bell - surplus * FOLLOWER;
    if rest == UNTOUCHED { AWAKE } else { rest }
}

pub(super) fn has_leader(bell: u32) -> bool {
    bell & (LEADER | LEADER_SHARED) != 0
}

/// Whether all threads that went to sleep are still asleep. If they are, a thread that has set a
/// flag has not woken any of them yet.
pub(super) fn is_untouched(bell: u32) -> bool {
    bell & (SLEEPING | SLEEPING_SHARED | UNTOUCHED) != 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn followers_are_woken_before_the_leader_and_each_once() {
        let mut bell = with(with(with(AWAKE, LEADER), FOLLOWER), FOLLOWER);
        assert!(is_untouched(bell) && has_leader(bell));
        bell = without_next(bell);
        assert!(!is_untouched(bell));
        assert_eq!(bell, FOLLOWER | LEADER);
        bell = without_next(bell);
        assert_eq!(bell, LEADER);
        assert_eq!(without_next(bell), AWAKE);
        assert_eq!(without_next(AWAKE), AWAKE);
    }

    #[test]
    fn a_thread_that_wakes_by_itself_leaves_the_sleepers() {
        let leader = with(AWAKE, LEADER_SHARED);
        assert_eq!(without_leader(leader), AWAKE);
        assert_eq!(without_leader(with(AWAKE, FOLLOWER)), with(AWAKE, FOLLOWER));
        assert_eq!(with_followers(with(AWAKE, FOLLOWER), 0), AWAKE);
        assert_eq!(with_followers(with(leader, FOLLOWER), 0), leader);
        assert_eq!(with_followers(with(leader, FOLLOWER), 1), with(leader, FOLLOWER));
    }

    #[test]
    fn the_one_thread_is_untouched_wherever_it_sleeps() {
        assert!(is_untouched(SLEEPING) && is_untouched(SLEEPING_SHARED) && !is_untouched(AWAKE));
        assert_eq!([SLEEPING, SLEEPING_SHARED].map(without_next), [AWAKE; 2]);
    }
}
