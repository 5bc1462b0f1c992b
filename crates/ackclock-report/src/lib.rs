//! Recorders.
