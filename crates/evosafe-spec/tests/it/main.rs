//! What people may write, and what they are told when it is wrong.

mod bundle;
mod cases;
mod compose;
mod corpus;
mod mechanism;
mod models;
mod order;
mod spec;
mod split;
