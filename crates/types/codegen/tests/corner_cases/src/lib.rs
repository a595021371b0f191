//! Interfaces whose names and types are difficult for generated code. The test is that the
//! generated code compiles.

feros_message::include_interfaces!();
