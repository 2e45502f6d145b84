//! The embedded folders lie outside the crate, and cargo does not see a file that is
//! added to them unless it is told where to look.

fn main() {
    println!("cargo::rerun-if-changed=../../specs");
    println!("cargo::rerun-if-changed=../../warmstart");
}
