//! Speaks with the service until there is a verdict, or until it is clear how the gate ends without
//! one.

use std::time::{Duration, Instant};

use wire::{Job, JobRequest, JobState, ProjectComparison, Submitted};

use crate::agent::{Answer, Client, Later};
use crate::exit::{Ended, Exit};

/// First and longest pause between two looks at a job.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// How long a gate has patience.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// With its jobs.
    pub jobs: Duration,
    /// With a service that does not answer, each time.
    pub outage: Duration,
}

/// A gate that speaks with one service.
pub struct Gate<'a> {
    /// The service.
    pub client: &'a Client,
    /// How long it waits.
    pub patience: Patience,
    /// Gets a line for each thing a person may want to know.
    pub say: fn(&str),
}

impl Gate<'_> {
    /// Asks for measurements, once however often the request is sent.
    ///
    /// # Errors
    /// With the exit codes 4 and 5.
    pub fn submit(&self, request: &JobRequest, key: &str) -> anyhow::Result<Vec<Job>> {
        let body = serde_json::to_vec(request)?;
        let ask = || self.client.post_once::<Submitted>("/api/v1/jobs", &body, Some(key));
        let submitted = self.until_answered(&ask, Exit::Refused)?;
        for job in &submitted.jobs {
            (self.say)(&format!("job {}: {}", job.id, job.url));
        }
        Ok(submitted.jobs)
    }

    /// Jobs of these commits that are not over.
    ///
    /// # Errors
    /// With the exit codes 4 and 5.
    pub fn open_jobs(&self, project: &str, commits: &[&str]) -> anyhow::Result<Vec<Job>> {
        #[derive(serde::Deserialize)]
        struct Page {
            items: Vec<Job>,
        }
        let mut found: Vec<Job> = Vec::new();
        for commit in commits {
            let query =
                format!("state=open&limit=500&project={}&commit={commit}", encoded(project));
            let ask = || self.client.get::<Page>(&format!("/api/v1/jobs?{query}"));
            for job in self.until_answered(&ask, Exit::NotEnoughData)?.items {
                if !found.iter().any(|known| known.id == job.id) {
                    found.push(job);
                }
            }
        }
        Ok(found)
    }

    /// Waits until these jobs are done.
    ///
    /// # Errors
    /// With the exit codes 3 (they took too long), 4, 5 and 6 (one cannot be done).
    pub fn wait_for(&self, jobs: Vec<Job>) -> anyhow::Result<Vec<Job>> {
        let until = Instant::now() + self.patience.jobs;
        let mut done = Vec::new();
        for mut job in jobs {
            let (mut pause, longest) = PAUSES;
            let mut said = String::new();
            while job.state != JobState::Done {
                if job.state.is_ended() {
                    let why = job.reason.map_or(String::new(), |reason| format!(": {reason}"));
                    let words =
                        format!("job {} {}{why}, see {}", job.id, job.state.title(), job.url);
                    return Err(Ended::with(Exit::MeasurementFailed, words));
                }
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let state = job.state.title();
                    let words = format!("job {} is still {state}, see {}", job.id, job.url);
                    return Err(Ended::with(Exit::NotEnoughData, words));
                }
                let words = format!("job {} {} {}", job.id, job.state.title(), job.progress.words);
                if words != said {
                    (self.say)(words.trim_end());
                    said = words;
                    pause = PAUSES.0;
                }
                std::thread::sleep(pause.min(left));
                pause = (pause * 2).min(longest);
                let path = format!("/api/v1/jobs/{}", job.id);
                job = self.until_answered(&|| self.client.get::<Job>(&path), Exit::Refused)?;
            }
            done.push(job);
        }
        Ok(done)
    }

    /// The service's verdict; `query` is that of `GET /projects/{name}/compare`.
    ///
    /// # Errors
    /// With the exit codes 3 (the service does not know the project or a commit), 4 and 5.
    pub fn compare(&self, project: &str, query: &str) -> anyhow::Result<ProjectComparison> {
        let path = format!("/api/v1/projects/{}/compare?{query}", encoded(project));
        self.until_answered(&|| self.client.get(&path), Exit::NotEnoughData)
    }

    /// Asks until there is an answer, as long as an outage may last. `missing` is how it ends where
    /// the service does not know what is asked about.
    fn until_answered<T>(&self, ask: &dyn Fn() -> Answer<T>, missing: Exit) -> anyhow::Result<T> {
        let until = Instant::now() + self.patience.outage;
        let (mut pause, longest) = PAUSES;
        loop {
            let (words, wish) = match ask() {
                Answer::Accepted(answer) => return Ok(answer),
                Answer::Unauthorised(refusal) => {
                    return Err(Ended::with(Exit::Refused, format!("refused: {refusal}")));
                }
                Answer::Refused(refusal) => {
                    let exit = if refusal.status == Some(404) { missing } else { Exit::Refused };
                    let words = match exit {
                        Exit::NotEnoughData => format!("no baseline: {refusal}"),
                        _ => format!("refused: {refusal}"),
                    };
                    return Err(Ended::with(exit, words));
                }
                Answer::Later(Later { words, pause, .. }) => (words, pause),
                Answer::Unreachable(words) => (words, None),
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Ended::with(Exit::Unreachable, words));
            }
            (self.say)(&words);
            std::thread::sleep(wish.unwrap_or(pause).min(left));
            pause = (pause * 2).min(longest);
        }
    }
}

/// A name as a part of an address.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_byte_by_byte() {
        assert_eq!(encoded("linux-6.9_x~"), "linux-6.9_x~");
        assert_eq!(encoded("a b/ü&"), "a%20b%2F%C3%BC%26");
    }
}
