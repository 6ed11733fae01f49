//! The six loops. All but `read` at the end of a file must move whole blocks.

use crate::harness::{Attempt, Fault, Ticks};

/// Which bytes go where.
pub(super) struct Block {
    pub fd: libc::c_int,
    pub memory: *mut libc::c_void,
    pub bytes: usize,
    pub offset: libc::off_t,
}

/// A loop.
///
/// # Safety
/// The block's memory is valid for its number of bytes, and nobody else's.
pub(super) type Turns = unsafe fn(&Block, &Ticks) -> Fault;

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn read(block: &Block, ticks: &Ticks) -> Fault {
    let &Block { fd, memory, bytes, .. } = block;
    loop {
        // SAFETY: valid by contract.
        let n = unsafe { libc::read(fd, memory, bytes) };
        if n <= 0 {
            if n < 0 {
                return Fault::errno("read");
            }
            if let Err(fault) = seek(fd, 0) {
                return fault;
            }
        }
        ticks.tick();
    }
}

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn write(block: &Block, ticks: &Ticks) -> Fault {
    let &Block { fd, memory, bytes, .. } = block;
    let mut written = 0;
    loop {
        // SAFETY: valid by contract.
        let n = unsafe { libc::write(fd, memory, bytes) };
        if n != bytes as isize {
            return not_whole("write", n, bytes);
        }
        written += bytes;
        if written >= super::WHOLE {
            if let Err(fault) = seek(fd, 0) {
                return fault;
            }
            written = 0;
        }
        ticks.tick();
    }
}

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn pread(block: &Block, ticks: &Ticks) -> Fault {
    whole_blocks("pread", block, ticks, |&Block { fd, memory, bytes, offset }| {
        // SAFETY: valid by contract.
        Ok(unsafe { libc::pread(fd, memory, bytes, offset) })
    })
}

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn pwrite(block: &Block, ticks: &Ticks) -> Fault {
    whole_blocks("pwrite", block, ticks, |&Block { fd, memory, bytes, offset }| {
        // SAFETY: valid by contract.
        Ok(unsafe { libc::pwrite(fd, memory, bytes, offset) })
    })
}

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn seek_read(block: &Block, ticks: &Ticks) -> Fault {
    whole_blocks("read", block, ticks, |&Block { fd, memory, bytes, offset }| {
        seek(fd, offset)?;
        // SAFETY: valid by contract.
        Ok(unsafe { libc::read(fd, memory, bytes) })
    })
}

/// # Safety
/// As [`Turns`].
#[inline(never)]
pub(super) unsafe fn seek_write(block: &Block, ticks: &Ticks) -> Fault {
    whole_blocks("write", block, ticks, |&Block { fd, memory, bytes, offset }| {
        seek(fd, offset)?;
        // SAFETY: valid by contract.
        Ok(unsafe { libc::write(fd, memory, bytes) })
    })
}

/// A whole block each time; `call` is what `transfer` is named in a fault.
#[inline(always)]
fn whole_blocks(
    call: &'static str,
    block: &Block,
    ticks: &Ticks,
    transfer: impl Fn(&Block) -> Attempt<isize>,
) -> Fault {
    loop {
        match transfer(block) {
            Ok(moved) if moved == block.bytes as isize => ticks.tick(),
            Ok(moved) => return not_whole(call, moved, block.bytes),
            Err(fault) => return fault,
        }
    }
}

#[inline(always)]
fn seek(fd: libc::c_int, offset: libc::off_t) -> Attempt<()> {
    // SAFETY: touches no memory of ours.
    match unsafe { libc::lseek(fd, offset, libc::SEEK_SET) } {
        place if place == offset => Ok(()),
        _ => Err(Fault::errno("lseek")),
    }
}

/// The fault of a transfer that failed or moved only a part.
#[cold]
fn not_whole(call: &'static str, moved: isize, bytes: usize) -> Fault {
    if moved < 0 {
        return Fault::errno(call);
    }
    Fault::wrong(call, format!("{call} moved {moved} of {bytes} bytes"))
}
