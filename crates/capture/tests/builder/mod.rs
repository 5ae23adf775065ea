//! Frames and files for tests, built by hand.

/// A segment of a connection between hosts 10.0.0.`from` and 10.0.0.`to`.
#[derive(Clone, Debug)]
pub struct Segment {
    pub from: u8,
    pub to: u8,
    pub ports: (u16, u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub payload: u16,
    pub id: u16,
    pub options: Vec<u8>,
}

impl Segment {
    pub fn new(from: u8, to: u8, seq: u32, ack: u32, payload: u16) -> Self {
        let (ports, options) = ((5000, 6000), Vec::new());
        Self { from, to, ports, seq, ack, flags: 16, payload, id: 0, options }
    }

    fn tcp(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.ports.0.to_be_bytes());
        bytes.extend(self.ports.1.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.push(((20 + self.options.len() as u8) / 4) << 4);
        bytes.push(self.flags);
        bytes.extend([0xff, 0xff, 0, 0, 0, 0]);
        bytes.extend(&self.options);
        bytes.resize(bytes.len() + usize::from(self.payload), 0);
        bytes
    }

    /// The IPv4 packet.
    pub fn v4(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut bytes = vec![0x45, 0];
        bytes.extend((20 + tcp.len() as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0, 10, 0, 0, self.from, 10, 0, 0, self.to]);
        bytes.extend(tcp);
        bytes
    }

    /// The IPv6 packet, with an extension header.
    pub fn v6(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut bytes = vec![0x60, 0, 0, 0];
        bytes.extend((8 + tcp.len() as u16).to_be_bytes());
        bytes.extend([60, 64]);
        for host in [self.from, self.to] {
            bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
        bytes.extend([6, 0, 1, 4, 0, 0, 0, 0]);
        bytes.extend(tcp);
        bytes
    }

    /// The Ethernet frame.
    pub fn ethernet(&self) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        bytes.extend([8, 0]);
        bytes.extend(self.v4());
        bytes
    }
}

/// Numbers in the byte order of a file.
#[derive(Clone, Copy)]
pub struct Order {
    pub big: bool,
}

impl Order {
    pub fn four(self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub fn two(self, value: u16) -> [u8; 2] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// A pcap file of frames at nanoseconds.
pub fn pcap(order: Order, nano: bool, link: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(order.four(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    file.extend(order.two(2));
    file.extend(order.two(4));
    for value in [0, 0, 65535, link] {
        file.extend(order.four(value));
    }
    for (time, frame) in frames {
        let part = (time % 1_000_000_000) as u32 / if nano { 1 } else { 1000 };
        let length = frame.len() as u32;
        for value in [(time / 1_000_000_000) as u32, part, length, length] {
            file.extend(order.four(value));
        }
        file.extend(frame);
    }
    file
}

/// A pcapng file of frames at nanoseconds.
pub fn pcapng(order: Order, link: u16, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut body = order.four(0x1a2b_3c4d).to_vec();
    body.extend(order.two(1));
    body.extend(order.two(0));
    body.extend([0xff; 8]);
    block(&mut file, order, 0x0a0d_0d0a, &body);
    let mut body = order.two(link).to_vec();
    body.extend([0; 6]);
    body.extend(order.two(9));
    body.extend(order.two(1));
    body.extend([9, 0, 0, 0]);
    block(&mut file, order, 1, &body);
    for (time, frame) in frames {
        let length = frame.len() as u32;
        let mut body = Vec::new();
        for value in [0, (time >> 32) as u32, *time as u32, length, length] {
            body.extend(order.four(value));
        }
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        block(&mut file, order, 6, &body);
    }
    file
}

/// Adds a block.
pub fn block(file: &mut Vec<u8>, order: Order, kind: u32, body: &[u8]) {
    let length = order.four(12 + body.len() as u32);
    file.extend(order.four(kind));
    file.extend(length);
    file.extend(body);
    file.extend(length);
}
