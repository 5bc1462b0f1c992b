//! The integration tests, as one binary: it is linked once, and its tests run beside each other.

mod access_log;
mod command;
#[path = "../../../ackclock-live/tests/all/common/mod.rs"]
mod common;
mod daemon;
mod documented;
mod echoes;
mod ecn;
mod explain;
mod figure;
mod gateway;
mod lab;
mod listeners;
mod pair;
mod proxy;
mod queues;
mod replay;
mod rootless;
mod run;
mod serve;
mod serve_limits;
mod serve_operation;
mod summary_keys;
mod terminal;
mod wire;
