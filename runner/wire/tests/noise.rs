//! Limits of noise floors.

use scalewatch_wire::{NoiseFloor, NoiseFloors};

fn floor() -> NoiseFloor {
    NoiseFloor {
        workload: "file/open".into(),
        metric: "ops_per_cpu_s".into(),
        relative: 0.012,
        pairs: 10,
        measured_at: "2026-03-01T12:00:00Z".into(),
    }
}

#[test]
fn each_limit_of_a_noise_floor_names_its_field() {
    type Break = fn(&mut NoiseFloor);
    let breaks: [(&str, Break); 6] = [
        ("floors[1].workload", |floor| floor.workload.clear()),
        ("floors[1].metric", |floor| floor.metric = "x".repeat(300)),
        ("floors[1].relative", |floor| floor.relative = -0.1),
        ("floors[1].relative", |floor| floor.relative = f64::NAN),
        ("floors[1].pairs", |floor| floor.pairs = 0),
        ("floors[1].metric", |floor| floor.workload = "file/open".into()),
    ];
    for (field, break_it) in breaks {
        let mut other = NoiseFloor { workload: "file/dup".into(), ..floor() };
        break_it(&mut other);
        let invalid = NoiseFloors { floors: vec![floor(), other] }.check();
        assert_eq!(invalid.map_err(|invalid| invalid.field), Err(field.to_owned()));
    }
    assert_eq!(NoiseFloors { floors: vec![floor()] }.check(), Ok(()));
}

#[test]
fn noise_floors_are_read_as_they_were_first_sent() {
    let sent = r#"{"floors":[{"workload":"file/open","metric":"ops_per_cpu_s","relative":0.012,
                   "pairs":10,"measured_at":"2026-03-01T12:00:00Z"}]}"#;
    let read: NoiseFloors = serde_json::from_str(sent).expect("a released shape");
    assert_eq!(read.floors, [floor()]);
    assert!(serde_json::from_str::<NoiseFloors>(&sent.replace("pairs", "pears")).is_err());
}
