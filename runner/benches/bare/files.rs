//! Loops over files.

use std::ffi::CString;

use super::{Slot, ok, whole};

const BLOCK: usize = 4096;
const WHOLE: usize = 1 << 20;

fn path(text: String) -> CString {
    CString::new(text).expect("no NUL byte")
}

/// An own file, its name gone.
pub fn own_file(task: usize) -> libc::c_int {
    let path = path(format!("file{task}"));
    // SAFETY: path is a NUL-terminated string.
    unsafe {
        let fd = ok(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600));
        ok(libc::unlink(path.as_ptr()));
        fd
    }
}

fn filled(task: usize, bytes: usize) -> libc::c_int {
    let (fd, zeros) = (own_file(task), vec![0u8; bytes]);
    // SAFETY: zeros are that long.
    whole(unsafe { libc::write(fd, zeros.as_ptr().cast(), bytes) }, bytes);
    fd
}

/// A block of memory, aligned as a page.
fn block() -> *mut libc::c_void {
    let layout = std::alloc::Layout::from_size_align(BLOCK, BLOCK).expect("a page is a page");
    // SAFETY: not of size 0; kept until the process ends.
    unsafe { std::alloc::alloc_zeroed(layout).cast() }
}

#[inline(always)]
fn rewind(fd: libc::c_int) {
    // SAFETY: touches no memory of ours.
    whole(unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } as isize, 0);
}

fn in_shared_dir(task: usize) -> CString {
    let _ = std::fs::create_dir("dir");
    path(format!("dir/file{task}"))
}

#[inline(never)]
pub fn open(slot: &Slot, task: usize) -> ! {
    let path = in_shared_dir(task);
    // SAFETY: path is a NUL-terminated string; the descriptors are this loop's own.
    unsafe {
        ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600))));
        slot.count_turns(1, || {
            ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR))));
        })
    }
}

#[inline(never)]
pub fn unlink(slot: &Slot, task: usize) -> ! {
    let path = in_shared_dir(task);
    // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600))));
        ok(libc::unlink(path.as_ptr()));
    })
}

#[inline(never)]
pub fn dup(slot: &Slot, task: usize) -> ! {
    let fd = own_file(task);
    // SAFETY: the copy is this loop's own.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::dup(fd))));
    })
}

#[inline(never)]
pub fn lseek(slot: &Slot, task: usize) -> ! {
    let fd = filled(task, BLOCK);
    slot.count_turns(1, || rewind(fd))
}

#[inline(never)]
pub fn read(slot: &Slot, task: usize) -> ! {
    let (fd, memory) = (filled(task, WHOLE), block());
    slot.count_turns(1, || {
        // SAFETY: room for a block.
        match unsafe { libc::read(fd, memory, BLOCK) } {
            0 => rewind(fd),
            moved => whole(moved, BLOCK),
        }
    })
}

#[inline(never)]
pub fn write(slot: &Slot, task: usize) -> ! {
    let (fd, memory, mut written) = (own_file(task), block(), 0);
    slot.count_turns(1, || {
        // SAFETY: a block to read from.
        whole(unsafe { libc::write(fd, memory, BLOCK) }, BLOCK);
        written += BLOCK;
        if written >= WHOLE {
            rewind(fd);
            written = 0;
        }
    })
}

#[inline(never)]
pub fn pread(slot: &Slot, task: usize) -> ! {
    let (fd, memory) = (filled(task, BLOCK), block());
    // SAFETY: room for a block.
    slot.count_turns(1, || whole(unsafe { libc::pread(fd, memory, BLOCK, 0) }, BLOCK))
}

#[inline(never)]
pub fn pwrite(slot: &Slot, task: usize) -> ! {
    let (fd, memory) = (own_file(task), block());
    // SAFETY: a block to read from.
    slot.count_turns(1, || whole(unsafe { libc::pwrite(fd, memory, BLOCK, 0) }, BLOCK))
}

#[inline(never)]
pub fn seek_read(slot: &Slot, task: usize) -> ! {
    let (fd, memory) = (filled(task, BLOCK), block());
    slot.count_turns(1, || {
        rewind(fd);
        // SAFETY: room for a block.
        whole(unsafe { libc::read(fd, memory, BLOCK) }, BLOCK);
    })
}

#[inline(never)]
pub fn seek_write(slot: &Slot, task: usize) -> ! {
    let (fd, memory) = (own_file(task), block());
    slot.count_turns(1, || {
        rewind(fd);
        // SAFETY: a block to read from.
        whole(unsafe { libc::write(fd, memory, BLOCK) }, BLOCK);
    })
}

#[inline(never)]
pub fn lock(slot: &Slot, task: usize) -> ! {
    let fd = own_file(task);
    // SAFETY: all-zero is a valid flock.
    let mut byte: libc::flock = unsafe { std::mem::zeroed() };
    byte.l_len = 1;
    slot.count_turns(2, || {
        for kind in [libc::F_WRLCK, libc::F_UNLCK] {
            byte.l_type = kind as libc::c_short;
            // SAFETY: byte is valid for the call.
            ok(unsafe { libc::fcntl(fd, libc::F_SETLKW, &raw const byte) });
        }
    })
}

#[inline(never)]
pub fn fallocate(slot: &Slot, task: usize) -> ! {
    let (fd, mut place) = (own_file(task), 0);
    // SAFETY: touches no memory of ours.
    slot.count_turns(1, || unsafe {
        ok(libc::fallocate(fd, 0, place, 8192));
        place += 8192;
        if place >= WHOLE as libc::off_t {
            ok(libc::ftruncate(fd, 0));
            place = 0;
        }
    })
}

#[inline(never)]
pub fn creat_close(slot: &Slot, task: usize) -> ! {
    let path = path(format!("tmpb.{task}"));
    let mut left = 1000;
    // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
    slot.count_turns(1, || unsafe {
        if left == 0 {
            ok(libc::unlink(path.as_ptr()));
            left = 1000;
        }
        ok(libc::close(ok(libc::creat(path.as_ptr(), 0o777))));
        left -= 1;
    })
}
