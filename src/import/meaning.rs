//! The unit and the direction of each metric: from its format, or as they were given. Neither has a
//! default, and what was given never contradicts what the file says.

use wire::{Direction, Metric, Source, Spread, Unit};

use super::found::FoundMetric;
use super::problem::{Problem, Result};

/// A name, or its beginning followed by `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern as it was typed.
    pub fn new(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }

    fn fits(&self, name: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => self.0 == name,
        }
    }

    /// Whole names are more particular than beginnings, long ones than short ones.
    fn rank(&self) -> (bool, usize) {
        (!self.0.ends_with('*'), self.0.len())
    }
}

#[derive(Debug, Clone)]
struct Rule<T> {
    of: Pattern,
    means: T,
    option: &'static str,
    used: bool,
}

/// What was said about metrics on the command line.
#[derive(Debug, Clone, Default)]
pub struct Meaning {
    units: Vec<Rule<Unit>>,
    directions: Vec<Rule<Direction>>,
    skipped: Vec<Rule<()>>,
}

impl Meaning {
    /// Reads `NAME=UNIT`, `NAME=higher|lower` and `NAME`; a name may end in `*`.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn parse(units: &[String], directions: &[String], skipped: &[String]) -> Result<Meaning> {
        let skip = |name: &String| rule("--skip", name, ());
        Ok(Meaning {
            units: rules("--unit", units, Unit::parse, &known_units())?,
            directions: rules("--direction", directions, Direction::parse, "higher or lower")?,
            skipped: skipped.iter().map(skip).collect(),
        })
    }

    /// The metric with its meaning; none when it is to be left out.
    ///
    /// # Errors
    /// When its unit or direction is told by nobody, or told twice and differently.
    pub fn of(&mut self, found: FoundMetric) -> Result<Option<(Metric, Option<Spread>)>> {
        let name = &found.name;
        if best(&mut self.skipped, name).is_some() {
            return Ok(None);
        }
        let given = best(&mut self.units, name);
        let shown = |unit: Unit| unit.symbol().to_owned();
        let word = found.unit_word.as_deref();
        let lacks = word.map_or_else(
            || "has no unit in this format".to_owned(),
            |word| format!("is in `{word}`, which is no unit here"),
        );
        let unit = agreed("unit", name, found.unit, given, shown)?.ok_or_else(|| {
            let units = known_units();
            Problem::whole(format!(
                "metric `{name}` {lacks}: give --unit '{name}=UNIT' ({units}), or leave it out with \
                 --skip '{name}'"
            ))
        })?;
        let given = best(&mut self.directions, name);
        let shown = |direction: Direction| direction.word().to_owned();
        let direction = agreed("direction", name, found.direction, given, shown)?;
        let direction = direction.ok_or_else(|| {
            Problem::whole(format!(
                "this format does not say which way of metric `{name}` is better: give --direction \
                 '{name}=higher' or '{name}=lower', or leave it out with --skip '{name}'"
            ))
        })?;
        let source = Source::Values(found.values);
        Ok(Some((Metric { name: found.name, unit, direction, source }, found.spread)))
    }

    /// The first of what was said that fitted no metric.
    pub fn unused(&self) -> Option<String> {
        let units = self.units.iter().filter(|rule| !rule.used).map(Rule::shown);
        let directions = self.directions.iter().filter(|rule| !rule.used).map(Rule::shown);
        let skipped = self.skipped.iter().filter(|rule| !rule.used).map(Rule::shown);
        units.chain(directions).chain(skipped).next()
    }
}

impl<T> Rule<T> {
    fn shown(&self) -> String {
        format!("{} {}", self.option, self.of.0)
    }
}

/// Every unit, for people.
fn known_units() -> String {
    Unit::ALL.map(Unit::symbol).join(", ")
}

fn rule<T>(option: &'static str, name: &str, means: T) -> Rule<T> {
    Rule { of: Pattern::new(name), means, option, used: false }
}

fn rules<T>(
    option: &'static str,
    given: &[String],
    parse: fn(&str) -> Option<T>,
    allowed: &str,
) -> Result<Vec<Rule<T>>> {
    let read = |text: &String| {
        // A metric's name may hold a `=`, a unit holds none.
        let parts = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
        let (name, word) =
            parts.ok_or_else(|| Problem::whole(format!("{option} {text}: is not NAME=WORD")))?;
        let means = parse(word).ok_or_else(|| {
            Problem::whole(format!("{option} {text}: `{word}` is none of {allowed}"))
        })?;
        Ok(rule(option, name, means))
    };
    given.iter().map(read).collect()
}

