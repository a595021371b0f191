//! What an entry promises, without threads.
