//! The tables of mmtests and LKP, to the character.

use scalewatch_runner::compare::{lkp, mmtests};
use stats::Direction;

const BASE: &str = "68ac5b3c8db2fda00af594eca4100f326ca9f38d";

fn percent(base: f64, new: f64, direction: Direction) -> mmtests::Cell {
    let percent = stats::mmtests::percent(base, new, direction);
    mmtests::Cell { value: Some(new), percent: Some(percent), starred: false }
}

#[test]
fn a_whole_mmtests_table_comes_out_to_the_character() {
    let row = |label: &str, base: f64, new: f64, starred| mmtests::Row {
        statistic: "Hmean".into(),
        label: label.into(),
        cells: vec![
            percent(base, base, Direction::Higher),
            mmtests::Cell { starred, ..percent(base, new, Direction::Higher) },
        ],
    };
    let text = mmtests::render(&mmtests::Table {
        kernels: vec!["5.14.0-orig".into(), "5.14.0-orphan-file".into()],
        rows: vec![
            row("creat_clo-1", 14705.88, 14354.07, true),
            row("creat_clo-3", 27108.43, 28301.89, false),
            row("creat_clo-31", 14283.52, 67982.45, true),
        ],
    });
    let expected = "
                                   5.14.0                 5.14.0
                                     orig            orphan-file
Hmean creat_clo-1     14705.88 (   0.00%)    14354.07 *  -2.39%*
Hmean creat_clo-3     27108.43 (   0.00%)    28301.89 (   4.40%)
Hmean creat_clo-31    14283.52 (   0.00%)    67982.45 * 375.95%*
";
    assert_eq!(format!("\n{text}"), expected);
}

fn lkp_row(name: &str, base: (f64, Option<u32>), head: (f64, Option<u32>)) -> lkp::Row {
    let cell = |(mean, deviation_percent), change_percent| {
        Some(lkp::Cell { mean, deviation_percent, change_percent })
    };
    let change = 100.0 * (head.0 - base.0) / base.0;
    lkp::Row { name: name.into(), cells: vec![cell(base, None), cell(head, Some(change))] }
}

#[test]
fn an_lkp_table_comes_out_to_the_character() {
    let text = lkp::render(&lkp::Table {
        keys: vec![
            ("testcase".into(), "will-it-scale".into()),
            ("mode".into(), "process".into()),
            ("nr_task".into(), "100%".into()),
        ],
        commits: vec![
            lkp::Commit { id: BASE.into(), title: "the parent".into() },
            lkp::Commit {
                id: "5387c90490f7f42df3209154ca955a453ee01b41".into(),
                title: "mm/memcg: a change".into(),
            },
        ],
        failures: Vec::new(),
        rows: vec![
            lkp_row("will-it-scale.per_process_ops", (493_145.0, None), (387_892.0, Some(7))),
            lkp_row("proc-vmstat.nr_mapped", (12_193.0, Some(2)), (12_883.0, Some(2))),
        ],
    });
    let expected = "\
=========================================================================================
mode/nr_task/testcase:
  process/100%/will-it-scale

commit:
  68ac5b3c8d (\"the parent\")
  5387c90490 (\"mm/memcg: a change\")

68ac5b3c8db2fda0 5387c90490f7f42df3209154ca9
---------------- ---------------------------
         %stddev     %change         %stddev
             \\          |                \\
    493145           -21.3%     387892 ±  7%  will-it-scale.per_process_ops
     12193 ±  2%      +5.7%      12883 ±  2%  proc-vmstat.nr_mapped
";
    assert_eq!(text, expected);
}

#[test]
fn lkp_numbers_keep_the_digits_lkp_gives_them() {
    for (value, shown) in [
        (0.0, "0.00"),
        (9.637, "9.64"),
        (999.994, "999.99"),
        (1000.4, "1000"),
        (99_999_999.0, "99999999"),
        (123_456_789.0, "1.235e+08"),
        (2e9, "2e+09"),
        (-34.619, "-34.62"),
    ] {
        assert_eq!(lkp::number(value), shown);
    }
}
