//! The kinds of frames without a readable TCP packet.

use std::fmt;

/// The content of a frame that carries no TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A link type that is not read (<https://www.tcpdump.org/linktypes.html>).
    Link(u32),
    /// An address family of a loopback link that is not IP.
    Family(u32),
    /// An ethertype that is not read; a value up to 1500 is a length (IEEE 802.3 §3.2.6).
    Ethertype(u16),
    /// A protocol of PPP that is not read.
    Ppp(u16),
    /// A protocol in GRE that is not read.
    Gre(u16),
    /// An associated channel of an MPLS pseudowire (RFC 4385 §5).
    Channel,
    /// An IP packet of this unknown version.
    Version(u8),
    /// A protocol of IP other than TCP.
    Protocol(u8),
    /// The frame has more nested tunnels than the reader decodes.
    Deep,
}

impl Kind {
    /// Whether the content is IP.
    pub fn is_ip(self) -> bool {
        matches!(self, Self::Protocol(_) | Self::Deep)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Link(number) => match link(number) {
                Some(name) => write!(f, "link type {number} ({name})"),
                None => write!(f, "link type {number}"),
            },
            Self::Family(number) => write!(f, "address family {number}"),
            Self::Ethertype(number) => match ethertype(number) {
                Some(name) => f.write_str(name),
                None => write!(f, "ethertype {number:#06x}"),
            },
            Self::Ppp(number) => write!(f, "PPP protocol {number:#06x}"),
            Self::Gre(number) => write!(f, "GRE carrying {number:#06x}"),
            Self::Channel => f.write_str("MPLS channel"),
            Self::Version(number) => write!(f, "IP version {number}"),
            Self::Protocol(number) => match protocol(number) {
                Some(name) => f.write_str(name),
                None => write!(f, "IP protocol {number}"),
            },
            Self::Deep => f.write_str("nested in more than 4 tunnels"),
        }
    }
}

fn link(number: u32) -> Option<&'static str> {
    Some(match number {
        105 => "IEEE 802.11",
        119 => "IEEE 802.11 with a Prism header",
        127 => "IEEE 802.11 with radiotap",
        163 => "IEEE 802.11 with an AVS header",
        187 | 201 => "Bluetooth",
        189 | 220 | 249 => "USB",
        192 => "PPI",
        195 | 230 => "IEEE 802.15.4",
        227 => "CAN",
        239 => "Linux nflog",
        247 => "InfiniBand",
        253 => "Linux netlink",
        _ => return None,
    })
}

fn ethertype(number: u16) -> Option<&'static str> {
    Some(match number {
        0..=1500 => "LLC (IEEE 802.2)",
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x8808 => "Ethernet flow control",
        0x8809 => "LACP",
        0x8863 => "PPPoE discovery",
        0x888e => "EAPOL",
        0x88cc => "LLDP",
        0x88e5 => "MACsec (encrypted)",
        0x88f7 => "PTP",
        0x8906 => "FCoE",
        0x8915 => "RoCE",
        _ => return None,
    })
}

fn protocol(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "ICMP",
        2 => "IGMP",
        17 => "UDP",
        50 => "ESP (encrypted)",
        58 => "IPv6 ICMP",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        112 => "VRRP",
        132 => "SCTP",
        136 => "UDP-Lite",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_number_has_its_name() {
        for (numbers, name) in [
            (&[105][..], "IEEE 802.11"),
            (&[119], "IEEE 802.11 with a Prism header"),
            (&[127], "IEEE 802.11 with radiotap"),
            (&[163], "IEEE 802.11 with an AVS header"),
            (&[187, 201], "Bluetooth"),
            (&[189, 220, 249], "USB"),
            (&[192], "PPI"),
            (&[195, 230], "IEEE 802.15.4"),
            (&[227], "CAN"),
            (&[239], "Linux nflog"),
            (&[247], "InfiniBand"),
            (&[253], "Linux netlink"),
        ] {
            for &number in numbers {
                let told = Kind::Link(number).to_string();
                assert_eq!(told, format!("link type {number} ({name})"));
            }
        }
        for (number, name) in [
            (0, "LLC (IEEE 802.2)"),
            (1500, "LLC (IEEE 802.2)"),
            (1501, "ethertype 0x05dd"),
            (0x0806, "ARP"),
            (0x8035, "RARP"),
            (0x8808, "Ethernet flow control"),
            (0x8809, "LACP"),
            (0x8863, "PPPoE discovery"),
            (0x888e, "EAPOL"),
            (0x88cc, "LLDP"),
            (0x88e5, "MACsec (encrypted)"),
            (0x88f7, "PTP"),
            (0x8906, "FCoE"),
            (0x8915, "RoCE"),
            (0x8916, "ethertype 0x8916"),
        ] {
            assert_eq!(Kind::Ethertype(number).to_string(), name);
        }
        for (number, name) in [
            (1, "ICMP"),
            (2, "IGMP"),
            (3, "IP protocol 3"),
            (17, "UDP"),
            (50, "ESP (encrypted)"),
            (58, "IPv6 ICMP"),
            (88, "EIGRP"),
            (89, "OSPF"),
            (103, "PIM"),
            (112, "VRRP"),
            (132, "SCTP"),
            (136, "UDP-Lite"),
        ] {
            assert_eq!(Kind::Protocol(number).to_string(), name);
        }
        assert_eq!(Kind::Version(9).to_string(), "IP version 9");
        assert_eq!(Kind::Channel.to_string(), "MPLS channel");
        assert_eq!(Kind::Deep.to_string(), "nested in more than 4 tunnels");
    }

    #[test]
    fn protocols_of_ip_and_deep_tunnels_are_ip() {
        assert!(Kind::Protocol(17).is_ip() && Kind::Deep.is_ip());
        for kind in [Kind::Link(1), Kind::Ethertype(0x0800), Kind::Version(5), Kind::Gre(0x0800)] {
            assert!(!kind.is_ip(), "{kind}");
        }
    }
}
