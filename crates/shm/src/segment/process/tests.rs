//! A segment as its owner sees it.
