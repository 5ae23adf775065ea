//! Carriers of packets, built by hand.

/// An IPv4 packet between hosts that differ from those of the segments.
pub fn v4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 9, 0, 0, 64, protocol, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2]);
    bytes.extend(payload);
    bytes
}

/// An IPv6 packet.
pub fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend([0xfe; 32]);
    bytes.extend(payload);
    bytes
}

/// An Ethernet frame, whose MAC addresses belong to no vendor.
pub fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0x11, 0, 0, 0, 1, 2, 0x11, 0, 0, 0, 2], &kind.to_be_bytes()[..], payload].concat()
}

/// A UDP datagram.
pub fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xc0, 1];
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

/// A GRE packet: flags, protocol, and the fields that the flags announce.
pub fn gre(flags: u16, protocol: u16, fields: &[u8], payload: &[u8]) -> Vec<u8> {
    [&flags.to_be_bytes()[..], &protocol.to_be_bytes(), fields, payload].concat()
}

/// VXLAN with network number 77.
pub fn vxlan(frame: &[u8]) -> Vec<u8> {
    udp(4789, &[&[8, 0, 0, 0, 0, 0, 77, 0], frame].concat())
}

/// GENEVE with options of this number of four-byte words.
pub fn geneve(words: u8, protocol: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![words, 0];
    bytes.extend(protocol.to_be_bytes());
    bytes.extend([0, 0, 77, 0]);
    bytes.resize(bytes.len() + 4 * usize::from(words), 0x45);
    bytes.extend(payload);
    udp(6081, &bytes)
}

/// ERSPAN II of session 5.
pub fn erspan2(frame: &[u8]) -> Vec<u8> {
    let header = [0x10, 0, 0, 5, 0, 0, 0, 3];
    gre(0x1000, 0x88be, &[0, 0, 0, 9], &[&header, frame].concat())
}

/// ERSPAN III with the type of its content, and with or without the subheader of a platform.
pub fn erspan3(kind: u8, subheader: bool, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x20, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0x80 | kind << 2, subheader.into()];
    if subheader {
        header.extend([0x45; 8]);
    }
    header.extend(payload);
    gre(0x1000, 0x22eb, &[0, 0, 0, 9], &header)
}

/// Two MPLS labels.
pub fn mpls(payload: &[u8]) -> Vec<u8> {
    [&[0, 1, 0, 64, 0, 2, 1, 64], payload].concat()
}

/// A session of PPP over Ethernet; `protocol` is PPP's protocol field, which has one or two bytes.
pub fn pppoe(protocol: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = (protocol.len() + payload.len()) as u16;
    [&[0x11, 0, 0, 1], &length.to_be_bytes()[..], protocol, payload].concat()
}

/// GTP-U with the given optional fields, which `flags` announces.
pub fn gtp(flags: u8, fields: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = (fields.len() + payload.len()) as u16;
    let header = [0x30 | flags, 0xff];
    udp(2152, &[&header, &length.to_be_bytes()[..], &[0, 0, 0, 7], fields, payload].concat())
}

/// An authentication header with a value of `words` times four bytes (RFC 4302 §2).
pub fn authentication(next: u8, words: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![next, words + 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2];
    bytes.resize(bytes.len() + 4 * usize::from(words), 0x45);
    bytes.extend(payload);
    bytes
}
