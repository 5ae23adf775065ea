//! The tunnels that may carry a packet.

/// The tunnel that carried a packet when the packet was captured. If several tunnels are nested,
/// this is the innermost one.
///
/// A single VLAN tag is not a tunnel, because the packet under it belongs to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tunnel {
    /// Ethernet in UDP, RFC 7348.
    Vxlan,
    /// Ethernet or IP in UDP with options, RFC 8926.
    Geneve,
    /// IP or Ethernet in GRE, RFC 2784 and 2890.
    Gre,
    /// Ethernet in GRE with a key, RFC 7637.
    Nvgre,
    /// A switch's copy of a frame in GRE, without an ERSPAN header.
    Erspan1,
    /// A switch's copy of a frame in GRE, with an ERSPAN header of 8 bytes (draft-foschiano-erspan
    /// §4.2).
    Erspan2,
    /// A switch's copy of a frame in GRE, with an ERSPAN header of 12 bytes or more
    /// (draft-foschiano-erspan §4.3).
    Erspan3,
    /// IPv4 or IPv6 in IP, RFC 2003, 2473 and 4213.
    IpInIp,
    /// Ethernet under MPLS labels: a pseudowire, RFC 4448.
    Pseudowire,
    /// IP under MPLS labels, RFC 3032.
    Mpls,
    /// IP in a session of PPP over Ethernet, RFC 2516.
    Pppoe,
    /// Two VLAN tags, IEEE 802.1ad.
    QinQ,
    /// IP in UDP between the nodes of a mobile network (3GPP TS 29.281).
    Gtp,
}

impl Tunnel {
    /// All tunnels, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Vxlan,
        Self::Geneve,
        Self::Gre,
        Self::Nvgre,
        Self::Erspan1,
        Self::Erspan2,
        Self::Erspan3,
        Self::IpInIp,
        Self::Pseudowire,
        Self::Mpls,
        Self::Pppoe,
        Self::QinQ,
        Self::Gtp,
    ];

    /// The name of the tunnel in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vxlan => "VXLAN",
            Self::Geneve => "GENEVE",
            Self::Gre => "GRE",
            Self::Nvgre => "NVGRE",
            Self::Erspan1 => "ERSPAN I",
            Self::Erspan2 => "ERSPAN II",
            Self::Erspan3 => "ERSPAN III",
            Self::IpInIp => "IP in IP",
            Self::Pseudowire => "Ethernet over MPLS",
            Self::Mpls => "MPLS",
            Self::Pppoe => "PPPoE",
            Self::QinQ => "QinQ",
            Self::Gtp => "GTP-U",
        }
    }

    /// Whether the packets are copies that a switch has made. A mark on the outer packet then tells
    /// nothing about the path of the inner packet.
    pub fn is_mirror(self) -> bool {
        matches!(self, Self::Erspan1 | Self::Erspan2 | Self::Erspan3)
    }
}
