//! Parses .msg, .srv and .action definitions into one tree; type descriptions and RIHS01 hashes.
