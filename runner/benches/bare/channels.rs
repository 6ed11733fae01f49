//! Pipes, sockets, event counters and poll.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::files::own_file;
use super::{Slot, ok, whole};

/// Whether partners are threads, as the tasks are.
pub static THREADS: AtomicBool = AtomicBool::new(false);

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
pub fn pipe(slot: &Slot, _: usize) -> ! {
    let [from, to] = pair(libc::pipe);
    slot.count_turns(1, || {
        send(to, &[0]);
        receive::<1>(from);
    })
}

#[inline(never)]
pub fn unix(slot: &Slot, _: usize) -> ! {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    ok(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) });
    slot.count_turns(1, || {
        send(ends[1], &[0]);
        receive::<1>(ends[0]);
    })
}

#[inline(never)]
pub fn eventfd(slot: &Slot, _: usize) -> ! {
    // SAFETY: touches no memory of ours.
    let fd = ok(unsafe { libc::eventfd(0, 0) });
    slot.count_turns(1, || {
        send(fd, &1u64.to_ne_bytes());
        receive::<8>(fd);
    })
}

#[inline(never)]
pub fn pingpong(slot: &Slot, _: usize) -> ! {
    let ([their_from, to], [from, their_to]) = (pair(libc::pipe), pair(libc::pipe));
    let answer = move || -> ! {
        loop {
            receive::<1>(their_from);
            send(their_to, &[0]);
        }
    };
    if THREADS.load(Relaxed) {
        std::thread::spawn(answer);
    } else {
        // SAFETY: one thread, so the copy may use all of its memory; it dies with this process.
        let partner = ok(unsafe { libc::fork() });
        if partner == 0 {
            // SAFETY: prctl with constants.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            answer();
        }
        slot.partner.store(partner as u64, Relaxed);
    }
    slot.count_turns(2, || {
        send(to, &[0]);
        receive::<1>(from);
    })
}

#[inline(never)]
pub fn poll<const N: usize>(slot: &Slot, task: usize) -> ! {
    let fds: [libc::c_int; N] = std::array::from_fn(|n| own_file(task * N + n));
    slot.count_turns(1, || {
        let mut asked = fds.map(|fd| libc::pollfd { fd, events: libc::POLLOUT, revents: 0 });
        // SAFETY: asked is N entries long.
        ok(unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, 0) });
    })
}
