//! Steps as points arrive: one point in, at most one step out. Course, density and test are those of
//! the whole series, over the latest points.

use super::course::{self, Course, End, Grid};
use super::density::Density;
use super::modes::Modes;
use super::noise::{self, Noise};
use super::test::{self, Numbers, Raw, Scratch, Values};
use super::{Policy, Step, report, returns};
use crate::Direction;

/// Points that are kept when the noise is learnt anew.
pub(super) const WINDOW: usize = 256;

/// The noise is learnt when this many points are known …
const FIRST_LEARNT: u32 = 6;

/// … again after a quarter more, and at the latest after this many.
pub(super) const LEARN_EVERY: u32 = 64;

/// Values beyond the levels known so far let it be learnt too, but not before so many points have
/// come since.
const LEARN_SELDOM: u32 = 2;

/// Changes of the course this many scales large are no waves of autocorrelated noise.
const WAVE: f64 = 10.0;

/// A split is tested where the course's levels alone say this share of the ln p asked.
const WORTH: f64 = 0.25;

/// A shift this near the gap of modes that were known before, relative to it, is taken for a visit
/// until it outlasts the longest.
const NEAR_KNOWN_GAP: f64 = 0.25;

/// A series seen point by point. Pure: the same points give the same steps, and nothing is kept but
/// the latest points, the noise learnt from them and the state of the likeliest course, at most
/// 8 kB. A point that comes late is the caller's to place: push the history again in its order.
#[derive(Debug, Clone)]
pub struct Online {
    direction: Direction,
    policy: Policy,
    /// Number of the first value kept.
    first: u32,
    values: Vec<f64>,
    learnt: Option<Learnt>,
    /// Count of points at which the noise is learnt anew.
    learn_at: u32,
    /// Gap of the modes last known.
    gap: Option<f64>,
    /// Numbers of the first values of the levels that lie in the values kept, without the first.
    begins: Vec<u32>,
    previous: Level,
    present: Level,
    /// The split that failed its test last, and the count of points at which it may be tested again.
    failed: (u32, u32),
    /// Count of points at which the present level is asked again whether it is a step; none once
    /// it was told.
    ask_at: Option<u32>,
}

/// A stretch on one level of the course.
#[derive(Debug, Clone, Copy)]
struct Level {
    begin: u32,
    /// Where the course has it: the lower mode's level where there are two.
    at: f64,
}

#[derive(Debug, Clone)]
struct Learnt {
    /// Count of points at which it was learnt.
    at: u32,
    course: Course,
    density: Density,
    modes: Option<Modes>,
    local_scale: f64,
    /// Of the values as tested, and as they came.
    deflation: [f64; 2],
}

/// Buffers of the judgement; one serves any number of series, one after the other.
#[derive(Debug, Default, Clone)]
pub struct Buffers {
    scratch: Scratch,
    unfolded: Vec<f64>,
}

impl Online {
    /// Before any point.
    pub fn new(direction: Direction, policy: Policy) -> Online {
        let nowhere = Level { begin: 0, at: f64::NAN };
        Online {
            direction,
            policy,
            first: 0,
            values: Vec::new(),
            learnt: None,
            learn_at: FIRST_LEARNT,
            gap: None,
            begins: Vec::new(),
            previous: nowhere,
            present: nowhere,
            failed: (0, 0),
            ask_at: None,
        }
    }

    /// Takes the next point and answers the step that it reveals, if any; [`Step::index`] is the
    /// number of the new level's first point, from 0, of the finite points pushed. A value that is
    /// not finite is set aside. O(levels), at most 256, and every 64 points O(window · levels): the
    /// same after a million points as after a thousand.
    pub fn push(&mut self, value: f64, buffers: &mut Buffers) -> Option<Step> {
        if !value.is_finite() {
            return None;
        }
        if self.values.len() == WINDOW {
            self.values.reserve_exact(LEARN_EVERY as usize);
        }
        self.values.push(value);
        let seen = self.seen();
        let end = if seen >= self.learn_at {
            self.learn(buffers)?
        } else if let Some(beyond) = self.beyond_grid() {
            let learnt = self.learnt.as_ref()?;
            match learnt.course.grid().reaching(beyond) {
                Some(grid) if seen < learnt.at + LEARN_SELDOM => self.replay(grid)?,
                _ => self.learn(buffers)?,
            }
        } else {
            let learnt = self.learnt.as_mut()?;
            learnt.course.push(value, seen - 1, true, &learnt.density)
        };
        self.follow(end, buffers);
        self.tell(buffers)
    }

