//! Exact bytes, and what is refused.
