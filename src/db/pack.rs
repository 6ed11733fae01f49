//! The windows of a point as few bytes: a byte that names the form (1), then window after window
//! its Δt, the ops of each task and the CPU time of each task, each as its difference from the
//! window before (from 0 in the first), zigzag-coded so that small differences of either sign are
//! small, seven bits a byte, the lowest first, the eighth set where more follow.

use wire::{Source, Window};

const FORM: u8 = 1;

/// The number under which `measurement.derived` keeps the rule by which values follow from windows;
/// none where they are given.
pub const fn rule_of(source: &Source) -> Option<i16> {
    match source {
        Source::OpsPerSecond => Some(1),
        Source::OpsPerCpuSecond => Some(2),
        Source::TaskFairness => Some(3),
        Source::Values(_) => None,
    }
}

/// The values that are stored beside the windows.
pub fn stored(source: &Source) -> &[f64] {
    match source {
        Source::Values(values) => values,
        Source::OpsPerSecond | Source::OpsPerCpuSecond | Source::TaskFairness => &[],
    }
}

/// A measurement's samples from its row: as stored, else as they follow from the point's windows.
pub fn samples(
    stored: Option<Vec<f64>>,
    rule: Option<i16>,
    packed: Option<&[u8]>,
    tasks: i32,
) -> Vec<f64> {
    let source = match rule {
        Some(1) => Source::OpsPerSecond,
        Some(2) => Source::OpsPerCpuSecond,
        Some(3) => Source::TaskFairness,
        _ => return stored.unwrap_or_default(),
    };
    let windows = packed.and_then(|packed| unpack(packed, usize::try_from(tasks).ok()?));
    windows.map_or_else(Vec::new, |windows| source.values(&windows))
}

/// The bytes of these windows, each of which counts every task; none for no windows.
pub fn pack(windows: &[Window]) -> Vec<u8> {
    let Some(first) = windows.first() else { return Vec::new() };
    let mut bytes = Vec::with_capacity(1 + windows.len() * (1 + 2 * first.ops.len()) * 4);
    bytes.push(FORM);
    let mut before = vec![0i64; 1 + 2 * first.ops.len()];
    for window in windows {
        let counts = window.ops.iter().chain(&window.cpu_ns).map(|count| *count as i64);
        for (before, value) in before.iter_mut().zip(std::iter::once(window.dt_ns).chain(counts)) {
            put(&mut bytes, value.wrapping_sub(*before));
            *before = value;
        }
    }
    bytes
}

/// The windows in these bytes, of a point with so many tasks; none where they are not of our
/// making.
pub fn unpack(bytes: &[u8], tasks: usize) -> Option<Vec<Window>> {
    let Some((form, mut rest)) = bytes.split_first() else { return Some(Vec::new()) };
    if *form != FORM || tasks == 0 {
        return None;
    }
    let mut before = vec![0i64; 1 + 2 * tasks];
    let mut windows = Vec::new();
    while !rest.is_empty() {
        for value in &mut before {
            *value = value.wrapping_add(take(&mut rest)?);
        }
        let counts = |lanes: &[i64]| lanes.iter().map(|count| *count as u64).collect();
        windows.push(Window {
            dt_ns: before[0],
            ops: counts(&before[1..=tasks]),
            cpu_ns: counts(&before[tasks + 1..]),
        });
    }
    Some(windows)
}

fn put(bytes: &mut Vec<u8>, difference: i64) {
    let mut rest = ((difference << 1) ^ (difference >> 63)) as u64;
    while rest > 127 {
        bytes.push(rest as u8 | 128);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn take(bytes: &mut &[u8]) -> Option<i64> {
    let (mut zigzag, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift > 63 {
            return None;
        }
        zigzag |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte & 128 == 0 {
            return Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(dt_ns: i64, ops: &[u64], cpu_ns: &[u64]) -> Window {
        Window { dt_ns, ops: ops.to_vec(), cpu_ns: cpu_ns.to_vec() }
    }

    #[test]
    fn windows_come_back_as_they_were_at_every_limit() {
        let most = wire::limits::COUNT;
        for windows in [
            vec![],
            vec![window(1, &[0], &[0])],
            vec![window(1, &[0], &[most]), window(i64::MAX, &[most], &[0]), window(1, &[0], &[7])],
            vec![window(5, &[1, 2, 3], &[4, 5, 6]), window(4, &[9, 0, most], &[4, 4, 4])],
        ] {
            let tasks = windows.first().map_or(1, |window| window.ops.len());
            assert_eq!(unpack(&pack(&windows), tasks).as_ref(), Some(&windows));
        }
    }

    #[test]
    fn windows_that_resemble_each_other_take_a_third_of_their_counts() {
        let windows: Vec<Window> = (0..60)
            .map(|i| {
                window(
                    1_000_000_000 + i * 7919 % 9973,
                    &[1_000_000 + i as u64 * 31 % 997],
                    &[999_000_000],
                )
            })
            .collect();
        let bytes = pack(&windows).len();
        assert!(bytes * 3 < windows.len() * 24, "{bytes} bytes");
    }

    #[test]
    fn bytes_of_another_making_are_told() {
        assert_eq!(unpack(&[2, 0, 0, 0], 1), None, "another form");
        assert_eq!(unpack(&[1, 0, 0], 1), None, "half a window");
        assert_eq!(unpack(&[1, 128], 1), None, "half a number");
        assert_eq!(unpack(&[[1].as_slice(), &[255; 30]].concat(), 1), None, "too large a number");
    }
}