    /// Bytes that the state of this series takes.
    pub fn size(&self) -> usize {
        let learnt = self.learnt.as_ref().map_or(0, |l| l.course.size() + l.density.size());
        let values = self.values.capacity() * size_of::<f64>();
        size_of::<Online>() + values + self.begins.capacity() * size_of::<u32>() + learnt
    }

    /// Points seen.
    fn seen(&self) -> u32 {
        self.first + self.values.len() as u32
    }

    /// Position among the values kept of value `number`; the first for those before.
    fn position(&self, number: u32) -> usize {
        number.saturating_sub(self.first) as usize
    }

    /// The nearer of the two latest values, where both lie beyond the course's grid of levels on
    /// one side: a level may be there.
    fn beyond_grid(&self) -> Option<f64> {
        let grid = self.learnt.as_ref()?.course.grid();
        let [.., a, b] = self.values[..] else { return None };
        let (low, high) = (a.min(b), a.max(b));
        if high < grid.low { Some(high) } else { (low > grid.high()).then_some(low) }
    }

    /// Learns the noise from the latest points.
    fn learn(&mut self, buffers: &mut Buffers) -> Option<End> {
        self.forget();
        let seen = self.seen();
        self.learn_at = seen + (seen / 4).clamp(1, LEARN_EVERY);
        let noise = Noise::learn(&self.values, |_| true)?;
        let unfolded = noise.unfold(&self.values);
        let values = unfolded.as_ref().unwrap_or(&self.values);
        let local_scale = noise::local_scale(values);
        let splits = self.plain_splits(&noise, local_scale);
        let mut deflation = |values: &[f64]| test::deflation(values, &splits, &mut buffers.scratch);
        let deflation = [deflation(values), deflation(&self.values)];
        self.gap = noise.modes.map(|modes| modes.gap).or(self.gap);
        let course = Course::new(noise.grid, course::PRICE, self.first);
        let (modes, density) = (noise.modes, noise.density);
        self.learnt = Some(Learnt { at: seen, course, density, modes, local_scale, deflation });
        self.replay(noise.grid)
    }

    /// Positions of the steps entered, and of those the course sees that are too large for a wave:
    /// autocorrelation is what is left between them.
    fn plain_splits(&self, noise: &Noise, scale: f64) -> Vec<usize> {
        let path = &noise.path;
        let large = |w: &[f64]| (w[1] - w[0]).abs() >= WAVE * scale;
        let seen = path.levels.windows(2).zip(&path.splits).filter(|(w, _)| large(w));
        let entered = self.begins.iter().map(|&begin| self.position(begin));
        let mut splits: Vec<usize> = seen.map(|(_, &split)| split).chain(entered).collect();
        splits.sort_unstable();
        splits.dedup();
        splits
    }

    /// Follows the course through the points kept anew, on `grid`.
    fn replay(&mut self, grid: Grid) -> Option<End> {
        let learnt = self.learnt.as_mut()?;
        learnt.course = Course::new(grid, course::PRICE, self.first);
        for (&value, number) in self.values.iter().zip(self.first..) {
            let end = learnt.course.push(value, number, number > self.first, &learnt.density);
            for level in [&mut self.previous, &mut self.present] {
                if end.begin <= level.begin.max(self.first) {
                    level.at = end.level;
                }
            }
        }
        Some(learnt.course.end())
    }

    /// Drops the points beyond the window.
    fn forget(&mut self) {
        let surplus = self.values.len().saturating_sub(WINDOW);
        self.values.drain(..surplus);
        self.first += surplus as u32;
        let first = self.first;
        self.begins.retain(|&begin| begin > first);
    }

    /// Enters the level at which the course now ends, where that is new and passes its test.
    fn follow(&mut self, end: End, buffers: &mut Buffers) {
        let (few, begin) = (self.policy.few_points as u32, self.present.begin.max(self.first));
        let level = Level { begin: end.begin, at: end.level };
        if end.begin <= begin {
            self.present.at = end.level;
            return;
        }
        let points = self.seen() - end.begin;
        if end.begin < begin + few || points < few || !self.is_worth_testing(level) {
            return;
        }
        let enters = self.between(self.present, level, buffers, |of, at, scratch| {
            test::numbers(of, at, scratch).passes(&self.policy)
        });
        if enters == Some(true) {
            self.begins.push(level.begin);
            self.previous = std::mem::replace(&mut self.present, level);
            self.ask_at = Some(self.seen());
        } else {
            self.failed = (level.begin, self.seen() + points / 8);
        }
    }

