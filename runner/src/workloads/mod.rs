//! The catalogue: one file, one workload. A workload sees only [`crate::harness`]'s contract.

mod aim;
mod check;
mod ctl_int_loop;
mod fallocate_append_truncate;
mod file_dup;
mod file_open;
mod files;
mod model_orphan_list;
mod model_prefetch_bit;
mod model_stream_goal;
mod model_struct_file;
mod orphan;
mod sys_getppid;
pub mod wis;

pub use check::{Checked, check};

use crate::harness::Workload;

/// Every workload, in the order of the catalogue.
pub fn all() -> &'static [&'static Workload] {
    &[
        &ctl_int_loop::WORKLOAD,
        &sys_getppid::WORKLOAD,
        &file_open::WORKLOAD,
        &file_dup::WORKLOAD,
        &fallocate_append_truncate::WORKLOAD,
        &aim::creat_close::WORKLOAD,
        &aim::creat_close::FIXED,
        &orphan::truncate_bytes::WORKLOAD,
        &orphan::unlink_open::WORKLOAD,
        &model_stream_goal::WORKLOAD,
        &model_prefetch_bit::WORKLOAD,
        &model_struct_file::WORKLOAD,
        &model_orphan_list::WORKLOAD,
    ]
}

/// The workload with this id.
pub fn find(id: &str) -> Option<&'static Workload> {
    all().iter().copied().find(|workload| workload.id == id)
}
