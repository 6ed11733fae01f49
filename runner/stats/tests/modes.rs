//! Two modes are named where they are, and nowhere else.

use scalewatch_stats::modes::{LEAST_SWITCHES, two_modes};
use scalewatch_stats::random::Random;

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

#[test]
fn toggling_values_are_two_modes_with_their_dwell() {
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..60)
        .map(|i| if i / 5 % 2 == 0 { 100.0 } else { 65.0 } + 0.5 * normal(&mut random))
        .collect();
    let modes = two_modes(&values).unwrap();
    assert!((modes.low.value - 65.0).abs() < 0.5 && (modes.high.value - 100.0).abs() < 0.5);
    assert_eq!((modes.low.runs, modes.high.runs, modes.switches), (30, 30, 11));
    assert_eq!((modes.low.dwell, modes.high.dwell), (5.0, 5.0));
}

#[test]
fn a_step_and_a_step_with_its_revert_are_no_modes() {
    let mut random = Random::new(4);
    let mut levels = |level: fn(usize) -> f64| -> Vec<f64> {
        (0..60).map(|i| level(i) + 0.3 * normal(&mut random)).collect()
    };
    let step = levels(|i| if i < 30 { 100.0 } else { 65.0 });
    let reverted = levels(|i| if (20..40).contains(&i) { 65.0 } else { 100.0 });
    assert_eq!((two_modes(&step), two_modes(&reverted)), (None, None));
}

#[test]
fn noise_of_one_mode_is_hardly_ever_two() {
    let mut random = Random::new(5);
    let shapes: [fn(&mut Random) -> f64; 4] = [
        normal,
        Random::unit,
        // Heavy tails, and one side only.
        |random| normal(random) / random.unit().max(1e-3).sqrt(),
        |random| -random.unit().max(1e-9).ln(),
    ];
    let mut named = 0;
    for shape in shapes {
        for n in [20, 30, 100, 300] {
            for _ in 0..250 {
                let values: Vec<f64> = (0..n).map(|_| 100.0 + shape(&mut random)).collect();
                named += usize::from(two_modes(&values).is_some());
            }
        }
    }
    assert!(named <= 40, "{named} of 4000");
}

#[test]
fn shift_and_scale_carry_through_and_the_digits_of_large_values_stay() {
    let values: Vec<f64> =
        (0..40).map(|i| f64::from(i % 2) * 10.0 + f64::from(i % 7) * 0.1).collect();
    let plain = two_modes(&values).unwrap();
    let moved: Vec<f64> = values.iter().map(|v| 1e9 + 4.0 * v).collect();
    let moved = two_modes(&moved).unwrap();
    assert_eq!(moved.switches, plain.switches);
    assert!((moved.high.value - (1e9 + 4.0 * plain.high.value)).abs() < 1e-5);
}

#[test]
fn degenerate_values_have_no_modes_or_exact_ones() {
    assert_eq!(two_modes(&[]), None);
    assert_eq!(two_modes(&[1.0; 50]), None);
    assert_eq!(two_modes(&[f64::NAN; 50]), None);
    let exact: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
    let modes = two_modes(&exact).unwrap();
    assert_eq!((modes.low.value, modes.high.value, modes.low.dwell), (0.0, 1.0, 1.0));
    assert!(modes.switches >= LEAST_SWITCHES);
}