    /// Whether a test could pass: not where the course's levels are far too near each other, nor
    /// right after the same split failed.
    fn is_worth_testing(&self, level: Level) -> bool {
        let Some(learnt) = &self.learnt else { return false };
        let n = f64::from(level.begin - self.present.begin.max(self.first));
        let m = f64::from(self.seen() - level.begin);
        let scales = (level.at - self.present.at) / learnt.local_scale;
        let z2 = scales * scales * n * m / (n + m);
        let near = z2 / (2.0 * learnt.deflation[0]) < -WORTH * self.policy.largest_p.ln();
        !near && (self.failed.0 != level.begin || self.seen() >= self.failed.1)
    }

    /// The step to the present level, once it is more than a visit; asked again with every eighth
    /// more of its points.
    fn tell(&mut self, buffers: &mut Buffers) -> Option<Step> {
        let seen = self.seen();
        if self.ask_at? > seen {
            return None;
        }
        self.ask_at = Some(seen + ((seen - self.present.begin) / 8).max(1));
        if self.present.begin <= self.first {
            // Its like before is forgotten.
            self.ask_at = None;
            return None;
        }
        let step = self.between(self.previous, self.present, buffers, |of, at, scratch| {
            let numbers = test::numbers(of, at, scratch);
            let holds = numbers.passes(&self.policy) && numbers.is_no_visit(&self.policy);
            if holds { self.step(of, at, &numbers) } else { None }
        })?;
        if step.is_some() {
            self.ask_at = None;
        }
        step
    }

    /// The step at `at.1`, unless it may be one more visit.
    fn step(&self, of: Values, at: (usize, usize, usize), numbers: &Numbers) -> Option<Step> {
        let mut step = report::level(of, at, numbers, self.direction, &self.policy);
        step.index = self.present.begin as usize;
        let evidence = &mut step.evidence;
        if let Some(modes) = of.modes {
            evidence.notes.push(report::two_modes(modes.gap));
            return Some(step);
        }
        let (shown, asked) = returns::entered(of.values, at.1, numbers);
        if asked > 0.0 && !evidence.require(report::SO_LONG_A_STAY, shown, ">=", asked) {
            return None;
        }
        let near = |gap: f64| (numbers.shift() - gap).abs() < NEAR_KNOWN_GAP * gap;
        let points = (at.2 - at.1) as f64;
        let longest = returns::LONGEST_STAY as f64;
        let what = "points, the shift being about the gap of modes known before";
        if self.gap.is_some_and(near) && !evidence.require(what, points, ">=", longest) {
            return None;
        }
        Some(step)
    }

    /// What `judge` says of the step from one level to the next, the values of an upper mode taken
    /// down; none before the noise is learnt.
    fn between<T>(
        &self,
        before: Level,
        after: Level,
        buffers: &mut Buffers,
        judge: impl FnOnce(Values, (usize, usize, usize), &mut Scratch) -> T,
    ) -> Option<T> {
        let learnt = self.learnt.as_ref()?;
        let Buffers { scratch, unfolded } = buffers;
        let k = self.position(after.begin);
        if let Some(modes) = learnt.modes {
            unfolded.clear();
            unfolded.extend(self.values[..k].iter().map(|&v| modes.unfold(v, before.at)));
            unfolded.extend(self.values[k..].iter().map(|&v| modes.unfold(v, after.at)));
        }
        let raw = |modes: Modes| Raw {
            values: &self.values,
            gap: modes.gap,
            deflation: learnt.deflation[1],
        };
        let of = Values {
            known: Some(self.seen() as usize),
            modes: learnt.modes.map(raw),
            values: if learnt.modes.is_some() { unfolded } else { &self.values },
            group: None,
            within: 0.0,
            local_scale: learnt.local_scale,
            deflation: learnt.deflation[0],
        };
        let at = (self.position(before.begin), k, self.values.len());
        Some(judge(of, at, scratch))
    }
}
