//! Interfaces whose names and types are difficult for generated code. The test is that they
//! compile.

feros_message::include_interfaces!();
