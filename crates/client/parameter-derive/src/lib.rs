//! `#[derive(Parameters)]`: a struct of handles whose fields declare the parameters.
//!
//! Use the macro through `feros`; the trait `Parameters` there has the documentation.
//!
//! # Invariants
//!
//! The generated code refers to `feros` only. An error is reported at the position in the user's
//! code that causes it.
#![forbid(unsafe_code)]

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Declares the parameters of a struct; see `feros::Parameters`.
#[proc_macro_derive(Parameters, attributes(parameter))]
pub fn derive_parameters(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
