//! Remedies in a scenario: by name, by table, as a transport; conflicts.

use serde_json::{Value, json};

use super::super::{Scenario, ScenarioError};
use super::OfTcp;

fn load(document: &Value) -> Result<Scenario, ScenarioError> {
    Scenario::from_document(document)
}

fn with_transport(transport: &Value) -> Value {
    json!({
        "workload": { "servers": 4, "sru": "64KiB" },
        "transport": transport,
    })
}

fn error(document: &Value) -> String {
    load(document).expect_err("it is invalid").to_string()
}

#[test]
fn a_remedy_is_named_in_a_list_or_as_the_transport() {
    let listed = load(&with_transport(&json!({ "remedies": ["fine-rto"] }))).unwrap();
    let named = load(&with_transport(&json!("fine-rto"))).unwrap();
    assert_eq!(listed.transport.remedies(), named.transport.remedies());
    assert_eq!(listed.transport.of_tcp().rto, named.transport.of_tcp().rto);
    assert_eq!(named.transport.of_tcp().rto.min, incast_engine::Span::from_micros(200));
}

#[test]
fn a_list_of_remedies_stands_beside_a_remedy_s_name() {
    let names = |transport: &Value| -> Vec<_> {
        let scenario = load(&with_transport(transport)).unwrap();
        assert_eq!(load(&scenario.resolved()).unwrap().resolved(), scenario.resolved());
        scenario.transport.remedies().iter().map(incast_remedies::RemedyConfig::name).collect()
    };
    assert_eq!(names(&json!({ "name": "ocs", "remedies": [] })), ["ocs"]);
    assert_eq!(names(&json!({ "name": "ocs", "remedies": ["fine-rto"] })), ["ocs", "fine-rto"]);
    assert_eq!(names(&json!({ "name": "ocs", "remedies": ["fine-rto", "ocs"] })).len(), 2);
    assert_eq!(names(&json!({ "name": "newreno", "remedies": [] })), [""; 0]);
    let adaptive = json!({ "name": { "name": "ocs", "adaptive": true }, "remedies": [] });
    let adaptive = load(&with_transport(&adaptive)).unwrap().resolved();
    assert_eq!(adaptive["transport"]["remedies"][0]["adaptive"], true);
}

#[test]
fn a_transport_s_name_may_be_a_table_with_the_parameters_of_its_part() {
    let resolved = |name: &Value| {
        let scenario = load(&with_transport(&json!({ "name": name, "mss": 1000 })));
        scenario.unwrap_or_else(|error| panic!("{name}: {error}")).resolved()["transport"].take()
    };
    let ocs = resolved(&json!({ "name": "ocs", "adaptive": true }));
    assert_eq!((&ocs["name"], &ocs["mss"]), (&json!("ocs"), &json!(1000)));
    assert_eq!(ocs["remedies"][0]["adaptive"], true);
    let dctcp = resolved(&json!({ "name": "dctcp", "g": 0.25 }));
    assert_eq!(
        (&dctcp["name"], &dctcp["congestion_control"]["g"]),
        (&json!("dctcp"), &json!(0.25))
    );
    let swift = resolved(&json!({ "name": "swift", "target_ratio": 1.25 }));
    assert_eq!(swift["congestion_control"]["increase"], 0.1, "what else the preset says stays");
    let newreno = resolved(&json!({ "name": "newreno", "careful": false }));
    assert_eq!(newreno["recovery"]["careful"], false);
    // Both parts of Reno have this name. The loss recovery takes precedence.
    assert_eq!(
        resolved(&json!({ "name": "reno", "careful": false }))["recovery"]["careful"],
        false
    );
    assert_eq!(resolved(&json!({ "name": "sack" })), resolved(&json!("sack")));
}

#[test]
fn parameters_beside_a_transport_s_name_are_refused_where_they_stand() {
    let told = |name: Value| error(&with_transport(&json!({ "name": name })));
    assert_eq!(
        told(json!({ "name": "dctcp", "gg": 1 })),
        "transport.name.gg: unknown key; did you mean \"g\"? \
         accepted: alpha, g, floor, react_at, byte_counting, ce_change"
    );
    assert_eq!(
        told(json!({ "name": "prob-rtx", "p": 2.0 })),
        "transport.name.p: 2 is out of range; must be 0 to 1"
    );
    assert_eq!(
        told(json!({ "name": "rack-tlp", "probe_rtts": "two" })),
        "transport.name.probe_rtts: \"two\" is not accepted; \
         write a whole number from 0 to 1000000000"
    );
    // The parameters are those of NewReno, which is the default.
    assert!(told(json!({ "g": 0.1 })).ends_with(
        "accepted: careful, impatient, exit, \
        restart_timer_on_entry, reduce_from, partial_acks, counts_reports"
    ));
    assert!(told(json!({ "name": 4 })).starts_with("transport.name: 4 is not accepted"));
    assert!(told(json!({ "name": "dtcp", "g": 0.1 })).starts_with("transport.name: \"dtcp\" is"));
    let mut ns2 = with_transport(&json!({ "name": { "name": "sack", "rescue": true } }));
    ns2["profile"] = json!("ns2");
    assert_eq!(
        error(&ns2),
        "transport.name: this profile has no part called \"sack\", so these parameters belong to \
         nothing; write them in recovery or congestion_control"
    );
    let mut background = with_transport(&json!("newreno"));
    background["background"] = json!([{
        "name": "long-flow", "transport": { "name": { "name": "dctcp", "g": 0.0 } },
    }]);
    assert_eq!(
        error(&background),
        "background.0.transport.name.g: 0 is out of range; must be above 0 and at most 1"
    );
}

