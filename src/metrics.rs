//! What the service counts about itself, for Prometheus. Each process counts what it did; what
//! waits in the database is read when it is asked for.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// Upper ends of the classes of latency, seconds.
const LATENCIES: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    route: String,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct From {
    from: &'static str,
}

/// A level that is there only where there is what it is of.
type Sometimes<T> = Family<[(&'static str, &'static str); 0], T>;

/// What became of a piece of the worker's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A curve was judged.
    Judged,
    /// A curve could not be judged.
    Postponed,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It went out.
    Sent,
    /// It could not be sent now.
    Failed,
    /// It is not tried any more.
    Withdrawn,
}

impl Delivery {
    const fn label(self) -> Outcome {
        let outcome = match self {
            Delivery::Sent => "sent",
            Delivery::Failed => "failed",
            Delivery::Withdrawn => "withdrawn",
        };
        Outcome { outcome }
    }
}

/// What waits and what is in use just now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Now {
    /// Curves that wait to be judged.
    pub due_curves: i64,
    /// How long the first of them has waited, seconds; 0 where none waits.
    pub oldest_due_s: f64,
    /// Mails that wait to be sent.
    pub unsent_mails: i64,
    /// Events that wait to be sent to webhooks.
    pub unsent_webhooks: i64,
    /// Connections to the database that are open.
    pub connections: u32,
    /// Those that nobody uses.
    pub idle_connections: usize,
    /// Most there may be.
    pub most_connections: u32,
    /// The replica, where there is one.
    pub replica: Option<ReplicaNow>,
}

/// How the replica stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplicaNow {
    /// Whether it is read from.
    pub is_read: bool,
    /// How far it is behind, seconds; none where it does not answer.
    pub lag_s: Option<f64>,
    /// The same in bytes of the log.
    pub lag_bytes: Option<i64>,
}

type Level = Gauge<f64, AtomicU64>;

/// The counters of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    latency: Family<Route, Histogram>,
    runs: Counter,
    points: Counter,
    windows: Counter,
    curves: Family<Outcome, Counter>,
    mails: Family<Outcome, Counter>,
    webhooks: Family<Outcome, Counter>,
    due_curves: Gauge,
    oldest_due: Level,
    unsent_mails: Gauge,
    unsent_webhooks: Gauge,
    connections: Gauge,
    idle_connections: Gauge,
    most_connections: Gauge,
    reads: Family<From, Counter>,
    replica_read: Sometimes<Gauge>,
    replica_lag: Sometimes<Level>,
    replica_bytes: Sometimes<Gauge>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("scalewatch"),
            requests: Family::default(),
            latency: Family::new_with_constructor(|| Histogram::new(LATENCIES)),
            runs: Counter::default(),
            points: Counter::default(),
            windows: Counter::default(),
            curves: Family::default(),
            mails: Family::default(),
            webhooks: Family::default(),
            due_curves: Gauge::default(),
            oldest_due: Level::default(),
            unsent_mails: Gauge::default(),
            unsent_webhooks: Gauge::default(),
            connections: Gauge::default(),
            idle_connections: Gauge::default(),
            most_connections: Gauge::default(),
            reads: Family::default(),
            replica_read: Family::default(),
            replica_lag: Family::default(),
            replica_bytes: Family::default(),
        };
        metrics.register_counters();
        metrics.register_levels();
        metrics.register_replica();
        metrics
    }
}

