//! One file a format, or two where a tool writes two shapes. Each reader says in its head what the
//! tool writes and what of it is taken.

pub mod bencher;
pub mod criterion;
pub mod csv_table;
pub mod fio;
pub mod go;
pub mod google_benchmark;
pub mod hyperfine;
pub mod lkp;
mod lkp_keys;
pub mod mapping;
pub mod mmtests;
pub mod ndjson;
pub mod phoronix;
pub mod pytest;
pub mod reaim;
pub mod sysbench;
mod table;
pub mod unixbench;
pub mod will_it_scale;
