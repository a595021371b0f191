//! Connects a policy with typed inputs and with a closure for its sets.

use std::sync::Arc;

use feros_executor::Time;
use feros_message::HasHeader;
use feros_sync::Mutex;

use crate::input::Input;
use crate::outlet::Outlet;
use crate::policy::{AnyMessage, Policy, Sorted};

/// The limit on sets that wait while the closure is busy on another thread.
const SETS_THAT_WAIT: usize = 100;

/// Calls `callback` with messages that belong together according to the policy. Returns the inputs,
/// in the order of the closure's parameters; there may be two to nine.
///
/// ```
/// use feros_message_filters::{ExactTime, synchronize};
/// use feros_msgs::sensor_msgs::msg::{CameraInfo, Image};
/// use std::sync::Arc;
///
/// let together = |left: Arc<Image>, right: Arc<Image>, info: Arc<CameraInfo>| {
///     println!("{} {} {}", left.width, right.width, info.width);
/// };
/// let (synchronizer, (left, right, info)) = synchronize(ExactTime::new(10), together);
/// left(Arc::default());
/// right(Arc::default());
/// info(Arc::default());
/// assert_eq!(synchronizer.counts().matched, 1);
/// ```
pub fn synchronize<T, F: SetCallback<T>>(
    mut policy: impl Policy,
    callback: F,
) -> (Synchronizer, F::Inputs) {
    policy.set_inputs(F::COUNT);
    let counts = SynchronizerCounts { dropped: vec![0; F::COUNT], ..SynchronizerCounts::default() };
    let core = Arc::new(Core {
        state: Mutex::new(State { policy: Box::new(policy), counts }),
        outlet: Outlet::new(SETS_THAT_WAIT, callback.into_deliver()),
    });
    let inputs = F::inputs(&core);
    (Synchronizer { core }, inputs)
}

/// A handle to a synchronizer, for reading its counts and for clearing it. The synchronizer works
/// as long as its inputs exist.
#[derive(Clone)]
pub struct Synchronizer {
    core: Arc<Core>,
}

/// The counts of a synchronizer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SynchronizerCounts {
    /// The number of sets that the policy found.
    pub matched: u64,
    /// The numbers of messages that were dropped without being in a set, by input.
    pub dropped: Vec<u64>,
    /// The number of messages whose stamp is before the stamp of an earlier message of the same
    /// input, or follows that stamp sooner than the policy expects. The policy used these messages
    /// nevertheless.
    pub irregular: u64,
    /// The number of sets that were dropped because the closure was busy on another thread for too
    /// long.
    pub overflowed: u64,
}

impl Synchronizer {
    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> SynchronizerCounts {
        self.core.state.lock().counts.clone()
    }

    /// Drops all messages that wait for other messages, for example because time has jumped back.
    /// They count as dropped.
    pub fn clear(&self) {
        self.core.change(|policy, sorted| policy.clear(sorted));
    }
}

#[doc(hidden)]
#[allow(unreachable_pub, reason = "named by a public trait, for this crate alone to make")]
pub struct Core {
    state: Mutex<State>,
    outlet: Outlet<Vec<AnyMessage>>,
}

struct State {
    policy: Box<dyn Policy>,
    counts: SynchronizerCounts,
}

impl Core {
    fn add(&self, input: usize, stamp: Time, message: AnyMessage) {
        self.change(|policy, sorted| policy.add(input, stamp, message, sorted));
    }

    fn change(&self, change: impl FnOnce(&mut dyn Policy, &mut Sorted)) {
        let mut sorted = Sorted::default();
        // These sets are dropped after the lock is released, since dropping a message may run the
        // user's code.
        let mut overflowed = Vec::new();
        {
            let mut state = self.state.lock();
            change(&mut *state.policy, &mut sorted);
            let counts = &mut state.counts;
            counts.irregular += sorted.irregular;
            for (input, _) in &sorted.dropped {
                if let Some(count) = counts.dropped.get_mut(*input) {
                    *count += 1;
                }
            }
            // This happens under the lock, so that the queue has the sets in the order in which
            // they were found.
            for set in sorted.matched.drain(..) {
                counts.matched += 1;
                overflowed.extend(self.outlet.put(set));
            }
            counts.overflowed += overflowed.len() as u64;
        }
        drop((sorted, overflowed));
        self.outlet.deliver();
    }
}

/// A closure that takes a message of each input. The trait is implemented for `FnMut(Arc<A>,
/// Arc<B>)` and so on, up to nine parameters. `T` tells the compiler the types, and is always
/// inferred.
pub trait SetCallback<T>: Send + 'static {
    /// The inputs, in the order of the parameters.
    type Inputs;

    #[doc(hidden)]
    const COUNT: usize;

    #[doc(hidden)]
    fn into_deliver(self) -> Box<dyn FnMut(Vec<AnyMessage>) + Send>;

    #[doc(hidden)]
    fn inputs(core: &Arc<Core>) -> Self::Inputs;
}

fn input<M: HasHeader + Send + Sync + 'static>(core: &Arc<Core>, number: usize) -> Input<M> {
    let core = core.clone();
    Box::new(move |message: Arc<M>| {
        let stamp = Time::from_nanos(message.stamp_nanos());
        core.add(number, stamp, message);
    })
}

macro_rules! set_callback {
    ($count:literal: $($message:ident $variable:ident $number:literal),+) => {
        impl<F, $($message),+> SetCallback<($($message,)+)> for F
        where
            F: FnMut($(Arc<$message>),+) + Send + 'static,
            $($message: HasHeader + Send + Sync + 'static),+
        {
            type Inputs = ($(Input<$message>,)+);

            const COUNT: usize = $count;

            fn into_deliver(mut self) -> Box<dyn FnMut(Vec<AnyMessage>) + Send> {
                Box::new(move |set| {
                    let mut messages = set.into_iter();
                    // Each input adds only messages of its own type.
                    $(let Some(Ok($variable)) =
                        messages.next().map(|message| message.downcast::<$message>())
                    else {
                        return;
                    };)+
                    self($($variable),+);
                })
            }

            fn inputs(core: &Arc<Core>) -> Self::Inputs {
                ($(input::<$message>(core, $number),)+)
            }
        }
    };
}
set_callback!(2: A a 0, B b 1);
set_callback!(3: A a 0, B b 1, C c 2);
set_callback!(4: A a 0, B b 1, C c 2, D d 3);
set_callback!(5: A a 0, B b 1, C c 2, D d 3, E e 4);
set_callback!(6: A a 0, B b 1, C c 2, D d 3, E e 4, G g 5);
set_callback!(7: A a 0, B b 1, C c 2, D d 3, E e 4, G g 5, H h 6);
set_callback!(8: A a 0, B b 1, C c 2, D d 3, E e 4, G g 5, H h 6, I i 7);
set_callback!(9: A a 0, B b 1, C c 2, D d 3, E e 4, G g 5, H h 6, I i 7, J j 8);
