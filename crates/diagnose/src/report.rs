//! The report: what `incast diagnose --format json` prints.

use serde::Serialize;

use crate::look_alikes::LookAlike;
use crate::severity::Severity;
use crate::stall::{Ended, Place, Stall};
use crate::time::Time;
use crate::vantage::Vantage;

/// All results of a diagnosis.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether there is incast; `None` if the capture cannot tell.
    pub incast: Option<bool>,
    /// The reason for the verdict, in one sentence.
    pub why: String,
    /// Where the capture was taken.
    pub vantage: Option<Vantage>,
    /// Confidence in the vantage, from 0 to 1. It is 1 if the user gave the vantage.
    pub vantage_confidence: f64,
    /// The cost of incast; `None` if no flows began together.
    pub severity: Option<Severity>,
    /// The defects of the file, such as missing packets or packets that occur twice.
    pub incomplete: Vec<&'static str>,
    /// The tunnels that carried packets.
    pub tunnels: Vec<TunnelTold>,
    /// The episodes, in order of time.
    pub episodes: Vec<EpisodeTold>,
    /// The stalls, in order of time.
    pub stalls: Vec<StallTold>,
    /// One answer for each look-alike.
    pub look_alikes: Vec<LookAlike>,
    /// The questions that cannot be answered from this vantage point.
    pub cannot_tell: Vec<CannotTell>,
    /// The parameters that a scenario needs.
    pub parameters: ParametersTold,
    /// The files, in the order in which they were given.
    pub files: Vec<FileTold>,
    /// Time of the first packet, in seconds since 1970. Other times count from this packet.
    pub began_s: f64,
    /// Time from the first packet to the last, in seconds.
    pub length_s: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections at the leading point.
    pub connections: u64,
    /// Number of stalls and episodes that are not listed.
    pub unlisted: u64,
}

/// An episode.
#[derive(Clone, Debug, Serialize)]
pub struct EpisodeTold {
    /// Time at which the first flow of the episode began.
    pub start_s: f64,
    /// Time at which the last byte of the episode was seen.
    pub end_s: f64,
    /// The host that requested the data.
    pub receiver: String,
    /// Number of flows of the episode.
    pub fan_in: usize,
    /// Bytes of these flows.
    pub bytes: i64,
    /// Time in which at least one flow waited and the link was idle.
    pub lost_s: f64,
    /// The flows that waited.
    pub stalled: Vec<String>,
}

/// A stall.
#[derive(Clone, Debug, Serialize)]
pub struct StallTold {
    /// Sender and receiver of the data.
    pub flow: String,
    /// Time at which the wait began.
    pub start_s: f64,
    /// Length of the wait.
    pub duration_s: f64,
    /// The cause, if it can be known.
    pub cause: Option<&'static str>,
    /// Confidence in the cause, 0 to 1.
    pub confidence: f64,
    /// `timeout` or `probe`.
    pub ended_by: &'static str,
    /// The share of the wait in which the receiver's link was idle.
    pub idle: f64,
    /// Numbers of frames in the file with number `file`.
    pub frames: Vec<u64>,
    /// The number of the frames' file.
    pub file: u16,
    /// A filter for Wireshark that shows these frames.
    pub filter: String,
}

/// A question that cannot be answered from this vantage point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CannotTell {
    /// The question.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// The parameters that the models need.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ParametersTold {
    /// The shortest round trip.
    pub rtt_s: Option<f64>,
    /// The rate of a full link.
    pub rate_bps: Option<f64>,
    /// The largest number of bytes in a queue, derived from the longest wait in a queue.
    pub buffer_bytes: Option<f64>,
    /// The largest segment.
    pub mss: u32,
    /// The largest window that was offered.
    pub receive_window: i64,
    /// The shortest wait for a timer.
    pub rto_min_s: Option<f64>,
    /// Number of flows of the largest burst.
    pub servers: usize,
    /// The median size of an answer in this burst.
    pub sru: i64,
    /// Number of bursts with that many flows.
    pub blocks: u64,
    /// Whether connections carry several answers.
    pub persistent: bool,
    /// Whether the connections use selective acknowledgments.
    pub sack: bool,
    /// Whether timestamps are used.
    pub timestamps: bool,
    /// Whether a tail-loss probe was seen.
    pub probes: bool,
}

/// A tunnel, and the number of TCP packets inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TunnelTold {
    /// The name of the tunnel.
    pub kind: &'static str,
    /// TCP packets.
    pub packets: u64,
}

/// A file.
#[derive(Clone, Debug, Serialize)]
pub struct FileTold {
    /// The path of the file.
    pub path: String,
    /// All frames.
    pub frames: u64,
    pub packets: u64,
    /// Notes about problems of the file.
    pub notes: Vec<String>,
}

impl StallTold {
    /// A stall, with times from `began`.
    pub fn new(stall: &Stall, began: Time) -> Self {
        let file = stall.frames.last().map_or(0, |place| place.file);
        let same =
            stall.frames.iter().filter(|place: &&Place| place.file == file && place.frame > 0);
        let mut frames: Vec<u64> = same.map(|place| place.frame).collect();
        frames.sort_unstable();
        frames.dedup();
        let listed: Vec<String> = frames.iter().map(u64::to_string).collect();
        Self {
            flow: format!("{} > {}", stall.sender, stall.receiver),
            start_s: (stall.start - began).as_secs_f64(),
            duration_s: stall.length().as_secs_f64(),
            cause: stall.cause.ok().map(crate::stall::Cause::name),
            confidence: stall.confidence,
            ended_by: match stall.ended {
                Ended::Timeout => "timeout",
                Ended::Probe => "probe",
            },
            idle: stall.idle,
            frames,
            file,
            filter: format!("frame.number in {{{}}}", listed.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stall::Cause;
    use crate::stall::tests::stall;
    use crate::time::tests::at;

    #[test]
    fn a_stall_is_told_with_the_frames_of_one_file() {
        let place = |file, frame| Place { file, frame };
        let frames =
            vec![place(0, 3), place(1, 9), place(1, 0), place(1, 4), place(1, 9), place(1, 7)];
        let one = Stall { frames, ..stall(1_000_000_000, 3_500_000_000, Cause::Tail) };
        let told = StallTold::new(&one, at(500_000_000));
        assert_eq!((told.frames, told.file), (vec![4, 7, 9], 1));
        assert_eq!(told.filter, "frame.number in {4, 7, 9}");
        assert_eq!((told.start_s, told.duration_s, told.cause), (0.5, 2.5, Some("tail")));
        assert_eq!((told.ended_by, told.confidence, told.idle), ("timeout", 1.0, 1.0));
        let probe = Stall { ended: Ended::Probe, cause: Err("unknown"), frames: vec![], ..one };
        let told = StallTold::new(&probe, at(0));
        assert_eq!((told.ended_by, told.cause, told.file), ("probe", None, 0));
    }
}
