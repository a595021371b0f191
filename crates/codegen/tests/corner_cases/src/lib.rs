//! Interfaces whose names and shapes are hard on generated code; compiling them is the test.

feros_message::include_interfaces!();
