//! Launch files that run, by subject.

mod endings;
mod events;
mod nodes;
mod output;
mod processes;
mod reactions;
mod reports;
mod signals;
mod timers;
