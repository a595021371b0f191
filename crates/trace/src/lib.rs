//! Trace points: off, one relaxed load; on, a time in a ring of the thread.
