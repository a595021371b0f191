//! The Feros engine on Cyclone DDS.
