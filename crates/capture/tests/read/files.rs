//! Formats, links, and files that are damaged.

use std::io::Write;
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
    // Two frames, and between them one that is to be skipped.
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
    // A table of contents, which can be skipped, is the end of some files.
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

    // The second begins at the time at which the first ends, and is named before it.
    let files = vec![file(&[10, 20]), file(&[0, 10])];
    let points: Vec<_> = Merge::of(files, Count::default()).map(|one| one.point).collect();
    assert_eq!(points, [0; 4]);
}
