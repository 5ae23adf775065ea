//! Packets in the notation of scripts.

use std::fmt;

use incast_net::{Ecn, Flags, Packet, SackBlocks};
use incast_tcp::Config;

/// The fields that a script gives. In an arriving packet, fields that are not given have defaults.
/// In an expected packet, fields that are not given match any value. Flags, payload and label are
/// always compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    data: Option<(u64, u64)>,
    request: Option<u64>,
    size: Option<u16>,
    seq: Option<u64>,
    ack: Option<u64>,
    window: Option<u32>,
    timestamps: Option<(u32, u32)>,
    header: Option<u8>,
    label: u16,
    epoch: Option<u8>,
    sack: Option<Ranges>,
    syn: bool,
    fin: bool,
    retransmission: bool,
    ece: bool,
    cwr: bool,
    ecn: Ecn,
}

/// Ranges of a SACK option, in the order of the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ranges([Option<(u64, u64)>; 3]);

impl Ranges {
    /// Parses ranges such as `3001:4001,1001:2001`, or `none`.
    fn parse(value: &str) -> Result<Self, String> {
        let mut ranges = Self::default();
        if value == "none" {
            return Ok(ranges);
        }
        let mut places = ranges.0.iter_mut();
        for range in value.split(',') {
            let place = places.next().ok_or("a SACK option has room for three ranges")?;
            *place = Some(pair(range)?);
        }
        Ok(ranges)
    }

    fn of(packet: &Packet) -> Self {
        let mut found = packet.sack.ranges(packet.ack);
        Self(std::array::from_fn(|_| found.next()))
    }

    fn blocks(self, ack: u64) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        self.0.iter().flatten().for_each(|(start, end)| blocks.push(ack, *start, *end));
        blocks
    }
}

/// The values of the last packet in a script, which are the defaults of the next packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    pub ack: u64,
    pub window: u32,
    pub epoch: u8,
}

impl Pattern {
    /// Parses a sequence of fields.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut pattern = Self::default();
        let mut words = words.into_iter().peekable();
        if words.peek().is_none() {
            return Err("a packet is expected".into());
        }
        while let Some(field) = words.next() {
            match field {
                "syn" => pattern.syn = true,
                "fin" => pattern.fin = true,
                "rtx" => pattern.retransmission = true,
                "ece" => pattern.ece = true,
                "cwr" => pattern.cwr = true,
                "ect" => pattern.ecn = Ecn::Capable,
                "ce" => pattern.ecn = Ecn::CongestionExperienced,
                _ => {
                    let value = words.next().ok_or_else(|| format!("{field:?} has no value"))?;
                    pattern.set(field, value)?;
                }
            }
        }
        Ok(pattern)
    }

    fn set(&mut self, field: &str, value: &str) -> Result<(), String> {
        match field {
            "data" => {
                let (start, end) = pair(value)?;
                if end < start {
                    return Err(format!("{value:?} ends before it starts"));
                }
                self.data = Some((start, end));
            }
            "request" => self.request = Some(number(value)?),
            "size" => self.size = Some(number(value)?),
            "seq" => self.seq = Some(number(value)?),
            "ack" => self.ack = Some(number(value)?),
            "win" => self.window = Some(number(value)?),
            "ts" => self.timestamps = Some(pair(value)?),
            "sack" => self.sack = Some(Ranges::parse(value)?),
            "header" => self.header = Some(number(value)?),
            "label" => self.label = number(value)?,
            "epoch" => self.epoch = Some(number(value)?),
            _ => return Err(format!("{field:?} is not a field of a packet")),
        }
        Ok(())
    }

    /// Divides the pattern into segments of `len` bytes. The last segment has the FIN.
    pub fn cut(self, len: u64) -> Result<Vec<Self>, String> {
        let Some((start, end)) = self.data.filter(|(start, end)| start < end) else {
            return Err("only data can be cut".into());
        };
        if len == 0 {
            return Err("a segment has at least one byte".into());
        }
        let piece = |seq: u64| {
            let next = (seq + len).min(end);
            Self { data: Some((seq, next)), fin: self.fin && next == end, ..self }
        };
        Ok((start..end).step_by(len as usize).map(piece).collect())
    }

    fn flags(&self) -> Flags {
        let acks = !self.syn || self.ack.is_some();
        [
            (self.syn, Flags::SYN),
            (acks, Flags::ACK),
            (self.fin, Flags::FIN),
            (self.request.is_some(), Flags::REQUEST),
            (self.retransmission, Flags::RETRANSMISSION),
            (self.ece, Flags::ECE),
            (self.cwr, Flags::CWR),
        ]
        .into_iter()
        .filter(|(set, _)| *set)
        .fold(Flags::NONE, |flags, (_, flag)| flags.with(flag))
    }

    /// Builds the arriving packet, and updates the defaults.
    pub fn to_packet(self, config: &Config, defaults: &mut Defaults) -> Packet {
        defaults.ack = self.ack.unwrap_or(defaults.ack);
        defaults.window = self.window.unwrap_or(defaults.window);
        let (start, end) = self.data.unwrap_or_default();
        let header = if self.data.is_some() { config.header } else { config.ack_size };
        let header = self.header.unwrap_or(header);
        let extra = self.size.unwrap_or_default().saturating_sub(u16::from(header));
        let (ts_value, ts_echo) = self.timestamps.unwrap_or_default();
        Packet {
            seq: self.request.or(self.seq).unwrap_or(start),
            ack: if self.flags().contains(Flags::ACK) { defaults.ack } else { 0 },
            window: defaults.window,
            ts_value,
            ts_echo,
            payload: (end - start) as u16 + extra,
            header,
            flags: self.flags().with_ecn(self.ecn),
            label: self.label,
            epoch: self.epoch.unwrap_or(defaults.epoch),
            sack: self.sack.unwrap_or_default().blocks(defaults.ack),
            ..Packet::default()
        }
    }

    /// Whether a packet of the connection matches.
    pub fn matches(&self, packet: &Packet, defaults: &Defaults) -> bool {
        fn fits<T: Copy + PartialEq>(wanted: Option<T>, got: T) -> bool {
            wanted.is_none_or(|wanted| wanted == got)
        }
        let range = (packet.seq, packet.seq + u64::from(packet.payload));
        let size = packet.size() as u16;
        let payload = match (self.data, self.size) {
            (Some(data), _) => data == range,
            (None, Some(wanted)) => wanted == size,
            (None, None) => packet.payload == 0,
        };
        payload
            && self.flags() == packet.flags.control()
            && self.label == packet.label
            && self.ecn == packet.ecn()
            && self.epoch.unwrap_or(defaults.epoch) == packet.epoch
            && fits(self.request.or(self.seq), packet.seq)
            && fits(self.ack, packet.ack)
            && fits(self.window, packet.window)
            && fits(self.timestamps, (packet.ts_value, packet.ts_echo))
            && fits(self.header, packet.header)
            && fits(self.sack, Ranges::of(packet))
    }
}

