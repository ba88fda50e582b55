//! The document of a load model, schema `yamba-load/1`.

use serde::{Deserialize, Serialize};

use crate::model::distribution::Distribution;
use crate::model::goodness::Compared;
use crate::model::locality::Locality;
use crate::model::popularity::Popularity;
use crate::model::sessions::SessionLength;
use crate::model::sizes::Sizes;

/// The schema's name.
pub const SCHEMA: &str = "yamba-load/1";

/// A stochastic model of the requests in a log. Unless stated otherwise, it describes the requests
/// with GET and HEAD, which change nothing on the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Model {
    /// Schema of the document: [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The log.
    pub source: Source,
    /// How often each object is requested.
    pub popularity: Popularity,
    /// The order of the requests for the objects.
    pub locality: Locality,
    /// The sizes of the objects.
    pub sizes: Sizes,
    /// The objects in the order of popularity.
    pub objects: Objects,
    /// Times between successive requests of all clients, in seconds.
    pub arrivals_s: Distribution,
    /// The sessions of the clients.
    pub sessions: Sessions,
    /// Methods of all requests, GET and HEAD or not, and statuses.
    pub mix: Mix,
    /// Time in which the server answered, in seconds. `None`: the log does not have it.
    #[serde(default)]
    pub latency_s: Option<Distribution>,
    /// How well each distribution fits the log.
    pub goodness: Vec<Marginal>,
}

/// The log of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Source {
    /// Number of lines.
    pub lines: u64,
    /// Number of lines that are no request.
    pub refused_lines: u64,
    /// Why they are no request, the most frequent reason first; at most 100 reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_by: Vec<Refused>,
    /// Number of requests with GET or HEAD.
    pub requests: u64,
    /// Number of requests with other methods.
    pub other_requests: u64,
    /// Number of clients of requests with GET or HEAD.
    pub clients: u64,
    /// Time from the first to the last request, in seconds.
    pub span_s: f64,
    /// The step of the times in the log, in seconds. Within a step, requests are spread evenly at
    /// random: the log does not say more.
    pub resolution_s: f64,
    /// Seed of the spreading, and of the simulations behind the p-values.
    pub seed: u64,
}

/// The lines of a log that are left out for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Refused {
    /// The fault of each line.
    pub reason: String,
    /// Number of lines.
    pub lines: u64,
}

/// Facts about the objects in the order of popularity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Objects {
    /// Their paths. Empty: the model does not name them, and the object of rank r, from 1, has the
    /// path `/r`.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The most frequent status of each object.
    pub statuses: Vec<u16>,
}

/// The sessions of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sessions {
    /// The pause of a client that ends a session, in seconds.
    pub pause_s: f64,
    /// Number of sessions.
    pub count: u64,
    /// Number of requests of a session.
    pub requests: SessionLength,
    /// Times between the requests of a session, in seconds. `None`: no session has two requests.
    #[serde(default)]
    pub think_s: Option<Distribution>,
}

/// Methods and statuses as counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Mix {
    /// Pairs of a method and its number of requests, descending.
    pub methods: Vec<(String, u64)>,
    /// Pairs of a status and its number of requests with GET or HEAD, descending.
    pub statuses: Vec<(u16, u64)>,
}

impl Mix {
    /// The share of the requests with GET and HEAD that have such a status, from 0 to 1.
    pub fn share(&self, is_counted: impl Fn(u16) -> bool) -> f64 {
        let all: u64 = self.statuses.iter().map(|(_, count)| count).sum();
        let counted = self
            .statuses
            .iter()
            .filter(|(status, _)| is_counted(*status))
            .map(|(_, count)| count)
            .sum::<u64>();
        counted as f64 / all.max(1) as f64
    }
}

/// The fit of one distribution of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Marginal {
    /// `popularity`, `locality`, `sizes`, `arrivals`, `session requests`, `think times` or
    /// `latency`.
    pub name: String,
    /// Number of values in the log.
    pub values: u64,
    /// The chosen distribution.
    pub chosen: Compared,
    /// The families that were compared. The values of the log are kept if none of them passes.
    pub candidates: Vec<Compared>,
}

impl Model {
    /// Reads and checks a document. The error names the place and the fault.
    pub fn read(text: &str) -> Result<Model, String> {
        let model: Model = serde_json::from_str(text).map_err(|e| e.to_string())?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("schema: it must be {SCHEMA:?}, not {:?}", self.schema));
        }
        if self.source.requests == 0 {
            return Err("source.requests: it must be above 0".to_owned());
        }
        self.popularity.check()?;
        let at = |place: &'static str| move |e: String| format!("{place}.{e}");
        self.locality.check().map_err(at("locality"))?;
        let objects = self.popularity.objects();
        self.sizes.check(objects)?;
        let paths = self.objects.paths.len();
        if self.objects.statuses.len() != objects || (paths > 0 && paths != objects) {
            return Err(format!(
                "objects: there must be {objects} paths and statuses, one for each object"
            ));
        }
        self.arrivals_s.check().map_err(at("arrivals_s"))?;
        self.sessions.requests.check()?;
        for (place, distribution) in
            [("sessions.think_s", &self.sessions.think_s), ("latency_s", &self.latency_s)]
        {
            distribution.as_ref().map_or(Ok(()), Distribution::check).map_err(at(place))?;
        }
        Ok(())
    }

    /// The path of the object with this index in the order of popularity.
    pub fn path(&self, object: usize) -> String {
        let named = self.objects.paths.get(object).cloned();
        named.unwrap_or_else(|| format!("/{}", object + 1))
    }

    /// The share of HEAD among the requests with GET and HEAD.
    pub fn head_share(&self) -> f64 {
        let count = |name: &str| {
            let found = self.mix.methods.iter().find(|(method, _)| method == name);
            found.map_or(0, |(_, count)| *count) as f64
        };
        let both = count("GET") + count("HEAD");
        if both > 0.0 { count("HEAD") / both } else { 0.0 }
    }

    /// Requests per second in the log.
    pub fn rate(&self) -> f64 {
        1.0 / self.arrivals_s.mean()
    }
}
