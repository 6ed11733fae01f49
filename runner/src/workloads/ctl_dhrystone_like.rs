//! A control in the manner of Dhrystone, and our own: integer and string work as ordinary programs
//! do it. Records are filled, linked, copied and compared, text is searched, branches depend on
//! data. No kernel; no change of one may move it.

use std::hint::black_box;

use super::syscall::LOOPS_PER_S;
use crate::harness::{Attempt, Fault, Mode, Prepared, Setup, Task, Ticks, Workload};

pub(super) const WORKLOAD: Workload = Workload {
    id: "ctl/dhrystone-like",
    version: 1,
    description: "integer, record and string work, the result checked",
    operation: "one round over eight records and their names",
    stresses: "nothing: a control that no change may move",
    parameters: &[],
    metrics: &[LOOPS_PER_S],
    needs_directory: false,
    modes: Mode::BOTH,
    can_stop: false,
    extra_words: 0,
    prepare: |_: &Setup<'_>| Ok(Box::new(Records::new())),
};

/// Something an ordinary program might keep.
#[derive(Clone, Copy)]
struct Record {
    next: usize,
    kind: u8,
    price: i32,
    stock: [i32; 4],
    name: [u8; 24],
}

const RECORDS: usize = 8;

#[derive(Clone)]
struct Records {
    all: [Record; RECORDS],
    expected: i64,
}

impl Records {
    fn new() -> Records {
        let record = |i: usize| {
            let mut name = *b"record number 0 of eight";
            name[14] += i as u8;
            let i = i as i32;
            let stock = [i, 2 * i + 1, 3 * i + 2, 5 * i + 3];
            let next = (i as usize * 3 + 1) % RECORDS;
            Record { next, kind: i as u8 % 3, price: 7 * i + 5, stock, name }
        };
        let mut records = Records { all: std::array::from_fn(record), expected: 0 };
        records.expected = records.round();
        records
    }

    /// Walks the records by their links and works on a copy of each.
    #[inline(never)]
    fn round(&self) -> i64 {
        let all = black_box(&self.all);
        let (mut at, mut sum) = (0, 0i64);
        for step in 0..RECORDS as i32 {
            let mut record = all[at];
            match record.kind {
                0 => record.price = value(&record) + step,
                1 => record.stock.swap(0, 3),
                _ => record.stock[1] = record.price / (step + 1),
            }
            let earlier = all.iter().filter(|other| other.name < record.name).count();
            sum += i64::from(value(&record)) * (earlier as i64 + 1) + position(&record.name);
            at = record.next;
        }
        sum
    }
}

#[inline(never)]
fn value(record: &Record) -> i32 {
    record.stock.iter().map(|pieces| pieces * record.price).sum()
}

/// Where the digit of a name stands, and which it is.
#[inline(never)]
fn position(name: &[u8]) -> i64 {
    let place = name.iter().position(u8::is_ascii_digit);
    place.map_or(-1, |place| place as i64 + i64::from(name[place]))
}

impl Prepared for Records {
    fn start(&self, _task: u32) -> Attempt<Box<dyn Task + '_>> {
        Ok(Box::new(self.clone()))
    }
}

impl Task for Records {
    fn run(&mut self, ticks: &Ticks) -> Attempt<()> {
        loop {
            if self.round() != self.expected {
                return Err(Fault::wrong("dhrystone-like", "the same round gave another sum"));
            }
            ticks.tick();
        }
    }
}
