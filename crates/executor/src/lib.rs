//! The doorbell, ready flags, timers and the spinning core of Feros.
