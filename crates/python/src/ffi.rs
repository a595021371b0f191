//! The C interface of Python, for what the bindings offer no safe way to do: slots of instances,
//! new instances, and memory lent to and by Python. All of the crate's `unsafe` is here.
#![allow(unsafe_code)] // C functions; each block says why it is sound

mod block;
mod buffer;
mod class;
mod loan_memory;
mod plain;

pub(crate) use block::{Block, Pins};
pub(crate) use buffer::{copy, fill, with_buffer};
pub(crate) use class::{Class, Instance, no_instance};
pub(crate) use loan_memory::LoanMemory;
pub(crate) use plain::{Plain, What};
