//! Tests of the language: scripts that pass, and scripts that must fail.

use incast_script::Script;

/// Runs a script, including a claim, and returns the text of its failure.
fn failure(lines: &str) -> String {
    let text = format!("# A claim.\n{lines}");
    let result = Script::parse("test.pkt", &text).and_then(|script| script.run());
    result.expect_err("the script should fail").to_string()
}

#[track_caller]
fn fails(lines: &str, fragments: &[&str]) {
    let text = failure(lines);
    for fragment in fragments {
        assert!(text.contains(fragment), "{fragment:?} is not in:\n{text}");
    }
}

fn passes(lines: &str) {
    let text = format!("# A claim.\n{lines}");
    if let Err(failure) = Script::parse("test.pkt", &text).and_then(|script| script.run()) {
        panic!("{failure}");
    }
}

#[test]
fn a_failure_says_where_what_and_in_which_state() {
    fails(
        "write 1000\n> data 1:501",
        &[
            "test.pkt:3: > data 1:501\n",
            "expected  this at 0.000000000s\n",
            "got       > data 1:1001 ack 1 win 1000000 header 40 at 0.000000000s\n",
            "cwnd 2000, ssthresh",
            "flight 1000",
        ],
    );
}

#[test]
fn a_missing_packet_fails_and_names_the_next_deadline() {
    fails("> data 1:1001", &["got       nothing, and no timer runs"]);
    let text = "write 1\n> data 1:2\n+900ms > data 1:2 rtx";
    fails(text, &["expected  this at 0.900000000s", "the next deadline is 1.000000000s"]);
}

#[test]
fn a_packet_outside_its_time_fails() {
    let text = "write 1\n> data 1:2\n";
    fails(&format!("{text}+1100ms > data 1:2 rtx"), &["got       > data 1:2 rtx ", " at 1.0000"]);
    fails(&format!("{text}+1100ms~+2s > data 1:2 rtx"), &["this from 1.100000000s to 2.0000"]);
    passes(&format!("{text}+900ms~+1100ms > data 1:2 rtx\nassert deadline == 2s"));
}

#[test]
fn what_is_not_expected_fails_before_the_next_input_while_waiting_and_at_the_end() {
    fails("write 1000", &["test.pkt:2", "nothing more", "> data 1:1001"]);
    fails("write 1000\n< ack 1001", &["test.pkt:3", "nothing more"]);
    fails("write 1000\n+1ms < ack 1001", &["test.pkt:3", "nothing more"]);
    fails("write 1000\n> nothing", &["test.pkt:3", "nothing more"]);
    fails("write 1000\n> data 1:1001\n+2s < ack 1001", &["test.pkt:4", "rtx", "at 1.0000"]);
    fails("write 1000\n> data 1:1001\n+1s > nothing", &["test.pkt:4", "rtx"]);
    passes("write 1000\n> data 1:1001\n+999ms > nothing");
}

#[test]
fn input_at_a_deadline_comes_first() {
    passes("write 1000\n> data 1:1001\n+1s < ack 1001\n+9s > nothing");
}

#[test]
fn every_field_of_an_expected_packet_is_compared() {
    let config = "config timestamps=1ms\n";
    let start = "write 1000\n> data 1:1001 ";
    passes(&format!("{config}{start}ack 1 win 1000000 header 40 seq 1 ts 0:0"));
    for wrong in [
        "ack 2",
        "win 5",
        "header 52",
        "seq 2",
        "ts 1:0",
        "label 1",
        "epoch 1",
        "rtx",
        "fin",
        "syn",
    ] {
        fails(&format!("{config}{start}{wrong}"), &["test.pkt:4"]);
    }
    fails("write 1000\n> ack 1", &["got       > data 1:1001"]);
    fails("< data 1:2 ts 7:0\n> data 1:1 ack 2 rtx", &["got       > ack 2"]);
    fails(
        "config role=opener\nrequest 50\n> request 1 size 51",
        &["got       > request 1 size 50"],
    );
    passes("config role=opener\nrequest 50\n> request 1 size 50 ack 1");
}

#[test]
fn a_run_of_segments_is_cut_with_fin_on_the_last() {
    let text = "config fin=true initial_window=3seg handshake=three-way
        write 2500\nclose\n< syn\n> syn ack 1\n< ack 1\n> data 1:2501 fin by 1000";
    passes(text);
    fails("write 2000\n> data 1:2001 by 900", &["got       > data 1:1001"]);
    fails("> ack 1 by 1000", &["only data can be cut"]);
    fails("> data 1:9 by 0", &["at least one byte"]);
    fails("> data 1:9 by", &["by how many"]);
}

