use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{from_value, json, to_value};

use super::*;

fn parse<T: FromStr<Err = QuantityError>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn message<T: DeserializeOwned + fmt::Debug>(value: serde_json::Value) -> String {
    from_value::<T>(value).unwrap_err().to_string()
}

#[test]
fn every_unit_of_rate() {
    for (scale, prefixes) in
        [(1, ["", ""]), (1_000, ["k", "K"]), (1_000_000, ["M", "m"]), (1_000_000_000, ["G", "g"])]
    {
        for prefix in prefixes {
            for unit in ["bps", "b/s", "bit/s", "bit"] {
                assert_eq!(parse::<Rate>(&format!("10{prefix}{unit}")), Rate(10 * scale));
            }
        }
    }
    assert_eq!(parse::<Rate>("1.6 Tbps"), Rate(1_600_000_000_000));
    assert_eq!(parse::<Rate>("0.5tbit"), Rate(500_000_000_000));
}

#[test]
fn every_unit_of_time() {
    for (text, picos) in [
        ("3s", 3_000_000_000_000),
        ("0.2s", 200_000_000_000),
        ("1ms", 1_000_000_000),
        ("100us", 100_000_000),
        ("100\u{b5}s", 100_000_000),
        ("100\u{3bc}s", 100_000_000),
        ("0.1us", 100_000),
        ("18.84us", 18_840_000),
        ("5ns", 5_000),
        (" 10 ps ", 10),
        ("0.000000000001s", 1),
        ("0s", 0),
    ] {
        assert_eq!(parse::<Span>(text), Span::from_picos(picos), "{text}");
    }
}

#[test]
fn every_unit_of_size() {
    for (text, bytes) in [
        ("1500", 1_500),
        ("1500B", 1_500),
        ("2 bytes", 2),
        ("1byte", 1),
        ("64KB", 64_000),
        ("64kB", 64_000),
        ("2MB", 2_000_000),
        ("3GB", 3_000_000_000),
        ("4TB", 4_000_000_000_000),
        ("64KiB", 65_536),
        ("1.5KiB", 1_536),
        ("1MiB", 1 << 20),
        ("1GiB", 1 << 30),
        ("1TiB", 1 << 40),
    ] {
        assert_eq!(parse::<Size>(text), Size(bytes), "{text}");
        assert_eq!(parse::<Limit>(text), Limit::Bytes(bytes), "{text}");
    }
}

#[test]
fn every_unit_that_counts() {
    for unit in ["pkt", "pkts", "p", "packet", " packets"] {
        let text = format!("40{unit}");
        assert_eq!(parse::<Limit>(&text), Limit::Packets(40), "{text}");
        assert_eq!(parse::<Window>(&text), Window::Segments(40), "{text}");
    }
    for unit in ["", "seg", "segs", "segment", " segments"] {
        assert_eq!(parse::<Window>(&format!("40{unit}")), Window::Segments(40));
    }
    assert_eq!(parse::<Window>("64KiB"), Window::Bytes(65_536));
    assert_eq!(Window::Segments(100).bytes(1460), 146_000);
    assert_eq!(Window::Bytes(100).bytes(1460), 100);
}

