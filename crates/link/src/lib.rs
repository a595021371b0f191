//! An emulated link between network namespaces, in user space.
