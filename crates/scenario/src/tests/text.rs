//! Scenarios as TOML, and the errors of the TOML reader.

use serde_json::json;

use super::super::from_toml;

fn line(text: &str) -> String {
    from_toml(text).expect_err(text).to_string()
}

#[test]
fn values_keep_their_kinds_and_keys_their_order() {
    let text =
        "\u{feff}b = 1.0\na = 18446744073709551615\nc = [0x10, true, 2024-01-01]\n[t]\nd.e = '\\'";
    let tree = from_toml(text).unwrap();
    let wanted = json!({
        "b": 1.0, "a": u64::MAX, "c": [16, true, "2024-01-01"], "t": { "d": { "e": "\\" } },
    });
    assert_eq!(tree.to_string(), wanted.to_string());
}

#[test]
fn what_is_not_toml_has_line_and_column() {
    for (text, wanted) in [
        ("a = 1\nb = \"x\nc = 2", "line 2, column 7: the closing quote is missing"),
        ("a = 'x", "line 1, column 7: the closing quote is missing"),
        ("[a]\nb \"c\"", "line 2, column 3: key with no value, expected `=`"),
        ("a =\n", "line 1, column 4: there is no value; a string must be in quotes"),
        ("a = = 5", "line 1, column 5: extra `=`"),
        ("a = 1\na = 2", "line 2, column 1: a is given twice"),
        ("[a]\n[b]\n[a]", "line 3, column 2: a is given twice"),
        ("a = 1\n[run\n", "line 2, column 5: unclosed table, expected `]`"),
        ("a = [1, 2\nb = 3", "line 2, column 1: a list continues with `,` or ends with `]`"),
        ("a = { b = 1", "line 1, column 12: unclosed inline table, expected `}`"),
        (
            "a = { b = 1\nc = 1 }",
            "line 2, column 1: a table in braces continues with `,` or ends with `}`",
        ),
        ("a = 2024-13-01", "line 1, column 5: invalid date, expected month between 01 and 12"),
        ("a = 1 b = 2", "line 1, column 9: unexpected key or value, expected newline, `#`"),
        ("a = 010", "line 1, column 5: unexpected leading zero"),
    ] {
        assert_eq!(line(text).replace("not valid TOML: ", ""), wanted, "{text:?}");
    }
}

#[test]
fn bare_words_are_told_to_be_in_quotes() {
    let begin = "not valid TOML: quantities and names must be in quotes: ";
    for (text, place, wanted) in [
        ("[network]\nrate = 1Gbps # fast", "line 2, column 8", "rate = \"1Gbps\""),
        ("\trate\t=\t1Gbps", "line 1, column 9", "rate = \"1Gbps\""),
        ("buffer = 64 KiB\n", "line 1, column 10", "buffer = \"64 KiB\""),
        ("name = newreno", "line 1, column 8", "name = \"newreno\""),
        ("name = fast", "line 1, column 8", "name = \"fast\""),
        ("name = “newreno”", "line 1, column 8", "name = \"newreno\""),
        ("rates = [\"1Gbps\", 10Gbps]", "line 1, column 19", "\"10Gbps\""),
        ("queue = { name = red }", "line 1, column 18", "\"red\""),
    ] {
        assert_eq!(line(text), format!("{place}: {begin}{wanted}"), "{text:?}");
    }
    assert!(line("a = True").ends_with("write true in small letters"));
}

#[test]
fn numbers_that_no_key_accepts_are_told_by_their_key() {
    for (text, wanted) in [
        ("[a]\nb = nan", "a.b: must be a finite number, not nan"),
        ("a = [1, 1e999]", "a.1: must be a finite number, not 1e999"),
        (
            "a = -9223372036854775809",
            "a: a number of 19 digits is too large; write at most 18446744073709551615",
        ),
    ] {
        assert_eq!(line(text), wanted, "{text:?}");
    }
}

#[test]
fn depth_is_limited() {
    for depth in [65, 100, 5000] {
        let lists = format!("x = {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(line(&lists).ends_with("tables or lists are nested too deeply"), "{depth}");
        let keys = format!("x{} = 1", ".x".repeat(depth));
        assert!(line(&keys).ends_with("tables or lists are nested too deeply"), "{depth}");
    }
    assert!(from_toml(&format!("x = {}{}", "[".repeat(60), "]".repeat(60))).is_ok());
}
