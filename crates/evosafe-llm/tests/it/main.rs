//! Clients against scripted servers.

mod bench;
mod books;
mod budget;
mod cassette;
mod faults;
mod kill;
mod limits;
mod properties;
mod quirks;
mod secrets;
mod tls;
mod wire;
