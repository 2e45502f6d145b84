//! Tests of the archive through its public calls, and of its files through plain git.

mod damage;
mod events;
mod kill;
mod lineage;
mod properties;
mod refusals;
mod samples;
mod scale;
mod work;
