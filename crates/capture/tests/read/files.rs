//! Formats, links, and damaged files.

use std::io::{Cursor, Error, ErrorKind, Read, Write};
use std::path::PathBuf;

use incast_capture::read::{Count, End, File, Merge, OpenError};

use crate::builder::{block, pcap, pcapng};
use crate::{BIG, LITTLE, START, check, open, packets, segment};

#[test]
fn both_formats_in_both_byte_orders() {
    let frames = [(START, segment().ethernet())];
    for order in [LITTLE, BIG] {
        let files = [
            pcap(order, false, 1, &frames),
            pcap(order, true, 1, &frames),
            pcapng(order, 1, &frames),
        ];
        for bytes in files {
            let mut file = open(&bytes);
            let all = packets(&mut file);
            assert_eq!(all.len(), 1);
            check(&all[0]);
            assert_eq!(all[0].time, START as i64);
            assert_eq!(all[0].source.to_string(), "10.0.0.1:5000");
            assert_eq!(file.end(), Some(&End::Whole));
        }
    }
}

#[test]
fn links_and_tags() {
    let (ip, six) = (segment().v4(), segment().v6());
    let with = |head: &[u8], ip: &[u8]| [head, ip].concat();
    let ethernet = [0; 12];
    let cases = [
        (1, with(&[&ethernet[..], &[0x81, 0, 0, 5, 8, 0]].concat(), &ip)),
        (1, with(&[&ethernet[..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd]].concat(), &six)),
        (113, with(&[&[0; 14][..], &[8, 0]].concat(), &ip)),
        (276, with(&[&[0x86, 0xdd][..], &[0; 18]].concat(), &six)),
        (101, ip.clone()),
        (12, six.clone()),
        (0, with(&[2, 0, 0, 0], &ip)),
    ];
    for (link, frame) in cases {
        let all = packets(&mut open(&pcap(LITTLE, true, link, &[(START, frame)])));
        assert_eq!(all.len(), 1, "link {link}");
        check(&all[0]);
    }
}

#[test]
fn an_offloaded_packet_has_the_length_of_its_frame() {
    let mut frame = segment().ethernet();
    frame[16..18].copy_from_slice(&[0, 0]);
    check(&packets(&mut open(&pcap(LITTLE, true, 1, &[(START, frame)])))[0]);
}

#[test]
fn a_frame_that_is_cut_by_the_snap_length_keeps_its_payload() {
    let mut file = pcap(LITTLE, true, 1, &[(START, segment().ethernet())]);
    file[32..36].copy_from_slice(&66_u32.to_le_bytes());
    file.truncate(24 + 16 + 66);
    check(&packets(&mut open(&file))[0]);
    file[32..36].copy_from_slice(&40_u32.to_le_bytes());
    file.truncate(24 + 16 + 40);
    let mut short = open(&file);
    assert!(packets(&mut short).is_empty());
    assert_eq!(short.tally().short, 1);
}

#[test]
fn a_cut_file_is_read_to_its_end() {
    let frames = [(START, segment().ethernet()), (START + 1, segment().ethernet())];
    for bytes in [pcap(BIG, false, 1, &frames), pcapng(LITTLE, 1, &frames)] {
        for cut in [1, 4, 17, 300] {
            let mut file = open(&bytes[..bytes.len() - cut]);
            assert_eq!(packets(&mut file).len(), 1, "cut by {cut}");
            assert_eq!(file.end(), Some(&End::Cut));
        }
    }
}

