//! The shared-memory transport between processes of one host.
//!
//! [`handshake`] has the drawing of how a match comes to use it; [`sending`] and [`receiving`] are
//! its two sides, [`link`] is one publisher as a subscription sees it ([`retry`] says when it is
//! tried again, [`crowded`] which publishers have no place for it), [`upkeep`] the thread that
//! makes and opens what they use, [`clean_up`] what it does when others were killed.

pub(crate) mod availability;
pub(crate) mod clean_up;
mod crowded;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod link_states;
pub(crate) mod options;
pub(crate) mod receiving;
mod retry;
pub(crate) mod sending;
pub(crate) mod upkeep;
