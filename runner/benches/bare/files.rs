//! Loops over files.

use std::ffi::CString;
use std::sync::atomic::Ordering::Relaxed;

use super::{COMMON, Slot, Task, add, ok, whole};

pub const BLOCK: usize = 4096;
pub const WHOLE: usize = 1 << 20;

/// The file that all tasks share, made before them.
pub const SHARED: &std::ffi::CStr = c"shared";

pub fn path(text: String) -> CString {
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

fn on_one_file(task: &Task) -> bool {
    task.is("layout", "same-file") || task.is("layout", "own-offset")
}

/// The shared file, opened for this task, or an own one with so many zeros.
fn file(task: &Task, access: libc::c_int, bytes: usize) -> libc::c_int {
    if on_one_file(task) {
        // SAFETY: a NUL-terminated string.
        return ok(unsafe { libc::open(SHARED.as_ptr(), access) });
    }
    filled(task.number, bytes)
}

/// Where this task reads and writes in its file.
fn offset(task: &Task) -> libc::off_t {
    let blocks = if task.is("layout", "own-offset") { task.number } else { 0 };
    (blocks * BLOCK) as libc::off_t
}

/// A block of memory that begins at a page.
fn block() -> *mut libc::c_void {
    memory(BLOCK)
}

fn memory(bytes: usize) -> *mut libc::c_void {
    let layout = std::alloc::Layout::from_size_align(bytes, BLOCK).expect("a page is a page");
    // SAFETY: not of size 0; kept until the process ends.
    unsafe { std::alloc::alloc_zeroed(layout).cast() }
}

#[inline(always)]
fn seek(fd: libc::c_int, offset: libc::off_t) {
    // SAFETY: touches no memory of ours.
    whole(unsafe { libc::lseek(fd, offset, libc::SEEK_SET) } as isize, offset as usize);
}

/// A name in a directory of all tasks or of this one.
fn in_dir(task: &Task, own: bool) -> CString {
    let number = task.number;
    let dir = if own { format!("dir{number}") } else { "dir".to_owned() };
    let _ = std::fs::create_dir(&dir);
    path(format!("{dir}/file{number}"))
}

#[inline(never)]
pub fn open(slot: &Slot, task: &Task) -> ! {
    let path = match task.is("layout", "same-file") {
        true => in_dir(&Task { number: 0, ..*task }, false),
        false => in_dir(task, task.is("layout", "own-dir")),
    };
    // SAFETY: path is a NUL-terminated string; the descriptors are this loop's own.
    unsafe {
        ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600))));
        slot.count_turns(1, || {
            ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR))));
        })
    }
}

#[inline(never)]
pub fn unlink(slot: &Slot, task: &Task) -> ! {
    let path = in_dir(task, task.is("layout", "own-dir"));
    // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600))));
        ok(libc::unlink(path.as_ptr()));
    })
}

#[inline(never)]
pub fn unlink_open(slot: &Slot, task: &Task) -> ! {
    let path = in_dir(task, !task.is("dir", "shared"));
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    // SAFETY: path is a NUL-terminated string; the descriptor is this loop's own.
    slot.count_turns(1, || unsafe {
        let fd = ok(libc::open(path.as_ptr(), flags, 0o600));
        ok(libc::unlink(path.as_ptr()));
        ok(libc::close(fd));
    })
}

#[inline(never)]
pub fn dup(slot: &Slot, task: &Task) -> ! {
    let fd = own_file(task.number);
    // SAFETY: the copy is this loop's own.
    slot.count_turns(1, || unsafe {
        ok(libc::close(ok(libc::dup(fd))));
    })
}

#[inline(never)]
pub fn lseek(slot: &Slot, task: &Task) -> ! {
    let fd = file(task, libc::O_RDWR, BLOCK);
    slot.count_turns(1, || seek(fd, 0))
}

#[inline(never)]
pub fn read(slot: &Slot, task: &Task) -> ! {
    let (fd, memory) = (file(task, libc::O_RDONLY, WHOLE), block());
    slot.count_turns(1, || {
        // SAFETY: room for a block.
        match unsafe { libc::read(fd, memory, BLOCK) } {
            0 => seek(fd, 0),
            moved => whole(moved, BLOCK),
        }
    })
}

#[inline(never)]
pub fn write(slot: &Slot, task: &Task) -> ! {
    let (fd, memory, mut written) = (file(task, libc::O_RDWR, 0), block(), 0);
    slot.count_turns(1, || {
        // SAFETY: a block to read from.
        whole(unsafe { libc::write(fd, memory, BLOCK) }, BLOCK);
        written += BLOCK;
        if written >= WHOLE {
            seek(fd, 0);
            written = 0;
        }
    })
}

#[inline(never)]
pub fn pread(slot: &Slot, task: &Task) -> ! {
    let (fd, memory, at) = (file(task, libc::O_RDONLY, BLOCK), block(), offset(task));
    // SAFETY: room for a block.
    slot.count_turns(1, || whole(unsafe { libc::pread(fd, memory, BLOCK, at) }, BLOCK))
}

