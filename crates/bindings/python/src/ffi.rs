//! The C interface of Python, for operations that the bindings do not offer in a safe form: access
//! to slots of instances, new instances, and memory that is lent to and by Python. All `unsafe`
//! code of the crate is here.
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
