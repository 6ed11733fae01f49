//! Pipes, sockets, event counters and poll.

use std::sync::atomic::Ordering::Relaxed;

use super::files::own_file;
use super::{COMMON, Slot, Task, die, ok, whole};

fn pair(make: unsafe extern "C" fn(*mut libc::c_int) -> libc::c_int) -> [libc::c_int; 2] {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    ok(unsafe { make(ends.as_mut_ptr()) });
    ends
}

#[inline(always)]
fn send<const N: usize>(to: libc::c_int, bytes: &[u8; N]) {
    // SAFETY: N bytes that live for the call.
    whole(unsafe { libc::write(to, bytes.as_ptr().cast(), N) }, N);
}

#[inline(always)]
fn receive<const N: usize>(from: libc::c_int) {
    let mut bytes = [0u8; N];
    // SAFETY: room for N bytes.
    whole(unsafe { libc::read(from, bytes.as_mut_ptr().cast(), N) }, N);
}

#[inline(never)]
pub fn pipe(slot: &Slot, _: &Task) -> ! {
    let [from, to] = pair(libc::pipe);
    slot.count_turns(1, || {
        send(to, &[0]);
        receive::<1>(from);
    })
}

#[inline(never)]
pub fn unix(slot: &Slot, _: &Task) -> ! {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    ok(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) });
    slot.count_turns(1, || {
        send(ends[1], &[0]);
        receive::<1>(ends[0]);
    })
}

#[inline(never)]
pub fn eventfd(slot: &Slot, _: &Task) -> ! {
    // SAFETY: touches no memory of ours.
    let fd = ok(unsafe { libc::eventfd(0, 0) });
    slot.count_turns(1, || {
        send(fd, &1u64.to_ne_bytes());
        receive::<8>(fd);
    })
}

/// Starts a partner of the task, a thread or a process as tasks are.
fn start_partner(slot: &Slot, body: impl FnOnce() + Send + 'static) {
    if COMMON.threads.load(Relaxed) {
        std::thread::spawn(body);
        return;
    }
    // SAFETY: one thread, so the copy may use all of its memory; it dies with this process.
    let partner = ok(unsafe { libc::fork() });
    if partner == 0 {
        // SAFETY: prctl with constants.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        body();
    }
    slot.partner.store(partner as u64, Relaxed);
}

#[inline(never)]
pub fn pingpong(slot: &Slot, _: &Task) -> ! {
    let ([their_from, to], [from, their_to]) = (pair(libc::pipe), pair(libc::pipe));
    start_partner(slot, move || {
        loop {
            receive::<1>(their_from);
            send(their_to, &[0]);
        }
    });
    slot.count_turns(2, || {
        send(to, &[0]);
        receive::<1>(from);
    })
}

/// A number that must be the one expected.
#[inline(always)]
fn receive_number(from: libc::c_int, expected: u64) {
    let mut bytes = [0u8; 8];
    // SAFETY: room for 8 bytes.
    whole(unsafe { libc::read(from, bytes.as_mut_ptr().cast(), 8) }, 8);
    if u64::from_ne_bytes(bytes) != expected {
        die();
    }
}

#[inline(never)]
pub fn context1(slot: &Slot, _: &Task) -> ! {
    let ([their_from, to], [from, their_to]) = (pair(libc::pipe), pair(libc::pipe));
    start_partner(slot, move || {
        for count in 0u64.. {
            receive_number(their_from, count);
            send(their_to, &count.to_ne_bytes());
        }
    });
    let mut count = 0u64;
    slot.count_turns(1, || {
        send(to, &count.to_ne_bytes());
        receive_number(from, count);
        count += 1;
    })
}

#[repr(align(512))]
struct Buffer([u8; 512]);

#[inline(never)]
pub fn unixbench_pipe(slot: &Slot, _: &Task) -> ! {
    let ([from, to], mut buffer) = (pair(libc::pipe), Buffer([7; 512]));
    let bytes = &mut buffer.0;
    // SAFETY: 512 bytes, to read from and to write to.
    slot.count_turns(1, || unsafe {
        whole(libc::write(to, bytes.as_ptr().cast(), 512), 512);
        whole(libc::read(from, bytes.as_mut_ptr().cast(), 512), 512);
    })
}

#[inline(never)]
pub fn poll<const N: usize>(slot: &Slot, task: &Task) -> ! {
    let fds: [libc::c_int; N] = std::array::from_fn(|n| own_file(task.number * N + n));
    slot.count_turns(1, || {
        let mut asked = fds.map(|fd| libc::pollfd { fd, events: libc::POLLOUT, revents: 0 });
        // SAFETY: asked is N entries long.
        ok(unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, 0) });
    })
}