#[test]
fn a_wrong_quantity_says_what_was_given_and_what_to_write() {
    assert_eq!(
        message::<Span>(json!("5 parsecs")),
        r#""5 parsecs" is not a time; write e.g. "100us", "1ms", "0.2s""#
    );
    assert_eq!(
        message::<Span>(json!(5)),
        r#"5 is not a time: the unit is missing; write e.g. "100us", "1ms", "0.2s""#
    );
    assert_eq!(
        message::<Rate>(json!("1GBps")),
        "\"1GBps\" is not a rate: B is for bytes, rates are in bits (b) per second; \
         write e.g. \"1Gbps\", \"10Gb/s\", \"100Mbit/s\", \"10gbit\""
    );
    assert_eq!(
        message::<Size>(json!("64Kb")),
        "\"64Kb\" is not a size: b is for bits, sizes are in bytes (B); \
         write e.g. \"64KiB\" (65536), \"64KB\" (64000), \"1500B\", 1500"
    );
    assert_eq!(
        message::<Limit>(json!(1.5)),
        "1.5 is not a size of a queue; \
         write e.g. \"40pkt\", \"100KiB\" (102400), \"100KB\" (100000), 102400"
    );
    assert_eq!(
        message::<Window>(json!(-1)),
        "-1 is not a window; write e.g. 2, \"100seg\", \"64KiB\" (65536 bytes)"
    );
    assert_eq!(
        message::<Span>(json!(true)),
        r#"true is not a time; write e.g. "100us", "1ms", "0.2s""#
    );
    assert!(message::<Span>(json!([])).contains(r#"expected a time, e.g. "100us""#));
}

#[test]
fn precision_is_never_lost_in_silence() {
    assert_eq!(
        message::<Span>(json!("0.1ps")),
        r#""0.1ps" is finer than 1 ps; write a time, e.g. "100us", "1ms", "0.2s""#
    );
    for text in ["0.0000000000001s", "1.00000000000000000000000000000000000000001s"] {
        assert!(text.parse::<Span>().unwrap_err().to_string().contains("finer than 1 ps"));
    }
    assert!("1.5B".parse::<Size>().unwrap_err().to_string().contains("finer than 1 byte"));
    assert!("0.5pkt".parse::<Limit>().unwrap_err().to_string().contains("finer than 1 packet"));
    for text in
        ["18446744073709551616", "99999999999999999999999999999999999999999B", "16777216TiB"]
    {
        assert!(text.parse::<Size>().unwrap_err().to_string().contains("too large"), "{text}");
    }
}

#[test]
fn the_most_of_each_is_said() {
    assert_eq!(parse::<Span>("1000000s"), Span::from_secs(1_000_000));
    assert_eq!(
        message::<Span>(json!("1000000.1s")),
        r#""1000000.1s" is too large; write at most "1000000s""#
    );
    assert_eq!(parse::<Rate>("100Tbps"), Rate(100_000_000_000_000));
    assert_eq!(
        message::<Rate>(json!("100000000000001bps")),
        r#""100000000000001bps" is too large; write at most "100Tbps""#
    );
    assert_eq!(parse::<Size>("100TB"), Size(100_000_000_000_000));
    for too_much in [json!(100_000_000_000_001_u64), json!("100000000000001")] {
        let line = format!("{too_much} is too large; write at most \"100TB\"");
        assert_eq!(message::<Size>(too_much.clone()), line);
        assert_eq!(message::<Limit>(too_much.clone()), line);
        assert_eq!(message::<Window>(too_much), line);
    }
    assert!(message::<Limit>(json!("100000000000001pkt")).contains("at most"));
}

#[test]
fn slips_of_the_pen_are_not_numbers() {
    for text in ["", "us", "1.us", ".5us", "1.2.3us", "-1us", "+1us", "1e3us", "1,5us", "1us2"] {
        assert!(text.parse::<Span>().is_err(), "{text}");
    }
}

#[test]
fn a_link_never_sends_faster_than_its_rate() {
    assert_eq!(Rate(1_000_000_000).transmission_time(1500), Span::from_micros(12));
    assert_eq!(Rate(100_000_000_000).transmission_time(1), Span::from_picos(80));
    assert_eq!(Rate(3).transmission_time(1), Span::from_picos(2_666_666_666_667));
    assert_eq!(Rate(1).transmission_time(u64::MAX), Span::MAX);
    assert_eq!(Rate(0).transmission_time(1), Span::MAX);
}

#[test]
fn the_base_form() {
    assert_eq!(to_value(Rate(1_000_000_000)).unwrap(), json!("1000000000bps"));
    assert_eq!(to_value(Span::from_micros(100)).unwrap(), json!("0.0001s"));
    assert_eq!(to_value(Span::from_secs(10)).unwrap(), json!("10s"));
    assert_eq!(to_value(Size(65_536)).unwrap(), json!(65_536));
    assert_eq!(to_value(Limit::Packets(40)).unwrap(), json!("40pkt"));
    assert_eq!(to_value(Limit::Bytes(102_400)).unwrap(), json!(102_400));
    assert_eq!(to_value(Window::Segments(2)).unwrap(), json!(2));
    assert_eq!(to_value(Window::Bytes(146_000)).unwrap(), json!("146000B"));
}

#[test]
fn a_quantity_is_printed_with_its_base_unit() {
    assert_eq!(parse::<Rate>("1Gbps").to_string(), "1000000000bps");
    assert_eq!(parse::<Size>("64KiB").to_string(), "65536B");
    assert_eq!(parse::<Limit>("64KiB").to_string(), "65536B");
    assert_eq!(parse::<Limit>("40pkt").to_string(), "40pkt");
    assert_eq!(parse::<Window>("64KiB").to_string(), "65536B");
    assert_eq!(parse::<Window>("2seg").to_string(), "2seg");
}

fn returns<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(quantity: &T) {
    assert_eq!(from_value::<T>(to_value(quantity).unwrap()).unwrap(), *quantity);
}

proptest! {
    #[test]
    fn the_base_form_loads_to_the_same_value(
        value in 0..=100_000_000_000_000_u64,
        factor in 0..=10_000_u64,
    ) {
        returns(&Rate(value));
        returns(&Span::from_picos(value * factor));
        returns(&Size(value));
        returns(&Limit::Packets(value));
        returns(&Limit::Bytes(value));
        returns(&Window::Segments(value));
        returns(&Window::Bytes(value));
    }

    #[test]
    fn decimals_agree_with_integer_arithmetic(whole in 0_u64..1_000, picos in 0_u64..1_000_000) {
        let span = parse::<Span>(&format!("{whole}.{picos:06}us"));
        prop_assert_eq!(span, Span::from_picos(whole * 1_000_000 + picos));
    }
}