/// Shows a packet in the notation of scripts.
pub(crate) struct Shown<'a>(pub &'a Packet);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packet = self.0;
        let has = |flag| packet.flags.contains(flag);
        if has(Flags::REQUEST) {
            write!(f, "request {} size {} ", packet.seq, packet.size())?;
        } else if packet.payload > 0 || has(Flags::FIN) {
            write!(f, "data {}:{} ", packet.seq, packet.seq + u64::from(packet.payload))?;
        }
        for (flag, word) in [
            (Flags::SYN, "syn "),
            (Flags::FIN, "fin "),
            (Flags::RETRANSMISSION, "rtx "),
            (Flags::ECE, "ece "),
            (Flags::CWR, "cwr "),
        ] {
            f.write_str(if has(flag) { word } else { "" })?;
        }
        f.write_str(match packet.ecn() {
            Ecn::NotCapable => "",
            Ecn::Capable => "ect ",
            Ecn::CongestionExperienced => "ce ",
        })?;
        if has(Flags::ACK) {
            write!(f, "ack {} ", packet.ack)?;
        }
        write!(f, "win {} header {}", packet.window, packet.header)?;
        if (packet.ts_value, packet.ts_echo) != (0, 0) {
            write!(f, " ts {}:{}", packet.ts_value, packet.ts_echo)?;
        }
        for (index, (start, end)) in packet.sack.ranges(packet.ack).enumerate() {
            write!(f, "{}{start}:{end}", if index == 0 { " sack " } else { "," })?;
        }
        if packet.label != 0 {
            write!(f, " label {}", packet.label)?;
        }
        if packet.epoch != 0 {
            write!(f, " epoch {}", packet.epoch)?;
        }
        Ok(())
    }
}

/// Parses an integer.
pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a number that fits here"))
}

fn pair<T: std::str::FromStr>(text: &str) -> Result<(T, T), String> {
    let (left, right) =
        text.split_once(':').ok_or_else(|| format!("{text:?} is not a pair like 1:1001"))?;
    Ok((number(left)?, number(right)?))
}