/// What the most particular rule says. Every rule that fits counts as used.
fn best<T: Copy>(rules: &mut [Rule<T>], name: &str) -> Option<T> {
    let mut best: Option<((bool, usize), T)> = None;
    for rule in rules.iter_mut().filter(|rule| rule.of.fits(name)) {
        rule.used = true;
        if best.is_none_or(|(rank, _)| rank < rule.of.rank()) {
            best = Some((rule.of.rank(), rule.means));
        }
    }
    best.map(|(_, means)| means)
}

fn agreed<T: Copy + PartialEq>(
    what: &str,
    name: &str,
    told: Option<T>,
    given: Option<T>,
    shown: impl Fn(T) -> String,
) -> Result<Option<T>> {
    match (told, given) {
        (Some(told), Some(given)) if told != given => Err(Problem::whole(format!(
            "metric `{name}`: the {what} was given as {}, but the file says {}",
            shown(given),
            shown(told)
        ))),
        (told, given) => Ok(told.or(given)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(units: &[&str], directions: &[&str], skipped: &[&str]) -> Result<Meaning> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        Meaning::parse(&owned(units), &owned(directions), &owned(skipped))
    }

    fn refused(meaning: &mut Meaning, found: FoundMetric) -> String {
        meaning.of(found).expect_err("it is refused").problem
    }

    #[test]
    fn the_most_particular_word_counts_and_one_that_fits_nothing_is_told() {
        let mut meaning =
            meaning(&["*=us", "lat.*=ns", "lat.max=ms", "typo=s"], &["*=lower"], &["noise"])
                .expect("all can be read");
        let mut unit = |name: &str| {
            let found = meaning.of(FoundMetric::untold(name, vec![1.0])).expect("it has a meaning");
            found.map(|(metric, _)| metric.unit.symbol())
        };
        assert_eq!(unit("lat.max"), Some("ms"));
        assert_eq!(unit("lat.mean"), Some("ns"));
        assert_eq!(unit("other"), Some("us"));
        assert_eq!(unit("noise"), None);
        assert_eq!(meaning.unused().as_deref(), Some("--unit typo"));
    }

    #[test]
    fn a_metric_without_unit_or_direction_is_refused_by_its_name() {
        let mut none = Meaning::default();
        let said = refused(&mut none, FoundMetric::untold("score", vec![1.0]));
        assert!(
            said.contains("`score` has no unit") && said.contains("--unit 'score=UNIT'"),
            "{said}"
        );
        let odd = FoundMetric {
            unit_word: Some("furlongs".into()),
            ..FoundMetric::untold("score", vec![1.0])
        };
        assert!(refused(&mut none, odd).contains("`furlongs`"));
        let mut unit_only = meaning(&["score=ratio"], &[], &[]).expect("it can be read");
        let said = refused(&mut unit_only, FoundMetric::untold("score", vec![1.0]));
        assert!(said.contains("--direction 'score=higher'"), "{said}");
    }

    #[test]
    fn what_is_given_does_not_contradict_the_file() {
        let told = || FoundMetric::new("time", Unit::Seconds, Direction::Lower, vec![1.0]);
        let mut other = meaning(&["time=ns"], &[], &[]).expect("it can be read");
        assert!(refused(&mut other, told()).contains("given as ns, but the file says s"));
        let mut other = meaning(&[], &["time=higher"], &[]).expect("it can be read");
        assert!(refused(&mut other, told()).contains("the file says lower"));
        let mut same = meaning(&["time=s"], &["time=lower"], &[]).expect("it can be read");
        assert!(same.of(told()).is_ok_and(|metric| metric.is_some()));
    }

    #[test]
    fn words_that_are_no_unit_or_direction_are_refused_with_those_there_are() {
        let said = meaning(&["time=furlongs"], &[], &[]).expect_err("no such unit").problem;
        assert!(said.contains("`furlongs`") && said.contains("MiB/s"), "{said}");
        let said = meaning(&[], &["time=up"], &[]).expect_err("no such direction").problem;
        assert!(said.contains("higher or lower"), "{said}");
        assert!(meaning(&["time"], &[], &[]).is_err());
        assert!(meaning(&["=s"], &[], &[]).is_err());
    }
}
