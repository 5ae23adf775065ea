//! Counts of the frames of a file: TCP packets, and the reasons why other frames are not read.

use super::{Kind, Tunnel};

/// Number of kinds that are counted separately. Further kinds are counted together.
const MOST_KINDS: usize = 32;
/// Maximum number of kinds that a sentence names.
const NAMED: usize = 6;

/// Counts of a file's frames by the result of their decoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All frames.
    pub frames: u64,
    /// TCP packets.
    pub packets: u64,
    /// Frames without IP, or of a link type that is not read.
    pub not_ip: u64,
    /// Frames with IP and without TCP.
    pub not_tcp: u64,
    /// Frames that are cut before the end of the TCP header.
    pub short: u64,
    /// Frames with later fragments.
    pub fragments: u64,
    /// Frames whose lengths contradict each other.
    pub malformed: u64,
    /// Packets that the capture reports as dropped.
    pub dropped: u64,
    tunnels: [u64; Tunnel::ALL.len()],
    kinds: Vec<(Kind, u64)>,
    others: u64,
}

impl Tally {
    /// Counts a tunnel that carried a TCP packet.
    pub(super) fn carried_by(&mut self, tunnel: Tunnel) {
        self.tunnels[tunnel as usize] += 1;
    }

    /// Counts a frame without TCP.
    pub(super) fn other(&mut self, kind: Kind) {
        if kind.is_ip() {
            self.not_tcp += 1;
        } else {
            self.not_ip += 1;
        }
        if let Some((_, count)) = self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            *count += 1;
        } else if self.kinds.len() < MOST_KINDS {
            self.kinds.push((kind, 1));
        } else {
            self.others += 1;
        }
    }

    /// Number of TCP packets inside a kind of tunnel.
    pub fn inside(&self, tunnel: Tunnel) -> u64 {
        self.tunnels[tunnel as usize]
    }

    /// Number of frames without TCP of each kind, the most frequent kind first; only the first 32
    /// kinds of the file are listed.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut kinds = self.kinds.clone();
        kinds.sort_by_key(|&(kind, count)| (std::cmp::Reverse(count), kind));
        kinds
    }

    /// Number of frames without TCP of all other kinds.
    pub fn other_kinds(&self) -> u64 {
        self.others
    }

    /// Notes about the frames for the reader, as sentences without a full stop.
    pub fn notes(&self) -> Vec<String> {
        let inside = Tunnel::ALL.iter().filter(|&&tunnel| self.inside(tunnel) > 0);
        let mut notes: Vec<String> = inside
            .map(|&tunnel| {
                let count = self.inside(tunnel);
                let verb = if count == 1 { "packet is" } else { "packets are" };
                format!("{count} TCP {verb} inside {}", tunnel.name())
            })
            .collect();
        notes.extend(self.without_tcp());
        for (count, one, many) in [
            (
                self.short,
                "frame is cut before the end of its TCP header",
                "frames are cut before the end of their TCP header",
            ),
            (self.fragments, "IP fragment has no TCP header", "IP fragments have no TCP header"),
            (
                self.malformed,
                "packet has lengths that contradict each other",
                "packets have lengths that contradict each other",
            ),
            (
                self.dropped,
                "packet was dropped by the capture, according to the file",
                "packets were dropped by the capture, according to the file",
            ),
        ] {
            if count > 0 {
                notes.push(format!("{count} {}", if count == 1 { one } else { many }));
            }
        }
        notes
    }

    /// The kinds of the frames without TCP: "30 frames are ARP, 12 UDP".
    fn without_tcp(&self) -> Option<String> {
        let kinds = self.kinds();
        let (&(first, count), more) = kinds.split_first()?;
        let verb = if count == 1 { "frame is" } else { "frames are" };
        let (named, rest) = more.split_at(more.len().min(NAMED - 1));
        let mut parts = vec![format!("{count} {verb} {first}")];
        parts.extend(named.iter().map(|(kind, count)| format!("{count} {kind}")));
        let rest = self.others + rest.iter().map(|(_, count)| count).sum::<u64>();
        if rest > 0 {
            parts.push(format!("{rest} of other kinds"));
        }
        Some(parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_say_what_there_is_instead_of_tcp() {
        let mut tally = Tally::default();
        assert!(tally.notes().is_empty());
        for _ in 0..2 {
            tally.carried_by(Tunnel::Erspan2);
            tally.other(Kind::Ethertype(0x0806));
        }
        tally.carried_by(Tunnel::Vxlan);
        tally.other(Kind::Protocol(17));
        tally.short = 1;
        tally.dropped = 3;
        let told = [
            "1 TCP packet is inside VXLAN",
            "2 TCP packets are inside ERSPAN II",
            "2 frames are ARP, 1 UDP",
            "1 frame is cut before the end of its TCP header",
            "3 packets were dropped by the capture, according to the file",
        ];
        assert_eq!(tally.notes(), told);
        assert_eq!((tally.not_ip, tally.not_tcp), (2, 1));
    }

    #[test]
    fn kinds_are_bounded_and_a_sentence_names_the_most_frequent() {
        let mut tally = Tally::default();
        for kind in 0..40 {
            tally.other(Kind::Gre(kind));
            for _ in 0..kind {
                tally.other(Kind::Gre(kind));
            }
        }
        assert_eq!((tally.kinds().len(), tally.other_kinds()), (32, (33..=40).sum()));
        assert_eq!(tally.kinds()[0], (Kind::Gre(31), 32));
        let told = "32 frames are GRE carrying 0x001f, 31 GRE carrying 0x001e, \
                    30 GRE carrying 0x001d, 29 GRE carrying 0x001c, 28 GRE carrying 0x001b, \
                    27 GRE carrying 0x001a, 643 of other kinds";
        assert_eq!(tally.notes(), [told]);
    }

    #[test]
    fn kinds_have_names() {
        for (kind, name) in [
            (Kind::Link(105), "link type 105 (IEEE 802.11)"),
            (Kind::Link(147), "link type 147"),
            (Kind::Ethertype(0x88cc), "LLDP"),
            (Kind::Ethertype(0x0026), "LLC (IEEE 802.2)"),
            (Kind::Ethertype(0x1234), "ethertype 0x1234"),
            (Kind::Protocol(50), "ESP (encrypted)"),
            (Kind::Protocol(58), "IPv6 ICMP"),
            (Kind::Protocol(253), "IP protocol 253"),
            (Kind::Gre(0x883e), "GRE carrying 0x883e"),
            (Kind::Ppp(0xc021), "PPP protocol 0xc021"),
        ] {
            assert_eq!(kind.to_string(), name);
        }
        for (number, tunnel) in Tunnel::ALL.into_iter().enumerate() {
            assert_eq!(tunnel as usize, number);
        }
    }
}
