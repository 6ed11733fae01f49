//! Processes made and replaced, as `UnixBench` does it: fork and exit, a program that starts over
//! as itself, and fork with another program. A child's CPU time counts as its task's.

use super::syscall::LOOPS_PER_S;
use crate::harness::{
    Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload, check, start_over,
};

pub(super) const SPAWN: Workload = Workload {
    id: "proc/spawn",
    version: 1,
    description: "fork a child that exits at once, and wait for it",
    operation: "one fork, exit and wait",
    stresses: "copying an address space, process ids, exit",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Forking { program: false })),
};

pub(super) const EXEC: Workload = Workload {
    id: "syscall/exec",
    description: "fork a child that executes /bin/true, and wait for it",
    operation: "one fork, exec of /bin/true, exit and wait",
    stresses: "fork, exec, dynamic loading, exit",
    prepare: |_: &Setup<'_>| Ok(Box::new(Forking { program: true })),
    ..SPAWN
};

pub(super) const EXECL: Workload = Workload {
    id: "proc/execl",
    description: "a program that replaces itself by itself, over and over",
    operation: "one exec of the runner's own executable",
    stresses: "exec: address space torn down and built, dynamic loading",
    modes: &[Mode::Process],
    prepare: |_: &Setup<'_>| Ok(Box::new(StartingOver)),
    ..SPAWN
};

#[derive(Clone, Copy)]
struct Forking {
    /// Whether the child executes a program.
    program: bool,
}

impl Prepared for Forking {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(*self))
    }
}

impl Task for Forking {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            turn(self.program, ticks)?;
            ticks.tick();
        }
    }
}

const TRUE: &std::ffi::CStr = c"/bin/true";

#[inline(never)]
fn turn(program: bool, ticks: &Ticks) -> Attempt<()> {
    // SAFETY: the child calls nothing but execl and _exit, which are safe after any fork.
    let pid = check("fork", unsafe { libc::fork() })?;
    if pid == 0 {
        // SAFETY: NUL-terminated strings, a null pointer at the end.
        unsafe {
            if program {
                libc::execl(TRUE.as_ptr(), TRUE.as_ptr(), std::ptr::null::<libc::c_char>());
                libc::_exit(127);
            }
            libc::_exit(0);
        }
    }
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage; both are valid for the call.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid, &raw mut status, 0, &raw mut usage), usage)
    };
    check("wait4", waited)?;
    ticks.add_cpu_of_child(&usage);
    match status {
        0 => Ok(()),
        _ => Err(Fault::wrong("child", format!("it ended with wait status {status:#06x}"))),
    }
}

struct StartingOver;

impl Prepared for StartingOver {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(StartingOver))
    }
}

impl Task for StartingOver {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        Err(start_over(ticks))
    }
}
