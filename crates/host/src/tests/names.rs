use incast_net::{RouteId, Trigger};

use crate::EndId;
use crate::cause::Cause;
use crate::milestone::EventKind;
use crate::stalls::StallCause;

#[test]
fn an_end_has_the_number_of_the_route_on_which_it_sends() {
    for (end, number, flow, is_server) in [
        (EndId::server(0), 0, 0, true),
        (EndId::client(0), 1, 0, false),
        (EndId::server(7), 14, 7, true),
        (EndId::client(7), 15, 7, false),
    ] {
        assert_eq!((end.0, end.flow(), end.is_server()), (number, flow, is_server));
        assert_eq!(end.route(), RouteId::new(flow, is_server));
    }
    assert_eq!(EndId::server(7).peer(), EndId::client(7));
    assert_eq!(EndId::client(7).peer(), EndId::server(7));
}

#[test]
fn causes_of_timeouts_and_stalls_have_the_names_of_columns() {
    let causes = [
        Cause::Handshake,
        Cause::Spurious,
        Cause::AckLoss,
        Cause::LostRetransmission,
        Cause::FullWindow,
        Cause::Tail,
        Cause::LackOfDupacks,
    ];
    let names = [
        "handshake",
        "spurious",
        "ack_loss",
        "lost_retransmission",
        "full_window",
        "tail",
        "lack_of_dupacks",
    ];
    assert_eq!(causes.map(Cause::name), names);
    let names = [
        "timeout",
        "tail_probe",
        "handshake",
        "pacer",
        "persist",
        "delayed_ack",
        "application",
        "network",
    ];
    assert_eq!(StallCause::ALL.map(StallCause::name), names);
}

#[test]
fn the_trigger_of_a_packet_is_the_cause_of_the_stall_that_it_ends() {
    let triggers = [
        (Trigger::Arrival, StallCause::Network),
        (Trigger::Timeout, StallCause::Timeout),
        (Trigger::TailProbe, StallCause::TailProbe),
        (Trigger::Handshake, StallCause::Handshake),
        (Trigger::Pacer, StallCause::Pacer),
        (Trigger::Persist, StallCause::Persist),
        (Trigger::DelayedAck, StallCause::DelayedAck),
        (Trigger::Application, StallCause::Application),
    ];
    for (trigger, cause) in triggers {
        assert_eq!(StallCause::from(trigger), cause);
    }
}

#[test]
fn events_have_names() {
    let names = [
        (EventKind::BlockStart, "block_start"),
        (EventKind::Request, "request"),
        (EventKind::FlowDone, "flow_done"),
        (EventKind::BlockDone, "block_done"),
        (EventKind::Timeout, "timeout"),
        (EventKind::TailProbe, "tail_probe"),
        (EventKind::Stall, "stall"),
        (EventKind::FastRetransmit, "fast_retransmit"),
        (EventKind::RecoveryExit, "recovery_exit"),
        (EventKind::Drop, "drop"),
        (EventKind::LinkIdle, "link_idle"),
        (EventKind::LinkBusy, "link_busy"),
    ];
    for (kind, name) in names {
        assert_eq!(kind.name(), name);
    }
}
