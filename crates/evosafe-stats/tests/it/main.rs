//! Values worked by hand, figures of the paper, and invariants.

mod gate;
mod interval;
mod paired;
mod reference;
