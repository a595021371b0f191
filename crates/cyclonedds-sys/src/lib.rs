//! Builds Cyclone DDS 11 from source with the small change Feros needs, and binds it.
