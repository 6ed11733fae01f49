//! Time taken by one thread, of the CPU's time that it received.

use scalewatch_stats::Direction;
use scalewatch_stats::random::Random;
use scalewatch_stats::step::{Buffers, Online, Policy, detect_values};

use crate::history::{History, Noise};

/// CPU time of this thread in seconds; the wall's where the kernel does not tell.
fn cpu_s() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ns.map_or_else(wall_s, |ns| ns / 1e9)
}

fn wall_s() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64())
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = cpu_s();
    work();
    cpu_s() - start
}

/// Points a second of whole series, of 300 points in every shape and of up to 100 000 normal ones.
pub fn whole_series(histories: &[History]) {
    println!("\nwhole series, one thread");
    let points: usize = histories.iter().map(|one| one.values.len()).sum();
    let s = timed(|| {
        for one in histories {
            std::hint::black_box(detect_values(&one.values));
        }
    });
    line(300, s * 300.0 / points as f64);
    for n in [1_000, 10_000, 100_000] {
        let values = with_steps(n);
        let rounds = (200_000 / n).max(2);
        let s = timed(|| {
            for _ in 0..rounds {
                std::hint::black_box(detect_values(&values));
            }
        });
        line(n, s / rounds as f64);
    }
}

fn line(n: usize, s: f64) {
    println!("{n:7} points {:9.3} ms {:7.0} thousand points/s", s * 1e3, n as f64 / s / 1e3);
}

/// A step of 5 % every 500 points, up and down in turn.
fn with_steps(n: usize) -> Vec<f64> {
    let by = |i: usize| if i.is_multiple_of(2) { 1.05 } else { 1.0 / 1.05 };
    let steps: Vec<(usize, f64)> = (1..n / 500).map(|i| (500 * i, by(i))).collect();
    let noise = Noise::Normal.history(&mut Random::new(7), n, 0.01, &[]);
    let mut level = 1.0;
    let mut next = steps.into_iter().peekable();
    let mut values = noise.values;
    for (i, value) in values.iter_mut().enumerate() {
        while let Some((_, by)) = next.next_if(|(at, _)| *at <= i) {
            level *= by;
        }
        *value *= level;
    }
    values
}

/// Points pushed after a history, each time from the same state, and how often.
const MORE: usize = 100;
const TIMES: usize = 400;

/// Time of one more point after histories of several lengths, mean of 40 000.
pub fn one_point() {
    println!("\npoint by point, one more point after");
    for n in [100, 1_000, 10_000, 100_000] {
        let values = with_steps(n + MORE);
        let mut buffers = Buffers::default();
        let mut series = Online::new(Direction::Higher, Policy::default());
        for &value in &values[..n] {
            series.push(value, &mut buffers);
        }
        let s = timed(|| {
            for _ in 0..TIMES {
                let mut series = series.clone();
                for &value in &values[n..] {
                    std::hint::black_box(series.push(value, &mut buffers));
                }
            }
        });
        let us = s * 1e6 / (MORE * TIMES) as f64;
        println!("{n:7} points {us:6.2} µs, state {} bytes", series.size());
    }
}
