//! HTML: an index and a page for each connection that is drawn. Each page is one file that needs no
//! network.

mod charts;
mod connection;
mod findings;
mod index;
mod parts;
mod table;
#[cfg(test)]
mod tests;
mod words;

#[cfg(not(target_family = "wasm"))]
pub(crate) use connection::figure;
pub(crate) use connection::page;
pub(crate) use findings::label;
pub(crate) use index::index;
pub(crate) use parts::file_name;
