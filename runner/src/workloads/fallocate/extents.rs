//! How many pieces of the device a file lies in, by FIEMAP.

/// The header of `struct fiemap`, `linux/fiemap.h`; no extents follow, so only their number is
/// answered.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;

/// Number of extents of the file; none where the file system does not say.
pub(super) fn extents(fd: libc::c_int) -> Option<u64> {
    let mut map = Fiemap { length: u64::MAX, ..Fiemap::default() };
    // SAFETY: map has the layout the kernel expects and room for no extent, as it says.
    let answer = unsafe { libc::ioctl(fd, FS_IOC_FIEMAP as _, &raw mut map) };
    (answer == 0).then_some(u64::from(map.mapped_extents))
}
