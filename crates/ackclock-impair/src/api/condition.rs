//! A condition as JSON has it.

use ackclock_net::scenario::units::{Duration, Probability, Rate};
use ackclock_tcp::Registry;
use serde::{Deserialize, Serialize};

use super::Problem;
use crate::{Conditions, Error, Late, Simple, Way};

/// What a condition of a proxy says: settings of a link as the options of the command have them, or
/// a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<Way>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jitter: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loss: Option<Probability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) burst: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reorder: Option<Late>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue: Option<u32>,
    /// The share of connections for which it holds; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) toxicity: Option<Probability>,
    /// How long after its beginning a connection is reset; never if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reset_after: Option<Duration>,
    /// The text of a scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scenario: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// Of the random numbers; left out, the proxy has one for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// Of a scenario that the command has read: what it is called in errors, and where its traces
    /// are. One that comes by the API has no traces.
    #[serde(skip)]
    pub(crate) file: Option<String>,
}

impl Condition {
    /// The links that it stands for, with random numbers of this seed, or else of the scenario's or
    /// of 1.
    pub(crate) fn links(
        &self,
        seed: Option<u64>,
        registry: &Registry,
    ) -> Result<Conditions, Error> {
        let simple = Simple {
            direction: self.direction.unwrap_or_default(),
            rate: self.rate,
            delay: self.delay.unwrap_or_default(),
            jitter: self.jitter,
            loss: self.loss,
            burst: self.burst,
            reorder: self.reorder,
            queue: self.queue,
        };
        let (client, server) = (self.client.as_deref(), self.server.as_deref());
        let links = match &self.scenario {
            None if client.is_some() || server.is_some() => Err(Error::Usage(
                "client and server name nodes of a scenario, which is not there".into(),
            )),
            None => Conditions::simple(&simple, seed.unwrap_or(1)),
            Some(_) if self.delay.is_some() || simple != Simple::default() => Err(Error::Usage(
                "scenario stands by itself: its text has directions, rates, delays and \
                     losses"
                    .into(),
            )),
            Some(text) => match self.file.as_deref() {
                Some(file) => Conditions::from_toml(text, file, seed, client, server, registry),
                None => Conditions::without_files(text, seed, client, server, registry),
            },
        };
        Ok(links?.holding(self.toxicity, self.reset_after))
    }

    /// The links of a condition that was changed; `before` has those that it had. A scenario that
    /// the command has read stays as it was read: no file is opened again, which may be another one
    /// by now, or gone.
    pub(crate) fn links_after(
        &self,
        before: &Conditions,
        registry: &Registry,
    ) -> Result<Conditions, Error> {
        let Condition { name, toxicity, reset_after, scenario, client, server, seed, file, .. } =
            self.clone();
        let stands = Condition {
            name,
            toxicity,
            reset_after,
            scenario,
            client,
            server,
            seed,
            file,
            ..Default::default()
        };
        if self.file.is_some() && stands == *self {
            let links = before.between(self.client.as_deref(), self.server.as_deref())?;
            return Ok(links.holding(toxicity, reset_after));
        }
        self.links(None, registry)
    }

    /// With these keys instead; those that are null are left out (RFC 7396).
    pub(crate) fn patched(&self, body: &[u8]) -> Result<Condition, Problem> {
        let changes = super::read::<serde_json::Map<String, serde_json::Value>>(body)?;
        let mut keys = serde_json::to_value(self).unwrap_or_default();
        for (key, value) in changes {
            keys[key] = value;
        }
        let patched: Condition = super::read(keys.to_string().as_bytes())?;
        // Another scenario does not come from there.
        let file = self.file.clone().filter(|_| patched.scenario == self.scenario);
        Ok(Condition { file, ..patched })
    }
}
