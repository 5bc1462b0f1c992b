//! Holds the microscope against the truth.

pub mod kernel;