impl Metrics {
    fn register_counters(&mut self) {
        let registry = &mut self.registry;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program that runs", version);
        let requests = self.requests.clone();
        registry.register("http_requests", "Requests by route and status", requests);
        let latency = self.latency.clone();
        let help = "Time from a request's head to its answer's head";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, latency);
        registry.register("ingested_runs", "Runs that were new and stored", self.runs.clone());
        registry.register("ingested_points", "Points of those runs", self.points.clone());
        registry.register("ingested_windows", "Windows of those runs", self.windows.clone());
        let curves = self.curves.clone();
        registry.register("judged_curves", "Curves the worker took up, by outcome", curves);
        let mails = self.mails.clone();
        registry.register("mails", "Attempts to send a mail, by outcome", mails);
        let webhooks = self.webhooks.clone();
        registry.register("webhook_events", "Attempts to tell a webhook, by outcome", webhooks);
    }

    fn register_levels(&mut self) {
        let registry = &mut self.registry;
        let due = self.due_curves.clone();
        registry.register("due_curves", "Curves that wait to be judged", due);
        let oldest = self.oldest_due.clone();
        let help = "How long the first of them has waited";
        registry.register_with_unit("oldest_due_curve_age", help, Unit::Seconds, oldest);
        let unsent = self.unsent_mails.clone();
        registry.register("unsent_mails", "Mails that wait to be sent", unsent);
        let unsent = self.unsent_webhooks.clone();
        registry.register("unsent_webhook_events", "Events that wait to be sent", unsent);
        let open = self.connections.clone();
        registry.register("database_connections", "Open connections to the database", open);
        let idle = self.idle_connections.clone();
        registry.register("database_connections_idle", "Those that nobody uses", idle);
        let most = self.most_connections.clone();
        registry.register("database_connections_max", "Most there may be", most);
    }

    fn register_replica(&mut self) {
        let registry = &mut self.registry;
        let reads = self.reads.clone();
        registry.register("reads", "Reads that a replica may answer, by what answered", reads);
        let read = self.replica_read.clone();
        registry.register("replica_in_use", "Whether the replica is read from", read);
        let (lag, help) = (self.replica_lag.clone(), "How far the replica is behind");
        registry.register_with_unit("replica_lag", help, Unit::Seconds, lag);
        let (lag, help) = (self.replica_bytes.clone(), "What the replica has still to replay");
        registry.register_with_unit("replica_lag", help, Unit::Bytes, lag);
    }

    /// Counts a read that a replica may answer, by where it was read from.
    pub fn read_from(&self, from: &'static str) {
        self.reads.get_or_create(&From { from }).inc();
    }

    fn set_replica(&self, replica: ReplicaNow) {
        self.replica_read.get_or_create(&[]).set(replica.is_read.into());
        match replica.lag_s {
            Some(lag) => drop(self.replica_lag.get_or_create(&[]).set(lag)),
            None => drop(self.replica_lag.remove(&[])),
        }
        match replica.lag_bytes {
            Some(bytes) => drop(self.replica_bytes.get_or_create(&[]).set(bytes)),
            None => drop(self.replica_bytes.remove(&[])),
        }
    }

    /// Counts a request. `route` is the pattern of its path, so that ids make no series.
    pub fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let of = Route { method: method.clone(), route: route.clone() };
        self.latency.get_or_create(&of).observe(took.as_secs_f64());
        let answered = Answered { method, route, status: status.into() };
        self.requests.get_or_create(&answered).inc();
    }

    /// Counts a run that was new.
    pub fn ingested(&self, points: usize, windows: usize) {
        self.runs.inc();
        self.points.inc_by(points as u64);
        self.windows.inc_by(windows as u64);
    }

    /// Counts a piece of the worker's work.
    pub fn worked(&self, work: Work) {
        let outcome = match work {
            Work::Judged => "judged",
            Work::Postponed => "postponed",
        };
        self.curves.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts an attempt to send a mail.
    pub fn mailed(&self, delivery: Delivery) {
        self.mails.get_or_create(&delivery.label()).inc();
    }

    /// Counts an attempt to tell a webhook.
    pub fn told(&self, delivery: Delivery) {
        self.webhooks.get_or_create(&delivery.label()).inc();
    }

    /// Everything as text of the OpenMetrics format, with what is so just now.
    pub fn text(&self, now: Now) -> String {
        self.due_curves.set(now.due_curves);
        self.oldest_due.set(now.oldest_due_s);
        self.unsent_mails.set(now.unsent_mails);
        self.unsent_webhooks.set(now.unsent_webhooks);
        self.connections.set(now.connections.into());
        self.idle_connections.set(now.idle_connections as i64);
        self.most_connections.set(now.most_connections.into());
        if let Some(replica) = now.replica {
            self.set_replica(replica);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string succeeds");
        text
    }
}