#[test]
fn what_a_remedy_sets_beats_the_profile_and_its_parameters_decide() {
    let remedy = json!({ "name": "fine-rto", "min": "1ms", "jitter": 0.5 });
    let mut document = with_transport(&json!({ "remedies": [remedy, "prob-rtx"] }));
    document["profile"] = json!("rfc");
    let scenario = load(&document).unwrap();
    assert_eq!(scenario.transport.of_tcp().rto.min, incast_engine::Span::from_millis(1));
    assert!((scenario.transport.of_tcp().rto.jitter - 0.5).abs() < 1e-12);
    let again = load(&scenario.resolved()).unwrap();
    assert_eq!(again.resolved(), scenario.resolved());
}

#[test]
fn a_key_that_a_remedy_sets_cannot_be_given_another_value() {
    let document = with_transport(&json!({ "name": "fine-rto", "rto_min": "200ms" }));
    assert_eq!(
        error(&document),
        "transport.rto_min: \"0.2s\" is given, and the remedy \"fine-rto\" sets \"0.0002s\"; \
         leave it out, or change the remedy's parameters"
    );
}

#[test]
fn a_conflict_is_told_of_every_parameter_that_a_remedy_requires() {
    for (transport, told) in [
        (json!({ "name": "plato", "limited_transmit": false }), "limited_transmit: false"),
        (json!({ "name": "icat", "timestamps": false }), "timestamps: false"),
        (json!({ "name": "ia-tcp", "delayed_ack": true }), "delayed_ack: {"),
        (json!({ "name": "resize", "initial_window": 2 }), "initial_window: \"2920B\""),
        (json!({ "name": "efr", "recovery": "newreno" }), "recovery: {\"name\":\"newreno\""),
        (
            json!({ "name": "efr", "congestion_control": "reno" }),
            "congestion_control: {\"name\":\"reno\"",
        ),
        (
            json!({ "name": "efr", "congestion_control": { "name": "dctcp", "g": 0.5 } }),
            "congestion_control: {\"name\":\"dctcp\",\"alpha\":1.0,\"g\":0.5",
        ),
    ] {
        let message = error(&with_transport(&transport));
        assert!(message.starts_with(&format!("transport.{told}")), "{message}");
        assert!(message.contains(" is given, and the remedy "), "{message}");
    }
    // A flow of the background has its own remedies.
    let mut document = with_transport(&json!("newreno"));
    document["background"] = json!([{
        "name": "long-flow", "transport": { "name": "fine-rto", "rto_min": "1s" },
    }]);
    let message = error(&document);
    assert!(message.starts_with("background.0.transport.rto_min: \"1s\" is given"), "{message}");
}

#[test]
fn what_is_given_and_what_a_remedy_requires_may_be_the_same() {
    for transport in [
        json!({ "name": "fine-rto", "rto_min": "0.2ms" }),
        json!({ "name": "resize", "initial_window": "100B" }),
        json!({ "name": "efr", "congestion_control": "dctcp", "recovery": "efr" }),
        json!({ "name": "efr", "congestion_control": { "g": 0.0625, "name": "dctcp" } }),
        json!({ "name": { "name": "efr", "marks": "first" }, "recovery": "efr" }),
    ] {
        assert!(load(&with_transport(&transport)).is_ok(), "{transport}");
    }
}

#[test]
fn timestamps_that_a_remedy_requires_lengthen_headers_that_are_not_given() {
    let sizes = |transport: Value| {
        let tcp = load(&with_transport(&transport)).unwrap().transport.of_tcp();
        (tcp.header, tcp.ack_size)
    };
    assert_eq!(sizes(json!("icat")), (52, 52));
    assert_eq!(sizes(json!({ "name": "icat", "header_size": 44 })), (44, 52));
    assert_eq!(sizes(json!({ "name": "icat", "timestamps": true })), (52, 52));
    assert_eq!(sizes(json!({ "name": { "name": "icat", "timestamps": false } })), (40, 40));
}

