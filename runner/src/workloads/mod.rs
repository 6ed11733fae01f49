//! The catalogue: one file, one workload. A workload sees only [`crate::harness`]'s contract.

mod aim;
mod alloc;
mod check;
mod ctl_dhrystone_like;
mod ctl_int_loop;
mod ctl_whetstone_like;
mod fallocate;
mod file_dup;
mod file_io;
mod file_lseek;
mod file_open;
mod file_unlink;
mod files;
mod fs_copy;
mod ipc;
mod ipc_unixbench_pipe;
mod lock_posix;
mod mm;
mod model_orphan_list;
mod model_prefetch_bit;
mod model_stream_goal;
mod model_struct_file;
mod named;
mod orphan;
mod pairs;
mod paths;
mod poll;
mod proc;
mod sched_context1;
mod sched_pipe_pingpong;
mod sched_yield;
mod signal_raise;
mod sync;
mod sys_getppid;
mod syscall;
pub mod unixbench;
pub mod wis;

pub use alloc::versions as allocator_versions;
pub use check::{Checked, Step, check};
pub use named::{Named, named};

use crate::harness::Workload;

/// Every workload, in the order of the catalogue.
pub fn all() -> &'static [&'static Workload] {
    &[
        &ctl_int_loop::WORKLOAD,
        &ctl_dhrystone_like::WORKLOAD,
        &ctl_whetstone_like::WORKLOAD,
        &sys_getppid::WORKLOAD,
        &signal_raise::WORKLOAD,
        &sched_yield::WORKLOAD,
        &sched_pipe_pingpong::WORKLOAD,
        &ipc::PIPE,
        &ipc::UNIX,
        &ipc::EVENTFD,
        &poll::ONE,
        &poll::MANY,
        &file_open::WORKLOAD,
        &file_dup::WORKLOAD,
        &file_unlink::WORKLOAD,
        &file_lseek::WORKLOAD,
        &file_io::READ_WORKLOAD,
        &file_io::WRITE_WORKLOAD,
        &file_io::PREAD_WORKLOAD,
        &file_io::PWRITE_WORKLOAD,
        &file_io::SEEK_READ_WORKLOAD,
        &file_io::SEEK_WRITE_WORKLOAD,
        &lock_posix::WORKLOAD,
        &fallocate::append_truncate::WORKLOAD,
        &fallocate::containers::WORKLOAD,
        &fallocate::falloc_fill::WORKLOAD,
        &mm::MMAP,
        &mm::FAULT,
        &mm::TLB_FLUSH,
        &mm::BRK,
        &mm::MALLOC,
        &sync::FUTEX,
        &sync::MUTEX,
        &sync::SEM,
        &alloc::MALLOC,
        &alloc::LARSON,
        &alloc::CACHE_SCRATCH,
        &alloc::CACHE_THRASH,
        &alloc::XMALLOC,
        &syscall::MIX_SHARED_FD,
        &syscall::MIX_PRIVATE_FD,
        &syscall::CLOSE,
        &syscall::GETPID,
        &sched_context1::WORKLOAD,
        &proc::EXEC,
        &proc::SPAWN,
        &proc::EXECL,
        &ipc_unixbench_pipe::WORKLOAD,
        &fs_copy::WORKLOAD,
        &aim::creat_close::WORKLOAD,
        &aim::creat_close::FIXED,
        aim::disk::WORKLOADS[0],
        aim::disk::WORKLOADS[1],
        aim::disk::WORKLOADS[2],
        aim::disk::WORKLOADS[3],
        aim::disk::WORKLOADS[4],
        aim::disk::WORKLOADS[5],
        aim::disk::WORKLOADS[6],
        aim::disk::WORKLOADS[7],
        aim::disk::WORKLOADS[8],
        aim::disk::WORKLOADS[9],
        &aim::fserver::WORKLOAD,
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