#[test]
fn assertions_compare_values_of_one_kind() {
    passes("assert cwnd == 2000, cwnd != 1, cwnd < 2001, cwnd <= 2000, cwnd > 1_999, cwnd >= 2000");
    passes("assert rto == 1s, rto > 999ms, srtt == none, rto != none, in_recovery == false");
    for wrong in ["cwnd == 1", "cwnd != 2000", "cwnd < 2000", "cwnd > 2000", "rto <= 999ms"] {
        fails(&format!("assert {wrong}"), &["expected", "got"]);
    }
    for other_kind in ["cwnd < 3s", "cwnd != 3s", "srtt < 3s", "srtt >= 3s", "in_recovery > 0"] {
        fails(&format!("assert {other_kind}"), &["expected", "got"]);
    }
    fails("assert speed == 3", &["\"speed\" cannot be read"]);
    fails("assert cwnd = 3", &["\"=\" is not a comparison"]);
    fails("assert cwnd 3", &["is not like"]);
    fails("assert", &["is not an action"]);
}

#[test]
fn events_are_asked_for_one_after_the_other() {
    let text = "config handshake=three-way\n< syn\n> syn ack 1\n< request 1 ack 1\n";
    passes(&format!("{text}event established\nevent request"));
    fails(&format!("{text}event request"), &["expected  request", "established before it"]);
    fails(&format!("{text}event established\nevent timeout"), &["request before it"]);
    passes("event none\n< data 1:2\n> ack 2\nevent none");
    fails(&format!("{text}event established\nevent none"), &["no event", "[\"request\"]"]);
    let text = "write 1\n> data 1:2\n+1s > data 1:2 rtx\n";
    passes(&format!("{text}event timeout kind == data, head_end == 2, advised == false"));
    fails(&format!("{text}event timeout kind == request"), &["got       kind == data"]);
    fails(&format!("{text}event timeout colour == 1"), &["\"colour\" cannot be read"]);
    fails("< data 1:2\n> ack 2\nevent received", &["expected  received", "no event"]);
}

#[test]
fn what_arrives_repeats_the_last_ack_and_window() {
    passes(
        "write 2000\n> data 1:2001 by 1000\n< ack 1001 win 3000\n< data 1:2\n> ack 2
         assert una == 1001\nwrite 5000\n> data 2001:4001 by 1000",
    );
}

#[test]
fn a_script_must_be_readable() {
    let parse = |text: &str| Script::parse("test.pkt", text).unwrap_err().to_string();
    assert!(parse("write 1000").contains("its claim"));
    assert!(parse("# A claim.\n\n").contains("nothing happens"));
    for (line, problem) in [
        ("jump 3", "is not an action"),
        ("write", "is not an action"),
        ("write much", "is not a number"),
        ("+1ms", "nothing happens at that time"),
        ("+1 write 1", "unit is missing"),
        ("+1ms~2ms > ack 1", "lacks its +"),
        ("+2ms~+1ms > ack 1", "ends before it starts"),
        ("+1ms~+2ms write 1", "range of times"),
        ("<", "a packet is expected"),
        ("< ack", "has no value"),
        ("< data 5", "is not a pair"),
        ("< data 5:1", "ends before it starts"),
        ("< colour 1", "is not a field"),
        ("< ack 1 xy", "is not a number"),
        ("config mss", "is not key=value"),
        ("config speed=1", "is not a setting"),
        ("config rto.speed=1s", "is not a setting"),
        ("config rto.min=1", "unit is missing"),
        ("config recovery.speed=1", "unknown field"),
        ("config recovery.exit=soon", "unknown variant"),
        ("config handshake=two-way", "unknown variant"),
        ("config idle_restart=793", "unknown variant"),
        ("config role=client", "neither opener nor acceptor"),
        ("config delayed_ack=40ms", "is not like 2/40ms"),
        ("config initial_window=4miles", "4miles"),
        ("write 1\nconfig mss=5", "before everything else"),
    ] {
        let text = parse(&format!("# A claim.\n{line}"));
        assert!(text.contains(problem), "{line}: {problem:?} is not in:\n{text}");
    }
}

#[test]
fn every_setting_reaches_the_connection() {
    passes("config mss=500 header=52 initial_window=1seg\nwrite 501\n> data 1:501 header 52");
    passes("config ack_size=66\n< data 1:2\n> ack 2 header 66");
    passes("config initial_ssthresh=3seg\nassert ssthresh == 3000");
    passes("config mss=10 receive_window=2seg\n< data 1:2\n> ack 2 win 20");
    passes("config syn_rto=7s role=opener handshake=three-way\nopen\n> syn\nassert deadline == 7s");
    passes(
        "config rto_after_syn_loss=5s role=opener handshake=three-way
         open\n> syn\n+1s > syn\n< syn ack 1\n> ack 1\nassert rto == 5s",
    );
    let first =
        |seed| failure(&format!("config send_jitter=1ms seed={seed}\nwrite 1\n+9ms > ack 1"));
    assert_ne!(first(1), first(2));
}
