//! Announcements and what follows from them.