#[inline(never)]
pub fn pwrite(slot: &Slot, task: &Task) -> ! {
    let (fd, memory, at) = (file(task, libc::O_RDWR, 0), block(), offset(task));
    // SAFETY: a block to read from.
    slot.count_turns(1, || whole(unsafe { libc::pwrite(fd, memory, BLOCK, at) }, BLOCK))
}

#[inline(never)]
pub fn seek_read(slot: &Slot, task: &Task) -> ! {
    let access = if offset(task) == 0 && task.is("layout", "same-file") {
        libc::O_RDWR
    } else {
        libc::O_RDONLY
    };
    let (fd, memory, at) = (file(task, access, BLOCK), block(), offset(task));
    slot.count_turns(1, || {
        seek(fd, at);
        // SAFETY: room for a block.
        whole(unsafe { libc::read(fd, memory, BLOCK) }, BLOCK);
    })
}

#[inline(never)]
pub fn seek_write(slot: &Slot, task: &Task) -> ! {
    let (fd, memory, at) = (file(task, libc::O_RDWR, 0), block(), offset(task));
    slot.count_turns(1, || {
        seek(fd, at);
        // SAFETY: a block to read from.
        whole(unsafe { libc::write(fd, memory, BLOCK) }, BLOCK);
    })
}

#[inline(never)]
pub fn lock(slot: &Slot, task: &Task) -> ! {
    let fd = file(task, libc::O_RDWR, BLOCK);
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
pub fn fallocate(slot: &Slot, task: &Task) -> ! {
    let (fd, mut place) = (own_file(task.number), 0);
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
pub fn falloc_fill(slot: &Slot, task: &Task) -> ! {
    let given = |name| task.number_of(name).expect("the entry gives it");
    let numbers = (task.number..given("files")).step_by(task.of);
    let (fds, total): (Vec<libc::c_int>, _) = (numbers.map(own_file).collect(), given("total"));
    let mut bytes = 0u64;
    // SAFETY: touches no memory of ours.
    let grow = |fd, place| ok(unsafe { libc::fallocate(fd, 0, place as libc::off_t, 4096) });
    loop {
        for place in (0..total).step_by(4096) {
            for fd in &fds {
                grow(*fd, place);
                bytes = std::hint::black_box(bytes + 4096);
                slot.count(1);
            }
        }
        for fd in &fds {
            // SAFETY: touches no memory of ours.
            ok(unsafe { libc::ftruncate(*fd, 0) });
        }
    }
}

#[inline(never)]
pub fn creat_close(slot: &Slot, task: &Task) -> ! {
    let path = path(format!("tmpb.{}", task.number));
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

/// Fixed work: a file of full size is truncated to nothing, made anew, and so on.
#[inline(never)]
pub fn truncate_bytes(slot: &Slot, task: &Task) -> ! {
    let size = task.number_of("size").expect("the entry gives it");
    let (path, zeros) = (path(format!("file{}", task.number)), vec![0u8; size]);
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    // SAFETY: a NUL-terminated string; zeros are that long.
    unsafe {
        let fd = ok(libc::open(path.as_ptr(), flags, 0o600));
        loop {
            let began = own_cpu_ns();
            whole(libc::pwrite(fd, zeros.as_ptr().cast(), size, 0), size);
            ok(libc::fsync(fd));
            add(&slot.ready_ns, own_cpu_ns() - began);
            for left in (0..size as libc::off_t).rev() {
                ok(libc::ftruncate(fd, left));
                slot.count(1);
            }
        }
    }
}

fn own_cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is valid for the call.
    ok(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) });
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// An own file is copied over another, a buffer at a time.
#[inline(never)]
pub fn copy(slot: &Slot, task: &Task) -> ! {
    let given = |name| task.number_of(name).expect("the entry gives it");
    let bytes = given("bufsize");
    let at = memory(bytes);
    let full = |number| {
        let fd = own_file(number);
        for _ in 0..given("blocks") * 1024 / bytes {
            // SAFETY: the memory is that long.
            whole(unsafe { libc::write(fd, at, bytes) }, bytes);
        }
        fd
    };
    let (from, to) = (full(2 * task.number), full(2 * task.number + 1));
    loop {
        seek(from, 0);
        seek(to, 0);
        loop {
            // SAFETY: the memory is that long.
            let moved = unsafe { libc::read(from, at, bytes) };
            if moved == 0 {
                break;
            }
            whole(moved, bytes);
            // SAFETY: as above.
            whole(unsafe { libc::write(to, at, bytes) }, bytes);
            slot.count(1);
        }
    }
}

/// Makes and opens the file that all tasks share.
pub fn make_shared(bytes: usize) {
    let zeros = vec![0u8; bytes];
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    // SAFETY: a NUL-terminated string; zeros are that long.
    unsafe {
        let fd = ok(libc::open(SHARED.as_ptr(), flags, 0o600));
        whole(libc::write(fd, zeros.as_ptr().cast(), bytes), bytes);
        COMMON.file.store(fd, Relaxed);
    }
}