#[test]
fn a_length_that_no_capture_has_ends_the_file() {
    let mut bytes = pcap(LITTLE, true, 1, &[(START, segment().ethernet()), (START, vec![0; 60])]);
    let second = 24 + 16 + segment().ethernet().len();
    bytes[second + 8..second + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut file = open(&bytes);
    assert_eq!(packets(&mut file).len(), 1);
    let damaged = matches!(file.end(), Some(End::Damaged(place, _)) if *place == second as u64);
    assert!(damaged, "{:?}", file.end());
}

#[test]
fn unknown_blocks_are_passed_over_and_statistics_are_read() {
    let frames = [(START, segment().ethernet())];
    let mut bytes = pcapng(LITTLE, 1, &frames);
    block(&mut bytes, LITTLE, 0x0bad, &[0; 400]);
    let mut body = vec![0; 12];
    body.extend([5, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    block(&mut bytes, LITTLE, 5, &body);
    bytes.extend(pcapng(BIG, 1, &frames));
    let mut file = open(&bytes);
    assert_eq!(packets(&mut file).len(), 2);
    assert_eq!(file.tally().dropped, 3);
}

#[test]
fn compressed_files() {
    let plain = pcap(LITTLE, true, 1, &[(START, segment().ethernet())]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("written");
    let gzip = gzip.finish().expect("written");
    // Two frames, with a skippable frame between them.
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let (head, tail) = plain.split_at(100);
    let mut zstd = ruzstd::encoding::compress_to_vec(head, level);
    zstd.extend([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    zstd.extend(ruzstd::encoding::compress_to_vec(tail, level));
    for bytes in [&gzip, &zstd] {
        let mut whole = open(bytes);
        check(&packets(&mut whole)[0]);
        assert_eq!(whole.end(), Some(&End::Whole));
        let mut cut = open(&bytes[..bytes.len() - 6]);
        packets(&mut cut);
        assert_eq!(cut.end(), Some(&End::Cut));
    }
    // Some files end with a table of contents in a skippable frame.
    zstd.extend([0x5e, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);
    let mut seekable = open(&zstd);
    check(&packets(&mut seekable)[0]);
    assert_eq!(seekable.end(), Some(&End::Whole));
}

#[test]
fn what_is_wrong_with_zstd_is_told_in_plain_words() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd];
    let told = |rest: &[u8]| {
        let bytes = [&frame[..], rest].concat();
        File::from_bytes(Box::new(std::io::Cursor::new(bytes)), 0).err().map(|it| it.to_string())
    };
    let window = "a zstd window of 2199023255552 bytes; must be at most 134217728";
    assert_eq!(told(&[0, 0xf8, 0, 0, 0]), Some(format!("-: {window}")));
    assert_eq!(told(&[0, 0x58, 7, 0, 0]), Some("-: damaged zstd data".to_owned()));
    assert_eq!(told(&[0]), Some("-: unexpected end of file".to_owned()));
}

#[test]
fn damage_is_where_its_block_begins() {
    let mut bytes = pcapng(LITTLE, 1, &[]);
    (1..=1 << 16).for_each(|_| block(&mut bytes, LITTLE, 1, &[1, 0, 0, 0, 0, 0, 0, 0]));
    let last = bytes.len() as u64 - 20;
    let mut file = open(&bytes);
    packets(&mut file);
    let what = "more than 65536 interfaces in a section".to_owned();
    assert_eq!(file.end(), Some(&End::Damaged(last, what)));
}

#[test]
fn what_is_no_capture_is_refused() {
    let open = |bytes: &'static [u8]| File::from_bytes(Box::new(bytes), 0).err();
    assert!(matches!(open(b""), Some(OpenError::Empty(_))));
    assert!(matches!(open(b"GIF89a and more than twenty-four bytes"), Some(OpenError::Kind(_))));
}

#[test]
fn a_file_alone_is_one_point_if_it_has_packets() {
    for packets in 0..3 {
        let frames = vec![(START, segment().ethernet()); packets];
        let file = (open(&pcap(LITTLE, true, 1, &frames)), PathBuf::new());
        let mut alone = Merge::of(vec![file], Count::default());
        let told: Vec<_> = alone.by_ref().map(|one| (one.frame, one.point)).collect();
        assert_eq!(told, [(1, 0), (2, 0)][..packets]);
        assert_eq!(alone.points(), u16::from(packets > 0));
    }
}

#[test]
fn rotated_files_are_one_point_and_others_their_own() {
    let file = |times: &[u64]| {
        let frames: Vec<_> =
            times.iter().map(|time| (START + time, segment().ethernet())).collect();
        (open(&pcap(LITTLE, true, 1, &frames)), PathBuf::new())
    };
    let files = vec![file(&[50, 60]), file(&[0, 10]), file(&[5, 55])];
    let merged = Merge::of(files, Count::default());
    let told: Vec<_> = merged.map(|one| (one.time - START as i64, one.point)).collect();
    assert_eq!(told, [(0, 0), (5, 1), (10, 0), (50, 0), (55, 1), (60, 0)]);

    // The first file of the list begins when the second file ends.
    let files = vec![file(&[10, 20]), file(&[0, 10])];
    let points: Vec<_> = Merge::of(files, Count::default()).map(|one| one.point).collect();
    assert_eq!(points, [0; 4]);
}

/// Some bytes, and then an error.
struct Failing(Cursor<Vec<u8>>, ErrorKind);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(Error::new(self.1, "The disk is on fire (os error 5)")),
            count => Ok(count),
        }
    }
}

#[test]
fn an_input_that_fails_damages_the_file_and_one_that_ends_early_cuts_it() {
    let bytes = pcap(LITTLE, true, 1, &[(START, segment().ethernet()), (START, vec![0; 60])]);
    let read = |kind| {
        let input = Failing(Cursor::new(bytes.clone()), kind);
        let mut file = File::from_bytes(Box::new(input), 7).expect("a capture");
        let all = packets(&mut file);
        assert_eq!(all.iter().map(|one| (one.file, one.frame)).collect::<Vec<_>>(), [(7, 1)]);
        assert_eq!(file.tally().frames, 2);
        file.end().cloned()
    };
    assert_eq!(read(ErrorKind::UnexpectedEof), Some(End::Cut));
    let place = bytes.len() as u64;
    let told = Some(End::Damaged(place, "the disk is on fire".to_owned()));
    assert_eq!(read(ErrorKind::Other), told);
    assert_eq!(read(ErrorKind::PermissionDenied), told);
}

#[test]
fn every_magic_number_of_pcap_says_order_unit_and_header() {
    for (magic, order, unit, header) in [
        (0xa1b2_c3d4_u32, BIG, 1000, 16),
        (0xd4c3_b2a1, LITTLE, 1000, 16),
        (0xa1b2_3c4d, BIG, 1, 16),
        (0x4d3c_b2a1, LITTLE, 1, 16),
        (0xa1b2_cd34, BIG, 1000, 24),
        (0x34cd_b2a1, LITTLE, 1000, 24),
    ] {
        let mut bytes = magic.to_be_bytes().to_vec();
        // The upper 16 bits of the field for the link type have another meaning.
        for value in [0x0002_0004, 0, 0, 65_535, 0xf400_0001] {
            bytes.extend(order.four(value));
        }
        let frame = segment().ethernet();
        for seconds in [5, 6] {
            for value in [seconds, 9, frame.len() as u32, frame.len() as u32] {
                bytes.extend(order.four(value));
            }
            bytes.resize(bytes.len() + header - 16, 0x77);
            bytes.extend(&frame);
        }
        let mut file = open(&bytes);
        let times: Vec<_> = packets(&mut file).iter().map(|one| one.time).collect();
        assert_eq!(times, [5_000_000_000 + 9 * unit, 6_000_000_000 + 9 * unit], "{magic:#x}");
        assert_eq!(file.end(), Some(&End::Whole));
    }
}

#[test]
fn no_frame_is_longer_than_16_mebibytes() {
    let end = |captured: u32| {
        let mut bytes = pcap(LITTLE, true, 1, &[(START, vec![0; 60])]);
        bytes[32..36].copy_from_slice(&captured.to_le_bytes());
        let mut file = open(&bytes);
        packets(&mut file);
        file.end().cloned()
    };
    assert_eq!(end(1 << 24), Some(End::Cut));
    assert_eq!(end((1 << 24) + 1), Some(End::Damaged(24, "a frame of 16777217 bytes".to_owned())));
}

#[test]
fn blocks_of_pcapng_have_lengths_that_make_sense() {
    let end = |kind: u32, length: u32| {
        let mut bytes = pcapng(LITTLE, 1, &[]);
        let place = bytes.len() as u64;
        bytes.extend(kind.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend([0; 40]);
        let mut file = open(&bytes);
        packets(&mut file);
        (file.end().cloned().expect("it ends"), place)
    };
    let damaged = |kind, length| {
        let (told, place) = end(kind, length);
        assert_eq!(told, End::Damaged(place, format!("a block of {length} bytes")));
    };
    for length in [0, 8, 11, 13, 14] {
        damaged(6, length);
        damaged(0x0bad, length);
    }
    let most = (1 << 24) + (1 << 16);
    for kind in [1, 2, 3, 5, 6] {
        damaged(kind, most + 4);
        assert_eq!(end(kind, most).0, End::Cut);
    }
    assert_eq!(end(0x0bad, most + 4).0, End::Cut, "others may be longer");
}

/// A file with interfaces of these snap lengths, followed by a block of this kind with this body.
fn with(order: crate::Order, snaplens: &[u32], kind: u32, body: &[u8]) -> File {
    let mut bytes = pcapng(order, 1, &[]);
    // Cut the file before its own interface.
    bytes.truncate(28);
    for snaplen in snaplens {
        let mut body = order.two(1).to_vec();
        body.extend([0, 0]);
        body.extend(order.four(*snaplen));
        block(&mut bytes, order, 1, &body);
    }
    block(&mut bytes, order, kind, body);
    open(&bytes)
}

#[test]
fn a_simple_packet_is_cut_by_its_interface() {
    let frame = segment().ethernet();
    let length = frame.len() as u32;
    let mut body = LITTLE.four(length).to_vec();
    body.extend(&frame);
    body.resize(body.len().next_multiple_of(4), 0);
    for (snaplen, payload) in [(0, Some(300)), (66, Some(300)), (65_535, Some(300)), (40, None)] {
        let all = packets(&mut with(LITTLE, &[snaplen], 3, &body));
        assert_eq!(all.first().map(|one| one.payload), payload, "{snaplen}");
    }
    assert!(matches!(ended(&mut with(LITTLE, &[], 3, &body)), End::Damaged(..)), "no interface");
}

fn ended(file: &mut File) -> End {
    packets(file);
    file.end().cloned().expect("it ends")
}

#[test]
fn an_old_packet_names_its_interface_in_half_a_word() {
    let frame = segment().ethernet();
    for order in [LITTLE, BIG] {
        let read = |interface: u16| {
            let mut body = order.two(interface).to_vec();
            body.extend(order.two(0xffff));
            for value in [0, 5, frame.len() as u32, frame.len() as u32] {
                body.extend(order.four(value));
            }
            body.extend(&frame);
            body.resize(body.len().next_multiple_of(4), 0);
            with(order, &[0, 0], 2, &body)
        };
        for interface in [0, 1] {
            let all = packets(&mut read(interface));
            check(&all[0]);
            assert_eq!(all[0].time, 5_000);
        }
        assert!(matches!(ended(&mut read(2)), End::Damaged(..)), "there are two");
    }
}

#[test]
fn drops_are_those_of_the_last_statistics_of_each_interface() {
    let statistics = |interface: u32, options: &[(u16, u64)]| {
        let mut body = LITTLE.four(interface).to_vec();
        body.extend([0; 8]);
        for (code, value) in options {
            body.extend(LITTLE.two(*code));
            body.extend(LITTLE.two(8));
            body.extend(value.to_le_bytes());
        }
        body
    };
    let mut bytes = pcapng(LITTLE, 1, &[]);
    block(&mut bytes, LITTLE, 5, &statistics(0, &[(4, 99), (5, 3), (7, 1 << 33)]));
    block(&mut bytes, LITTLE, 5, &statistics(7, &[(5, 1000)]));
    let mut file = open(&bytes);
    packets(&mut file);
    assert_eq!(file.tally().dropped, (1 << 33) + 3, "received ones are not dropped");
    block(&mut bytes, LITTLE, 5, &statistics(0, &[(5, 5), (0, 0), (7, 6)]));
    bytes.extend(pcapng(BIG, 1, &[]));
    let mut file = open(&bytes);
    packets(&mut file);
    assert_eq!(file.tally().dropped, 5, "the list of options has ended");
    block(&mut bytes, BIG, 5, &[0; 11]);
    assert!(matches!(ended(&mut open(&bytes)), End::Damaged(..)), "cut short");
}
