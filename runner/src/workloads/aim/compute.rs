//! The jobs of AIM's mixes that use no file: arithmetic, memory, text, sorting, calls and signals.
//! Each is small, checks its result, and counts as one operation.

use std::hint::black_box;
use std::sync::Once;

use super::Desk;
use crate::harness::{Attempt, Fault, Ticks, check};

const STEPS: u32 = 20_000;

/// Steps of an operation on a number that must come back to where it began.
macro_rules! arithmetic {
    ($name:ident, $type:ty, $there:expr, $back:expr) => {
        pub(super) fn $name(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
            let start: $type = black_box(3 as $type);
            let (there, back): (fn($type) -> $type, fn($type) -> $type) = ($there, $back);
            let mut x = start;
            for _ in 0..STEPS {
                x = back(black_box(there(x)));
            }
            done(x == start, stringify!($name), ticks)
        }
    };
}

arithmetic!(add_short, i16, |x| x.wrapping_add(1021), |x| x.wrapping_sub(1021));
arithmetic!(add_int, i32, |x| x.wrapping_add(1_000_003), |x| x.wrapping_sub(1_000_003));
arithmetic!(add_long, i64, |x| x.wrapping_add(1 << 40), |x| x.wrapping_sub(1 << 40));
arithmetic!(mul_short, i16, |x| x.wrapping_mul(11), |x| x.wrapping_mul(-29_789));
arithmetic!(mul_int, i32, |x| x.wrapping_mul(3), |x| x.wrapping_mul(-1_431_655_765));
arithmetic!(mul_long, i64, |x| x.wrapping_mul(3), |x| x.wrapping_mul(-6_148_914_691_236_517_205));
arithmetic!(mul_double, f64, |x| x * 1024.0, |x| x * (1.0 / 1024.0));
arithmetic!(div_short, i16, |x| x * 7, |x| x / black_box(7));
arithmetic!(div_int, i32, |x| x * 1009, |x| x / black_box(1009));
arithmetic!(div_long, i64, |x| x * 1_000_003, |x| x / black_box(1_000_003));
arithmetic!(div_double, f64, |x| x / black_box(0.5), |x| x / black_box(2.0));

fn done(as_expected: bool, job: &'static str, ticks: &Ticks) -> Attempt<()> {
    ticks.tick();
    if as_expected { Ok(()) } else { Err(Fault::wrong(job, "it gave another result")) }
}

/// Returns from deep down at once, as a jump would.
pub(super) fn jump(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    #[inline(never)]
    fn down(depth: u32) -> Result<(), u32> {
        if depth == 0 { Err(black_box(17)) } else { down(black_box(depth - 1)) }
    }
    let all = (0..STEPS / 20).all(|_| down(10) == Err(17));
    done(all, "jmp", ticks)
}

/// Takes and gives back memory of many sizes, newest last.
pub(super) fn allocate(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut held: Vec<Vec<u8>> = Vec::with_capacity(100);
    let mut first = 0u64;
    for round in 0..10u8 {
        for _ in 0..100 {
            let piece = vec![round; 1 + desk.random.below(4096)];
            first += u64::from(black_box(&piece)[0]);
            held.push(piece);
        }
        held.clear();
    }
    done(first == 4500, "mem_rtns_1", ticks)
}

/// Fills, copies and compares memory.
pub(super) fn move_memory(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let (mut from, mut to) = (vec![0u8; 64 << 10], vec![0u8; 64 << 10]);
    let mut alike = true;
    for round in 0..20 {
        black_box(&mut from).fill(round);
        to.copy_from_slice(black_box(&from));
        alike &= black_box(&to) == &from;
    }
    done(alike, "mem_rtns_2", ticks)
}

/// Copies memory in pieces from small to large.
pub(super) fn copy_memory(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let (from, mut to) = (vec![5u8; 64 << 10], vec![0u8; 64 << 10]);
    for power in 4..=16 {
        let piece = 1 << power;
        let pieces = to.chunks_exact_mut(piece).zip(from.chunks_exact(piece));
        pieces.for_each(|(to, from)| black_box(to).copy_from_slice(black_box(from)));
    }
    done(to == from, "ram_copy", ticks)
}

/// System calls that only ask.
pub(super) fn ask(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    for _ in 0..100 {
        // SAFETY: no arguments, or a structure that lives for the call; none of them fails.
        unsafe {
            let mut name: libc::utsname = std::mem::zeroed();
            check("uname", libc::uname(&raw mut name))?;
            black_box((libc::getpid(), libc::getuid(), libc::getgid(), libc::getppid()));
        }
    }
    done(true, "misc_rtns_1", ticks)
}

const SIGNALS: u32 = 1000;

extern "C" fn nothing(_signal: libc::c_int) {}

/// Signals to the task itself.
pub(super) fn signal(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        // SAFETY: all-zero is a valid sigaction; the handler does nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
        }
    });
    for _ in 0..SIGNALS {
        // SAFETY: the signal has a handler that does nothing.
        if unsafe { libc::raise(libc::SIGUSR2) } != 0 {
            return Err(Fault::errno("raise"));
        }
    }
    done(true, "signal_test", ticks)
}

/// Sorts numbers in no order.
pub(super) fn sort(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut numbers: Vec<u64> = (0..5000).map(|_| desk.random.next_u64()).collect();
    black_box(&mut numbers).sort_unstable();
    done(numbers.is_sorted(), "sort_rtns_1", ticks)
}

/// Makes, searches, splits and joins text.
pub(super) fn text(_: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let mut whole = String::new();
    for number in 0..200 {
        whole.push_str(&format!("word{number} "));
    }
    let words: Vec<&str> = black_box(&whole).split_whitespace().collect();
    let found = words.iter().filter(|word| whole.contains(**word)).count();
    let joined = words.join(" ") + " ";
    done(found == 200 && joined == whole, "string_rtns_1", ticks)
}
