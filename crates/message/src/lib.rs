//! Traits of messages and services, and dynamic messages whose type is known only at run time.
