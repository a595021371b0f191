//! Tests the stopper inside a real signal handler. The test is a separate program, because signal
//! handlers belong to the whole process.
#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // installing a signal handler is unsafe; the crate itself has no unsafe code

use feros_executor::{Executor, SteadyClock, Timer};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_signal_handler_stops_a_spinning_executor() {
    let executor = Executor::new();
    let stopper = executor.stopper();
    // SAFETY: `stop` makes two atomic writes and a futex system call, which is async-signal-safe,
    // and does not panic.
    unsafe {
        signal_hook::low_level::register(signal_hook::consts::SIGUSR1, move || stopper.stop())
    }
    .unwrap();
    for delay_micros in [0, 100] {
        let (_timer, entity) = Timer::one_shot(
            Arc::new(SteadyClock),
            Duration::from_micros(delay_micros),
            move |_| {
                signal_hook::low_level::raise(signal_hook::consts::SIGUSR1).unwrap();
            },
        );
        let _entity = executor.add(entity).unwrap();
        executor.spin().unwrap();
    }
}
