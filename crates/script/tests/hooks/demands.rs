//! Demands of hooks on their connection.

use incast_tcp::hooks::{Advice, Copies};

use super::{Sender, with};

#[test]
fn copies_of_the_head_or_the_highest_segment_leave_at_once() {
    let copies = |copies| Sender::at(3, Advice { copies, ..Advice::NONE });
    let start = "write 3000\n> data 1:2001 by 1000\n";
    with(
        copies(Copies::HEAD),
        &format!("{start}+3ms > data 1:1001 rtx\nassert cwnd == 2000, flight == 2000"),
    );
    with(copies(Copies::HIGHEST), &format!("{start}+3ms > data 1001:2001 rtx"));
    with(
        copies(Copies::HEAD.union(Copies::HIGHEST)),
        &format!("{start}+3ms > data 1:1001 rtx\n> data 1001:2001 rtx"),
    );
    with(copies(Copies::HEAD), "write 100\n> data 1:101\n< ack 101\n+1s > nothing");
}

#[test]
fn rfc6298_3_a_copy_is_no_sample() {
    for (sampling, copies, copied) in [
        ("per-ack", Copies::HEAD, "1:1001"),
        ("per-window", Copies::HEAD, "1:1001"),
        ("per-ack", Copies::HIGHEST, "1001:2001"),
    ] {
        with(
            Sender::at(3, Advice { copies, ..Advice::NONE }),
            &format!(
                "config rtt_sampling={sampling}
                 write 2000
                 > data 1:2001 by 1000
                 +3ms > data {copied} rtx
                 +7ms < ack 2001
                 assert srtt == none",
            ),
        );
    }
    // A copy of another segment does not affect the timed segment.
    with(
        Sender::at(3, Advice { copies: Copies::HIGHEST, ..Advice::NONE }),
        "config rtt_sampling=per-window
         write 2000
         > data 1:2001 by 1000
         +3ms > data 1001:2001 rtx
         +7ms < ack 1001
         assert srtt == 10ms",
    );
}

#[test]
fn a_copy_is_told_from_a_regular_retransmission() {
    let hook = Sender {
        shape: Box::new(|_, plan| Advice { label: u16::from(plan.requested), ..Advice::NONE }),
        ..Sender::at(3, Advice { copies: Copies::HEAD, ..Advice::NONE })
    };
    with(
        hook,
        "write 1000
         > data 1:1001
         +3ms > data 1:1001 rtx label 1
         +997ms > data 1:1001 rtx",
    );
}

#[test]
fn enter_recovery_does_not_wait_for_three_duplicates() {
    with(
        Sender::on(|_, view| Advice { enter_recovery: view.dupacks == 1, ..Advice::NONE }),
        "config initial_window=6seg limited_transmit=false
         write 6000
         > data 1:6001 by 1000
         +1ms < ack 1
         > data 1:1001 rtx
         assert in_recovery == true, ssthresh == 3000, cwnd == 3000
         event fast-retransmit
         +1ms < ack 6001
         assert in_recovery == false",
    );
    with(
        Sender::at(3, Advice { enter_recovery: true, ..Advice::NONE }),
        "+3ms > nothing\nassert in_recovery == false, ssthresh == 1073741824",
    );
}

#[test]
fn restart_window_falls_back_to_the_initial_window() {
    with(
        Sender::at(20, Advice { restart_window: true, ..Advice::NONE }),
        "config initial_ssthresh=9seg
         write 4000
         > data 1:2001 by 1000
         +1ms < ack 1001
         > data 2001:4001 by 1000
         < ack 4001
         assert cwnd == 4000
         +19ms assert cwnd == 2000, ssthresh == 9000",
    );
}

#[test]
fn expire_timer_acts_as_a_timeout() {
    for (keep_rto, rto) in [(false, "2s"), (true, "1s")] {
        let advice = Advice { expire_timer: true, keep_rto, ..Advice::NONE };
        with(
            Sender::at(3, advice),
            &format!(
                "config initial_window=6seg
                 write 6000
                 > data 1:6001 by 1000
                 +3ms > data 1:1001 rtx
                 assert cwnd == 1000, ssthresh == 3000, rto == {rto}, deadline == {rto}
                 event timeout advised == true, flight == 6000",
            ),
        );
        with(Sender::at(3, advice), "+1s > nothing\nassert rto == 1s, cwnd == 2000");
    }
}

#[test]
fn expire_timer_keeps_what_else_is_owed() {
    let advice = Advice { expire_timer: true, copies: Copies::HIGHEST, ..Advice::NONE };
    with(
        Sender::at(3, advice),
        "write 2000
         > data 1:2001 by 1000
         +3ms > data 1001:2001 rtx
         > data 1:1001 rtx
         > nothing",
    );
}

#[test]
fn empty_probe_is_a_labelled_packet_without_data() {
    with(
        Sender::at(3, Advice { empty_probe: 4, ..Advice::NONE }),
        "write 1000\n> data 1:1001\n+3ms > ack 1 label 4 seq 1001 header 40\n> nothing",
    );
}

#[test]
fn end_again_is_the_fin_or_an_empty_packet_where_there_is_none() {
    let hook = || Sender::at(3, Advice { end_again: 4, ..Advice::NONE });
    with(hook(), "write 1000\n> data 1:1001\n+3ms > ack 1 label 4 seq 1001 header 40\n> nothing");
    let closed = "config fin=true\nwrite 1000\n> data 1:1001\nclose\n> data 1001:1001 fin\n";
    with(
        hook(),
        &format!(
            "{closed}+3ms > data 1001:1001 fin rtx header 40
             assert flight == 1001, data_packets == 3, retransmitted_packets == 1
             +7ms < ack 1002
             assert srtt == 10ms, drained == true",
        ),
    );
    // A FIN that waits for the window is not sent early. A FIN that has arrived is not sent again.
    with(
        hook(),
        "config fin=true
         write 3000
         > data 1:2001 by 1000
         close
         +3ms > ack 1 label 4 seq 2001",
    );
    with(hook(), &format!("{closed}+1ms < ack 1002\n+1s > nothing"));
}
