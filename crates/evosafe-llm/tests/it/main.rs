//! Clients against scripted servers.

mod bench;
mod books;
mod budget;
mod cassette;
mod faults;
mod limits;
mod quirks;
mod secrets;
mod wire;
