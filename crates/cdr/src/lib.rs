//! CDR (XCDR1) encoding, decoding and views: the one serialized form of Feros.
