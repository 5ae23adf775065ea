//! The whole path was out: all flows fell silent at once, and went on with what they had sent.

use super::{Answer, Seen};

pub const NAME: &str = "outage";

/// So many ACKs are not lost by accident; an outage may have had them.
const IN_VAIN: u64 = 3;

pub fn judge(seen: &Seen) -> Answer {
    let silences = seen.point.silences.all();
    let certain = silences.iter().find(|one| one.is_outage() == Some(true));
    let Some(silence) = certain.or(silences.iter().find(|one| one.is_outage().is_none())) else {
        let in_vain = seen.receiver.tallies.in_vain;
        if in_vain >= IN_VAIN {
            let why =
                format!("{in_vain} timers sent again what had been acknowledged, at times apart");
            return Answer::new(None, "the path of all flows", why);
        }
        return Answer::new(Some(false), "", "never did all flows fall silent and repeat");
    };
    let why = format!(
        "for {:.1} ms nothing arrived, then {} flow{} sent again what had been sent before",
        (silence.end - silence.start) as f64 / 1e6,
        silence.repeated(),
        if silence.repeated() == 1 { "" } else { "s" }
    );
    let why = if certain.is_some() {
        format!("{why}, although it had been acknowledged")
    } else {
        format!("{why}; so do the timers of incast")
    };
    Answer::new(certain.map(|_| true), "the path of all flows", why)
}