#[test]
fn remedies_that_own_the_same_part_do_not_combine() {
    let document = with_transport(&json!({ "remedies": ["prob-rtx", "prob-rtx"] }));
    assert_eq!(
        error(&document),
        "transport.remedies: \"prob-rtx\" and \"prob-rtx\" do not combine: the remedy is given \
         twice"
    );
}

#[test]
fn an_unknown_remedy_and_a_bad_parameter_are_refused_with_their_place() {
    let unknown = error(&with_transport(&json!({ "remedies": ["fine-rot"] })));
    assert!(unknown.starts_with("transport.remedies.0.name: \"fine-rot\" is unknown"), "{unknown}");
    assert!(unknown.contains("fine-rto"), "{unknown}");
    let remedy = json!({ "name": "prob-rtx", "p": 2.0 });
    assert_eq!(
        error(&with_transport(&json!({ "remedies": [remedy] }))),
        "transport.remedies.0.p: 2 is out of range; must be 0 to 1"
    );
}

#[test]
fn one_remedy_may_order_the_requests_and_keep_the_timer() {
    let pair = |one: Value, other: Value| with_transport(&json!({ "remedies": [one, other] }));
    assert_eq!(
        error(&pair(json!("ccs"), json!("ocs"))),
        "transport.remedies: \"ccs\" and \"ocs\" do not combine: both control the order of requests"
    );
    assert!(load(&pair(json!("ocs"), json!("fine-rto"))).is_ok());
    let adaptive = json!({ "name": "ocs", "adaptive": true, "rto_min": "1ms" });
    assert_eq!(
        error(&pair(adaptive.clone(), json!("fine-rto"))),
        "transport.remedies: \"ocs\" and \"fine-rto\" do not combine: both control the \
         retransmission timer"
    );
    let scenario = load(&with_transport(&json!({ "remedies": [adaptive] }))).unwrap();
    assert_eq!(scenario.transport.of_tcp().rto.min, incast_engine::Span::from_millis(1));
}

#[test]
fn parameters_of_serialisation_that_make_no_sense_are_refused() {
    for (remedy, told) in [
        (json!({ "name": "nccs", "k": 0 }), "k: 0 is out of range; must be 1 to 1000000000"),
        (
            json!({ "name": "ccs", "observed": 0 }),
            "observed: 0 is out of range; must be 1 to 1000000000",
        ),
        (json!({ "name": "ocs", "full": 2.0 }), "full: 2 is out of range; must be 0 to 1"),
        (
            json!({ "name": "ocs", "round_trips": 0 }),
            "round_trips: 0 is out of range; must be 1 to 1000000000",
        ),
    ] {
        let document = with_transport(&json!({ "remedies": [remedy] }));
        assert_eq!(error(&document), format!("transport.remedies.0.{told}"));
    }
}

#[test]
fn a_long_flow_has_no_requests_to_order() {
    let mut document = with_transport(&json!("newreno"));
    document["background"] = json!([{
        "name": "long-flow", "count": 1, "transport": { "remedies": ["ocs"] },
    }]);
    assert_eq!(
        error(&document),
        "background.0.transport.remedies: \"ocs\" controls the order of requests, and \
         \"long-flow\" has no requests"
    );
}

#[test]
fn a_remedy_brings_its_switch_and_says_which_it_needs() {
    for (name, queue) in
        [("plato", "label-threshold"), ("efr", "ecn-threshold"), ("rapid", "rapid")]
    {
        let scenario = load(&with_transport(&json!(name))).unwrap();
        assert_eq!(json!(scenario.network.queue)["name"], queue);
        let mut document = with_transport(&json!(name));
        document["network"]["queue"] = json!("drop-tail");
        let message = error(&document);
        assert!(message.starts_with("network.queue: \"drop-tail\" "), "{message}");
        assert!(message.contains(queue), "{message}");
    }
    let both = error(&with_transport(&json!({ "remedies": ["plato", "efr"] })));
    assert!(both.contains("\"plato\" and \"efr\" do not combine"), "{both}");
    assert!(load(&with_transport(&json!({ "remedies": ["efr", "fine-rto"] }))).is_ok());
    let mut wred = with_transport(&json!("plato"));
    wred["network"]["queue"] = json!({ "name": "wred", "classes": [{ "label": 1 }] });
    assert!(load(&wred).is_ok(), "{}", error(&wred));
    let mut push_out = with_transport(&json!("plato"));
    push_out["network"]["queue"] = json!("push-out");
    assert!(load(&push_out).is_ok(), "{}", error(&push_out));
    push_out["network"]["queue"] = json!({ "name": "push-out", "label": 2 });
    assert!(error(&push_out).contains("\"push-out\""), "{}", error(&push_out));
}
