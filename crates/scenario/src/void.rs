//! Keys without effect because of another key.
//!
//! A document with such a key is refused, unless the key has an effect at another point of the
//! sweep, or repeats the value that applies without it.

use serde_json::{Map, Value, json};

use super::{Scenario, ScenarioError, settled};

mod rules;

/// The keys that had no effect at any point so far.
#[derive(Default)]
pub(super) struct Void {
    suspects: Option<Vec<Suspect>>,
}

struct Suspect {
    key: String,
    message: String,
    /// Whether the key repeats the value that applies without it.
    harmless: bool,
}

/// A given key, the reason why it has no effect, and a change that would give it an effect.
struct Finding {
    key: String,
    because: String,
    write: String,
}

impl Void {
    /// Examines the next point: its `document` as given, the `swept` keys, and the resolved
    /// scenario.
    pub(super) fn look(
        &mut self,
        document: &Value,
        swept: &Map<String, Value>,
        scenario: &Scenario,
    ) {
        // A resolved document has every key, so keys without effect are not errors.
        let settled = self.suspects.as_ref().is_some_and(Vec::is_empty);
        if settled || *document == scenario.resolved() {
            self.suspects = Some(Vec::new());
            return;
        }
        let found = rules::find(document, scenario);
        let idle = |key: &str| says_what_holds(document, key);
        match &mut self.suspects {
            None => {
                let suspects = found.into_iter().map(|Finding { key, because, write }| Suspect {
                    message: format!("has no effect while {because}; leave it out, or {write}"),
                    harmless: idle(&key),
                    key,
                });
                self.suspects = Some(suspects.collect());
            }
            Some(suspects) => {
                suspects.retain(|suspect| found.iter().any(|finding| finding.key == suspect.key));
                for suspect in suspects.iter_mut().filter(|suspect| suspect.harmless) {
                    let varies = swept.keys().any(|key| suspect.key.starts_with(key.as_str()));
                    suspect.harmless = !varies || idle(&suspect.key);
                }
            }
        }
    }

    /// Refuses a key that has no effect at any point.
    pub(super) fn refuse(self) -> Result<(), ScenarioError> {
        let mut suspects = self.suspects.into_iter().flatten();
        match suspects.find(|suspect| !suspect.harmless) {
            Some(Suspect { key, message, .. }) => Err(ScenarioError::new(key, message)),
            None => Ok(()),
        }
    }
}

/// Whether `document` has the same meaning without `key`.
fn says_what_holds(document: &Value, key: &str) -> bool {
    let mut without = document.clone();
    let pointer = pointer(key);
    let (table, last) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(table)) = without.pointer_mut(table) {
        table.shift_remove(last);
    }
    let written = |document| settled(document).ok().map(|document| json!(document));
    written(document) == written(&without)
}

/// The JSON pointer to a dotted key.
fn pointer(key: &str) -> String {
    key.split('.').flat_map(|part| ["/", part]).collect()
}
