//! Values of arguments that are more than a word.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::harness::Placement;

/// `250ms`, `1s`, `2m`, `1h`.
pub fn duration(text: &str) -> anyhow::Result<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => bail!("{text:?} is not a time: write 250ms, 1s, 2m or 1h"),
    };
    let number: f64 =
        number.parse().with_context(|| format!("{text:?} is not a time: write 250ms or 1s"))?;
    Duration::try_from_secs_f64(number * seconds).with_context(|| format!("{text:?} is too long"))
}

/// `1%`, as 0.01.
pub fn percent(text: &str) -> anyhow::Result<f64> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    let percent: f64 =
        number.parse().with_context(|| format!("{text:?} is not a percentage: write 1%"))?;
    ensure!((0.001..=100.0).contains(&percent), "{text:?} is not between 0.001% and 100%");
    Ok(percent / 100.0)
}

/// `key=value`.
pub fn pair(text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) =
        text.split_once('=').with_context(|| format!("{text:?} is not key=value"))?;
    let (key, value) = (key.trim(), value.trim());
    ensure!(!key.is_empty() && !value.is_empty(), "{text:?} is not key=value");
    Ok((key.to_owned(), value.to_owned()))
}

/// `key=value,key=value`.
pub fn pairs(text: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for item in text.split(',') {
        let (key, value) = pair(item)?;
        ensure!(!pairs.contains_key(&key), "{key} is given twice");
        pairs.insert(key, value);
    }
    Ok(pairs)
}

/// `key=value1,value2`.
pub fn sweep(text: &str) -> anyhow::Result<(String, Vec<String>)> {
    let (key, values) = pair(text)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    ensure!(values.iter().all(|value| !value.is_empty()), "{text:?} has an empty value");
    Ok((key, values))
}

/// `core`, `spread`, `pu`, `none` or `list:0,2`.
pub fn placement(text: &str) -> anyhow::Result<Placement> {
    Ok(match text {
        "core" => Placement::Core,
        "spread" => Placement::Spread,
        "pu" => Placement::Pu,
        "none" => Placement::None,
        _ => match text.strip_prefix("list:") {
            Some(list) => Placement::List(
                list.split(',')
                    .map(|cpu| cpu.trim().parse().with_context(|| format!("{cpu:?} is no CPU")))
                    .collect::<anyhow::Result<_>>()?,
            ),
            None => bail!("{text:?} is not core, spread, pu, none or list:0,2"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        assert_eq!(duration("1.5s").unwrap(), Duration::from_millis(1500));
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        for bad in ["", "5", "s", "-1s", "1 fortnight", "1e9h", "99999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_percentage_may_have_its_sign() {
        assert_eq!((percent("1%").unwrap(), percent("0.5").unwrap()), (0.01, 0.005));
        for bad in ["", "%", "0%", "-1%", "101%", "one%", "nan%"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parameters_are_pairs() {
        assert_eq!(pair("chunk=8192").unwrap(), ("chunk".into(), "8192".into()));
        assert_eq!(pairs("a=1,b=x=y").unwrap()["b"], "x=y");
        assert_eq!(sweep("fill=0,0.9").unwrap(), ("fill".into(), vec!["0".into(), "0.9".into()]));
        for bad in ["", "a", "=1", "a="] {
            assert!(pair(bad).is_err() && pairs(bad).is_err(), "{bad}");
        }
        assert!(pairs("a=1,a=2").is_err());
        assert!(sweep("a=1,,2").is_err());
    }

    #[test]
    fn placements_are_words_or_a_list() {
        assert_eq!(placement("core").unwrap(), Placement::Core);
        assert_eq!(placement("spread").unwrap(), Placement::Spread);
        assert_eq!(placement("list:0,2").unwrap(), Placement::List(vec![0, 2]));
        for bad in ["", "cores", "list:", "list:a", "0,2"] {
            assert!(placement(bad).is_err(), "{bad}");
        }
    }
}
