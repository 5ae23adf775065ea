//! Every script of `scripts/` is a test of its own.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use incast_script::Script;

fn run(name: &str, text: &str) {
    if let Err(failure) = Script::parse(name, text).and_then(|script| script.run()) {
        panic!("{failure}");
    }
}

macro_rules! scripts {
    ($($behaviour:ident { $($name:ident)+ })+) => {
        $(mod $behaviour {
            $(#[test]
            fn $name() {
                let path = concat!("scripts/", stringify!($behaviour), "/", stringify!($name), ".pkt");
                super::run(path, include_str!(concat!(
                    "../scripts/", stringify!($behaviour), "/", stringify!($name), ".pkt"
                )));
            })+
        })+

        const LISTED: &[&str] = &[$($(
            concat!(stringify!($behaviour), "/", stringify!($name), ".pkt"),
        )+)+];
    };
}

#[test]
fn every_script_in_the_folder_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let entries = |path: &Path| -> Vec<_> {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut found: Vec<String> = entries(&folder)
        .iter()
        .flat_map(|behaviour| entries(behaviour))
        .map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/"))
        .collect();
    found.sort();
    let mut listed = LISTED.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

scripts! {
    adaptive_pacing {
        a_fast_retransmit_does_not_wait
        a_timeout_tells_of_others
        without_a_spread_only_the_window_counts
        zou_alone_a_window_is_spread_over_the_round_trip
        zou_among_many_distances_are_longer_and_random
    }
    adaptive_rto {
        a_floor_below_the_rto_changes_nothing
        all_a_segment_that_was_sent_again_was_late
        hpc_5_2_short_round_trips_do_not_lower_the_floor
        hpc_5_2_the_floor_is_a_multiple_of_the_longest_round_trip
        karn_a_segment_that_was_sent_again_does_not_count
        the_backoff_doubles_the_floor
        timeouts_what_was_doubled_stays_doubled
        what_is_older_than_the_memory_is_forgotten
    }
    bbr {
        marks_do_not_matter
        section_4_1_1_the_first_sample
        section_4_2_3_3_a_timeout_leaves_one_segment
        section_4_3_2_startup_paces_the_initial_window
        section_4_3_5_an_idle_time_does_not_call_for_probe_rtt
        section_4_3_5_probe_rtt_holds_four_segments
    }
    bic {
        a_timeout_leaves_one_segment
        beyond_the_last_maximum_it_grows_ever_faster
        bic04_3_a_step_is_bounded
        bic04_3_the_search_halves_what_is_left
        fast_convergence_aims_below_the_window_at_the_loss
        linux_a_small_window_is_halved
        linux_a_small_window_is_reno
        linux_an_ack_counts_for_nearly_two_segments
        linux_an_unused_window_does_not_grow
        linux_bictcp_cong_avoid_starts_slowly_with_ssthresh
        linux_bictcp_cong_avoid_takes_an_ack_more
        linux_bictcp_update_cuts_the_count_twice
        linux_bictcp_update_divides_whole_packets
        linux_bictcp_update_leaves_small_windows_without_the_ratio
        linux_the_last_segments_take_twenty_round_trips
        linux_without_a_maximum_it_grows_by_five_percent
        without_fast_convergence_the_window_at_the_loss_is_the_aim
    }
    byte_counting {
        rfc3465_2_1_a_loss_forgets_the_bytes_counted
        rfc3465_2_1_a_segment_when_a_window_was_acknowledged
        rfc3465_2_1_the_excess_counts_towards_the_next_segment
        rfc3465_2_2_a_split_ack_does_not_open_the_window
        rfc3465_2_3_at_most_a_segment_per_ack
    }
    congestion_avoidance {
        rfc5681_3_1_about_a_segment_per_round_trip
        rfc5681_3_1_grows_per_ack_not_per_byte
        rfc5681_3_1_less_than_a_byte_is_not_lost
    }
    cubic {
        linux_the_window_is_reduced_and_not_the_flight
        linux_bictcp_update_grows_blindly_in_the_reno_friendly_region_too
        linux_without_a_maximum_twenty_segments_add_one
        rfc9438_4_2_an_ack_adds_half_a_segment_at_most
        rfc9438_4_3_beyond_the_window_before_the_loss_alpha_is_one
        rfc9438_4_3_short_round_trips_grow_as_reno_would
        rfc9438_4_3_the_estimate_counts_segments_and_not_acks
        rfc9438_4_4_the_window_nears_its_last_maximum
        rfc9438_4_5_beyond_the_last_maximum_the_curve_turns_up
        rfc9438_4_6_an_echo_leaves_seven_tenths
        rfc9438_4_6_an_echo_may_leave_one_segment
        rfc9438_4_6_the_flight_is_reduced_and_not_the_window
        rfc9438_4_7_a_smaller_maximum_is_taken_for_yet_smaller
        rfc9438_4_7_fast_convergence_can_be_switched_off
        rfc9438_4_8_a_timeout_keeps_seven_tenths_as_threshold
        rfc9438_4_8_after_a_timeout_the_stage_begins_on_the_plateau
        rfc9438_4_9_1_a_premature_timeout_gives_the_curve_back
        rfc9438_5_8_a_rest_is_no_time_of_the_curve
        rfc9438_5_8_an_unused_window_does_not_grow
        without_the_reno_friendly_region_the_curve_decides
    }
    dctcp {
        alpha_and_g_are_parameters
        d2tcp_close_to_its_deadline
        d2tcp_far_from_its_deadline
        d2tcp_the_clock_starts_with_the_block
        d2tcp_urgency_is_time_needed_over_time_left
        d2tcp_without_a_deadline_is_dctcp
        l2dct_a_young_block_keeps_its_window
        l2dct_an_old_block_yields
        l2dct_the_weight_falls_in_proportion
        linux_a_window_of_bytes_adds_a_segment
        linux_first_echo_reduces_at_once
        linux_the_floor_is_two_segments
        rfc8257_3_3_alpha_after_the_first_windows
        rfc8257_3_3_alpha_follows_the_fraction_of_bytes
        rfc8257_3_3_marks_count_during_recovery
        rfc8257_3_3_one_reduction_per_window
        rfc8257_3_3_the_window_shrinks_by_half_of_alpha
        rfc8257_3_4_a_mark_ends_slow_start
        rfc8257_3_5_a_loss_halves_and_leaves_alpha
        rfc8257_3_5_a_timeout_leaves_one_segment
        rfc8257_3_5_one_reduction_across_all_signals
        the_floor_is_a_parameter
    }
    dctcp_receiver {
        alizadeh_figure_10_only_what_was_held_is_flushed
        rfc8257_3_2_a_gap_is_acknowledged_at_once_with_its_mark
        rfc8257_3_2_every_ack_tells_of_its_packet
        rfc8257_3_2_one_ack_covers_what_was_held
        rfc8257_3_2_one_ack_when_none_was_held
        rfc8257_3_2_the_timer_sends_the_state
        rfc8257_3_2_two_acks_when_marks_begin
        rfc8257_3_2_two_acks_when_marks_end
        rfc8257_3_2_while_the_state_holds_every_mth_packet
        the_ack_held_back_advertises_the_same_edge
    }
    delayed_ack {
        linux_a_duplicate_brings_quick_acks_back
        linux_the_first_segments_are_acknowledged_at_once
        rfc1122_4_2_3_2_data_carry_the_ack
        rfc1122_4_2_3_2_the_timer_ends_the_delay
        rfc5681_4_2_a_duplicate_is_not_delayed
        rfc5681_4_2_every_second_segment
        rfc5681_4_2_filling_a_gap_is_not_delayed
        rfc5681_4_2_out_of_order_data_are_not_delayed
    }
    dupack_rule {
        a_label_does_not_matter
        an_answer_to_a_probe_is_no_duplicate
        ns2_the_window_does_not_matter
        rfc5681_2_a_changed_window_is_no_duplicate
        rfc5681_2_syn_and_fin_are_no_duplicates
        rfc5681_3_2_the_threshold_is_a_parameter
    }
    early_retransmit {
        off_waits_for_the_timer
        rfc5827_3_1_bytes_count_small_segments_together
        rfc5827_3_2_four_segments_need_three
        rfc5827_3_2_segments_are_counted_one_by_one
        rfc5827_3_2_three_segments_need_two_duplicates
        rfc5827_3_2_two_segments_need_one
        rfc5827_3_new_data_come_first
        rfc5827_3_reno_too
        rfc5827_3_the_advertised_window_may_forbid_new_data
        rfc5827_3_with_sack_the_reported_segments_count
    }
    ecn {
        data_a_retransmission_may_be_capable
        off_ignores_marks_and_echoes
        rfc3168_6_1_1_the_handshake_is_not_capable
        rfc3168_6_1_2_an_echo_halves_the_window_once
        rfc3168_6_1_2_an_echo_in_the_next_window_halves_again
        rfc3168_6_1_2_an_echo_on_a_duplicate_counts
        rfc3168_6_1_2_cwr_after_a_fast_retransmit
        rfc3168_6_1_2_cwr_after_a_timeout
        rfc3168_6_1_2_no_growth_by_an_echo
        rfc3168_6_1_3_data_carry_the_echo
        rfc3168_6_1_3_the_echo_lasts_until_cwr
        rfc3168_6_1_4_acks_are_not_capable
        rfc3168_6_1_5_a_retransmission_is_not_capable
        rfc3168_6_1_6_a_window_probe_is_not_capable
        rfc3168_err3639_cwr_is_heard_before_the_mark
        rfc8257_3_6_everything_may_be_capable
    }
    efr {
        a_second_duplicate_may_be_the_marked_one
        after_an_early_retransmission_later_duplicates_inflate
        after_an_early_retransmission_three_may_have_arrived
        dupack_reaction_four_outstanding_are_too_many
        dupack_reaction_many_outstanding_wait_for_three
        dupack_reaction_up_to_three_outstanding
        dupack_reaction_without_new_data_the_timer_is_left
        each_duplicate_counts_by_its_own_mark
        figure_4a_a_marked_duplicate_with_few_outstanding
        figure_4b_unmarked_duplicates_release_new_packets
        outstanding_may_be_less_what_duplicates_say_has_arrived
        pkt_control_1_a_marked_duplicate_reduces_once
        pkt_control_1_no_loss_after_all
        pkt_control_1_to_the_letter
        pkt_control_2_an_unmarked_duplicate_leaves_the_window
        pkt_control_3_a_marked_ack_reduces_once_per_window
        pkt_control_3_to_the_letter
        pkt_control_4_a_timeout_is_newreno_s
        the_first_mark_may_hold_for_all
    }
    fast_recovery {
        ns2_exit_keeps_the_deflated_window
        rfc5681_3_2_every_further_duplicate_inflates_the_window
        rfc6582_3_2_a_large_partial_ack_takes_from_the_window_itself
        rfc6582_3_2_a_partial_ack_deflates_by_what_it_covers
        rfc6582_3_2_a_partial_ack_retransmits_the_next_hole
        rfc6582_3_2_a_timeout_ends_recovery
        rfc6582_3_2_a_tiny_partial_ack_gives_no_segment_back
        rfc6582_3_2_data_sent_in_recovery_is_not_waited_for
        rfc6582_3_2_exit_to_ssthresh
        rfc6582_3_2_exit_to_the_flight
        rfc6582_3_2_exit_to_the_flight_is_bounded_by_ssthresh
    }
    fast_retransmit {
        ns2_slowdown_halves_the_window
        rfc5681_2_an_ack_below_the_greatest_is_no_duplicate
        rfc5681_2_an_ack_with_data_is_no_duplicate
        rfc5681_2_no_duplicate_without_outstanding_data
        rfc5681_3_1_eq4_ssthresh_is_at_least_two_segments
        rfc5681_3_1_eq4_the_flight_is_halved_not_the_window
        rfc5681_3_2_an_ack_of_new_data_forgets_duplicates
        rfc5681_3_2_data_within_the_window_is_part_of_the_flight
        rfc5681_3_2_limited_transmit_is_not_part_of_the_flight
        rfc5681_3_2_the_third_duplicate_retransmits_the_first_segment
    }
    fin {
        rfc5681_3_2_a_lost_segment_before_fin_is_repaired_fast
        rfc6298_5_4_a_full_segment_with_fin_fits_the_loss_window
        rfc6298_5_a_last_segment_keeps_its_fin
        rfc6298_5_a_lost_fin_is_sent_again
        rfc9293_3_10_7_4_a_received_fin_is_acknowledged
        rfc9293_3_6_after_everything_was_acknowledged
        rfc9293_3_6_alone_when_all_was_sent
        rfc9293_3_6_off_sends_none
        rfc9293_3_6_rides_on_the_last_segment
        rfc9293_3_8_6_1_waits_for_a_closed_window
        rfc9293_3_8_6_2_1_does_not_hold_back_data
    }
    gip {
        head_a_smaller_window_is_not_raised
        head_a_unit_begins_with_the_initial_window
        head_a_unit_may_follow_without_a_pause
        head_restart_may_be_off
        head_ssthresh_is_kept
        tail_a_copy_repairs_the_last_segment
        tail_a_lost_window_waits_for_the_timer
        tail_a_single_segment_waits_for_the_timer
        tail_all_at_once
        tail_an_ack_brings_a_copy_of_the_last_segment
        tail_at_once_a_single_segment_is_protected
        tail_copies_bring_the_duplicates_that_are_missing
        tail_each_unit_has_copies_of_its_own
        tail_no_copy_before_the_last_segment_has_left
        tail_no_copy_during_recovery
        tail_the_fin_is_copied_with_it
        the_receiver_answers_a_copy_at_once
    }
    handshake {
        a_later_request_travels_alone
        a_separate_request_has_a_timer
        data_with_the_first_ack_answer_the_request
        opening_twice_sends_one_syn
        rfc5681_3_1_a_syn_ack_repeated_for_a_second_syn_counts_as_lost
        rfc5681_3_1_after_a_lost_syn_ack_the_window_is_one_segment
        rfc5681_3_1_the_handshake_does_not_open_the_window
        rfc6298_3_the_acceptor_samples_its_syn_ack
        rfc6298_3_the_handshake_is_a_sample
        rfc6298_5_7_after_a_lost_syn_the_timeout_is_three_seconds
        rfc6298_5_a_lost_syn_ack_is_sent_again
        rfc6298_5_a_lost_syn_is_sent_again
        rfc9293_3_10_7_2_an_ack_does_not_open_a_listener
        rfc9293_3_10_7_3_an_ack_of_nothing_does_not_open
        rfc9293_3_10_7_3_the_syn_acks_window_limits_the_first_data
        rfc9293_3_10_7_4_a_repeated_syn_ack_is_acknowledged_again
        rfc9293_3_5_active_open
        rfc9293_3_5_passive_open
        rfc9293_3_5_the_last_ack_may_be_lost
        syn_only_the_acceptor_answers_with_an_ack
        syn_only_the_opener_sends_after_the_ack
        the_request_arrives_with_the_ack
        the_request_is_repeated_when_the_syn_ack_returns
        the_request_rides_on_the_last_ack
        without_a_handshake_both_ends_are_established
    }
    head_tail {
        again_a_lost_retransmission_is_copied
        again_a_partial_ack_begins_a_new_wait
        again_duplicates_do_not_make_it_wait
        head_a_copy_of_the_first_segment
        head_an_old_duplicate_is_no_evidence
        head_duplicates_make_it_a_recovery
        head_the_third_repair_is_a_copy_again
        head_without_an_answer_the_window_begins_anew
        inside_a_duplicate_makes_it_a_recovery
        inside_a_lost_window_begins_anew
        patience_is_in_round_trips
        restart_after_repairs
        restart_always
        restart_eight_units_are_cautious
        restart_never
        tail_a_probe_and_its_duplicate_begin_recovery
        tail_a_probe_repairs_the_last_segment
        tail_few_duplicates_are_enough
        tail_without_an_answer_the_window_begins_anew
        the_longest_round_trip_counts
        the_timer_takes_over
        the_wait_is_at_least_so_long
        without_a_round_trip_there_is_only_the_timer
    }
    header_compression {
        kulkarni_4_3_all_but_the_first_header
        kulkarni_4_3_both_ends_compress
        kulkarni_ideal_a_lost_segment_harms_nobody_else
        rfc1144_4_a_lost_segment_takes_the_next_ones_with_it
        rfc1144_4_what_does_not_continue_is_sent_in_full
        the_size_is_a_parameter
    }
    hystart {
        linux_a_gap_ends_the_train
        linux_a_long_train_of_acks_ends_slow_start
        linux_a_longer_round_trip_ends_slow_start
        linux_a_small_window_is_not_watched
        linux_an_unused_window_is_watched
        ns3_a_train_may_take_a_whole_round_trip
        off_watches_nothing
        rfc9406_4_2_a_longer_round_trip_makes_it_careful
        rfc9406_4_2_a_shorter_round_trip_resumes_slow_start
        rfc9406_4_2_an_ack_adds_eight_segments_at_most
        rfc9406_4_2_five_rounds_end_slow_start
        rfc9406_4_2_only_the_first_slow_start_is_watched
        rfc9406_4_2_seven_samples_do_not_decide
        rfc9406_4_3_less_than_four_milliseconds_mean_nothing
        rfc9406_4_3_sixteen_milliseconds_always_count
        rfc9438_4_10_cubic_leaves_slow_start_on_the_plateau
        the_least_increase_is_a_parameter
    }
    ia_tcp {
        a_request_waits_for_less_than_an_ack
        a_share_of_the_link_leaves_room_for_others
        an_ack_waits_from_when_it_is_ready
        duplicates_wait_like_all_others
        hwang_beyond_a_segment_each_acks_wait
        hwang_servers_share_the_path_by_windows
        in_turn_the_first_server_need_not_wait
        the_end_of_a_handshake_does_not_wait
    }
    icat {
        fin_a_receiver_of_the_rfc_answers_a_repeated_fin
        fin_a_whole_window_may_be_told_by_the_one_that_follows_it
        fin_and_timestamps_a_tail_whose_copy_is_lost_needs_no_timeout
        fin_is_repeated_for_every_ack_until_all_is_acknowledged
        fin_its_answers_are_the_duplicates_that_a_tail_lacks
        fin_off_says_nothing
        fin_per_round_trip_needs_no_ack
        fin_the_receiver_answers_an_empty_packet
        fin_without_one_an_empty_packet_takes_its_place
        timestamps_a_first_transmission_is_left_to_duplicates
        timestamps_a_lost_retransmission_is_repeated_at_once
        timestamps_an_echo_of_the_same_tick_tells_nothing
        timestamps_every_copy_is_judged_by_its_own_time
        timestamps_off_a_lost_retransmission_waits_for_the_timer
        timestamps_off_the_receiver_follows_the_rfc
        timestamps_the_clock_wraps
        timestamps_the_receiver_echoes_what_it_answers
        timestamps_what_a_timeout_sent_again_is_judged_too
    }
    ictcp {
        the_round_trip_is_measured_by_the_window
        wu_a_new_connection_gets_two_segments
        wu_no_growth_in_the_first_half_of_a_slot
        wu_nothing_left_of_the_link_nothing_to_hand_out
        wu_the_receive_buffer_is_still_the_limit
        wu_the_right_edge_is_never_taken_back
    }
    idle_restart {
        none_keeps_the_window
        rfc2861_3_a_full_window_is_not_reduced
        rfc2861_3_an_application_limited_window_is_validated
        rfc2861_3_halved_for_every_idle_timeout
        rfc2861_3_never_below_the_restart_window
        rfc2861_3_not_while_a_timeout_is_repaired
        rfc5681_4_1_a_smaller_window_stays
        rfc5681_4_1_not_within_a_timeout
        rfc5681_4_1_restart_after_more_than_a_timeout
        rfc7661_4_2_a_window_in_use_grows
        rfc7661_4_3_an_unused_window_does_not_grow
        rfc7661_4_4_1_a_loss_halves_what_was_in_use
        rfc7661_4_4_1_a_timeout_keeps_half_of_what_was_in_use
    }
    limited_transmit {
        ns2_a_duplicate_releases_what_a_timeout_called_back
        rfc3042_2_a_new_segment_for_each_of_two_duplicates
        rfc3042_2_leaves_with_the_last_bytes
        rfc3042_2_not_while_a_timeout_is_being_repaired
        rfc3042_2_off_waits_for_the_third_duplicate
        rfc3042_2_the_advertised_window_holds
        rfc3042_2_two_segments_whatever_the_threshold
        rfc3042_2_without_new_data_nothing_leaves
    }
    newreno_careful {
        ns3_what_duplicates_say_has_left_may_not_count
        rfc2582_5_less_careful_is_satisfied_with_just_recover
        rfc2582_5_less_careful_still_ignores_older_echoes
        rfc6582_3_2_a_loss_beyond_recover_is_new
        rfc6582_3_2_an_ack_of_just_recover_is_not_enough
        rfc6582_3_2_duplicates_after_a_timeout_are_echoes
        rfc6582_3_2_echoes_after_a_full_ack_do_not_reenter
    }
    newreno_timer {
        ns2_fast_retransmit_restarts_the_timer
        rfc5681_3_2_fast_retransmit_leaves_the_timer_alone
        rfc6582_4_impatient_restarts_at_the_first_partial_ack_only
        rfc6582_4_slow_but_steady_restarts_at_every_partial_ack
    }
    pacing {
        a_fast_retransmit_does_not_wait
        acks_are_not_paced
        after_a_timeout_the_first_segment_does_not_wait
        an_idle_time_earns_no_burst
        linux_slow_start_is_paced_at_twice_the_window
        linux_the_window_is_spread_over_a_round_trip
        sack_recovery_is_paced
        the_timer_belongs_to_waiting_data
        without_a_round_trip_nothing_is_paced
    }
    pac {
        bai_an_echo_ends_slow_start
        bai_marks_shrink_the_threshold
        bai_what_is_triggered_stays_within_the_threshold
        duplicates_count_and_keep_their_order
        marks_may_leave_the_threshold_alone
        the_last_acks_of_an_sru_trigger_nothing
        the_next_request_counts_the_window_that_is_left
        without_an_end_in_sight_every_ack_counts
    }
    plato {
        a_dummy_may_count_as_a_duplicate
        a_dummy_may_double_the_rto
        a_heartbeat_lost_in_one_block_returns_in_the_next
        a_lost_dummy_leaves_it_to_the_timer
        fig_3_a_lost_window_is_told_by_the_heartbeat
        fig_4_a_lost_tail_is_told_by_three_dummies
        fig_5_a_retransmission_has_priority
        fig_6_a_heartbeat_per_round_trip
        fig_7_a_timeout_leads_to_label
        fig_7_transient_to_wait_and_label
        fig_7_wait_to_arrested
        fig_8_a_pending_ack_restarts_the_heartbeat
        section_iii_a_a_labelled_segment_is_acknowledged_at_once
        section_iii_c_a_dummy_is_answered_and_discarded
        section_iii_c_a_dummy_may_get_an_ordinary_answer
        section_iii_c_an_old_dummy_does_not_count
        section_iii_c_no_dummies_when_all_is_acknowledged
        section_iii_c_recovery_calls_the_dummies_off
        section_iii_c_the_application_restarts_the_heartbeat
        section_iv_a_priority_alone_is_not_answered
        section_iv_a_with_one_bit_a_repair_starts_a_second_heartbeat
        section_iv_a_with_one_bit_a_retransmission_is_answered
        section_iv_a_with_one_bit_an_answer_is_an_ack_like_others
        the_handshake_may_have_priority
    }
    prob_rtx {
        algorithm_1_a_marked_copy_of_the_highest_segment
        algorithm_1_no_chance_no_copy
        algorithm_1_nothing_outstanding_nothing_to_copy
        algorithm_1_the_first_segment_as_the_other_reading
        algorithm_2_a_marked_duplicate_gets_its_normal_ack
        algorithm_2_a_retransmission_without_a_mark_gets_its_normal_ack
        algorithm_2_four_acks_for_a_marked_segment_not_seen_before
        algorithm_2_the_four_acks_are_not_delayed
        algorithm_3_a_lost_window_is_repaired_without_a_timeout
        algorithm_3_the_thread_may_go_on_at_once
        algorithm_3_the_thread_rests_during_recovery
        algorithm_3_two_duplicates_do_not_stop_the_thread
        the_timer_is_not_restarted_by_copies_and_the_thread_survives_it
    }
    prr {
        off_waits_for_half_of_the_flight
        rfc6937_3_a_partial_ack_is_no_news_of_what_duplicates_announced
        rfc6937_3_every_second_ack_releases_a_segment
        rfc6937_3_newreno_counts_duplicates
        rfc6937_3_the_conservative_bound_sends_what_arrived
        rfc6937_3_the_slow_start_bound_sends_one_more
        rfc8985_a_recovery_by_time_is_reduced_in_proportion
        rfc9937_6_2_one_more_only_on_a_safe_ack
    }
    rack {
        rfc5681_4_3_a_lost_retransmission_reduces_again
        rfc8985_4_adaptation_can_be_switched_off
        rfc8985_6_2_a_lost_retransmission_is_found
        rfc8985_6_2_a_quarter_of_a_round_trip_for_reordering
        rfc8985_6_2_a_reported_duplicate_doubles_the_window
        rfc8985_6_2_a_timestamp_tells_the_original_from_its_copy
        rfc8985_6_2_all_older_segments_are_lost_at_once
        rfc8985_6_2_an_ack_sooner_than_any_round_trip_is_of_the_original
        rfc8985_6_2_nothing_is_lost_before_something_has_arrived
        rfc8985_6_2_reordering_asks_for_patience
        rfc8985_6_2_the_fraction_is_a_parameter
        rfc8985_6_2_the_threshold_can_be_switched_off
        rfc8985_6_2_the_wider_window_is_forgotten
        rfc8985_6_2_three_segments_need_no_patience
        rfc8985_6_3_a_timeout_condemns_what_is_old
    }
    rapid {
        a_retransmission_at_the_end_keeps_its_label
        a_short_response_is_all_last
        the_last_three_segments_carry_the_label
        what_is_written_later_moves_the_end
        without_label_last_senders_do_nothing
    }
    receive {
        another_incarnation_is_ignored
        rfc5681_4_2_every_segment_is_acknowledged
        rfc5681_4_2_filling_a_gap_acknowledges_all
        rfc5681_4_2_out_of_order_data_bring_a_duplicate_ack
        rfc9293_3_10_7_4_a_duplicate_is_acknowledged_again
        rfc9293_3_10_7_4_a_segment_may_overlap
        rfc9293_3_10_7_4_beyond_the_window_nothing_is_taken
        rfc9293_3_4_the_two_directions_are_independent
        the_application_is_told_at_its_mark
    }
    receive_offload {
        a_full_collection_is_acknowledged_at_once
        a_gap_ends_the_collection
        delayed_acks_count_after_the_collection
        marks_end_a_collection
        one_ack_for_what_arrives_within_the_time
    }
    receive_window {
        rfc9293_3_10_7_4_an_ack_beyond_the_probe_is_dropped
        rfc9293_3_8_6_1_a_closed_window_is_probed
        rfc9293_3_8_6_1_a_probe_into_a_closed_window_is_answered
        rfc9293_3_8_6_1_a_probe_may_be_accepted
        rfc9293_3_8_6_1_a_write_into_a_closed_window_is_probed
        rfc9293_3_8_6_1_outstanding_data_keep_their_timer
        rfc9293_3_8_6_1_probes_do_not_back_off_the_timeout
        rfc9293_3_8_6_1_refused_probes_are_no_duplicates
        rfc9293_3_8_6_1_sending_resumes_after_a_refused_probe
        rfc9293_3_8_6_1_the_window_opens_before_a_probe
        rfc9293_3_8_6_2_1_a_partial_segment_waits_for_the_flight
        rfc9293_3_8_6_2_1_a_window_below_a_segment_is_used_when_idle
        rfc9293_3_8_6_2_1_the_right_edge_stays
        rfc9293_3_8_6_2_2_a_receiver_announces_an_open_window
        rfc9293_3_8_6_2_2_an_open_window_needs_no_announcement
        rfc9293_3_8_6_a_window_update_alone_releases_data
        rfc9293_3_8_6_the_sender_obeys_the_window
    }
    recovery_burst {
        ns2_a_duplicate_ack_releases_two_at_most
        ns2_a_partial_ack_releases_two_at_most
        ns2_the_end_of_recovery_lifts_the_bound
        unlimited_sends_what_the_window_allows
    }
    reno {
        bsd_a_careless_reno_halves_for_every_loss
        ns2_exit_keeps_the_window_and_grows_it
        rfc5681_3_2_duplicates_inflate_the_window
        rfc5681_3_2_the_first_new_ack_ends_recovery
        rfc5681_4_3_a_second_loss_waits_for_the_timer
    }
    resize {
        a_small_segment_sent_again_keeps_its_boundaries
        after_a_timeout_segments_stay_as_large_as_they_are
        algorithm_4_at_the_threshold
        algorithm_4_from_50_bytes_to_the_mss
        algorithm_4_the_window_in_bytes_is_invariant
        auto_after_a_loss_grows_at_the_window_that_was_too_large
        auto_first_segments_are_two_and_a_half_headers
        auto_follows_compressed_headers
        auto_grows_as_late_as_the_timer_allows
        auto_never_waits_for_fewer_than_100_segments_after_a_loss
        duplicates_do_not_resize
        never_more_than_the_mss
        text_beyond_the_threshold
    }
    rto {
        ns3_any_ack_of_new_data_ends_the_backoff
        kulkarni_the_number_of_doublings_is_bounded
        linux_the_minimum_is_under_the_variance
        ns2_a_fast_retransmit_backs_off
        ns2_a_repeated_timeout_lowers_ssthresh
        ns2_samples_are_whole_ticks
        ns2_the_timer_runs_idle
        ns2_two_ticks_at_least
        rfc5681_3_1_a_cumulative_ack_skips_what_has_arrived
        rfc5681_3_1_an_ack_within_a_segment
        rfc5681_3_1_another_segment_lowers_ssthresh_again
        rfc5681_3_1_go_back_n_after_a_timeout
        rfc5681_3_1_ssthresh_is_held_for_repeated_timeouts
        rfc6298_2_1_the_initial_timeout_before_any_sample
        rfc6298_2_2_the_first_sample
        rfc6298_2_3_later_samples
        rfc6298_2_3_the_granularity_is_a_least_variance
        rfc6298_2_4_the_minimum
        rfc6298_2_5_the_maximum_bounds_the_backoff
        rfc6298_3_a_fast_retransmit_stops_the_timing
        rfc6298_3_a_timeout_stops_the_timing
        rfc6298_3_karn_after_a_fast_retransmit
        rfc6298_3_karn_no_sample_of_a_retransmission
        rfc6298_3_one_segment_at_a_time
        rfc6298_5_1_the_first_segment_starts_the_timer
        rfc6298_5_2_the_timer_stops_when_all_is_acknowledged
        rfc6298_5_3_a_duplicate_ack_does_not_restart_the_timer
        rfc6298_5_3_new_data_acknowledged_restart_the_timer
        rfc6298_5_5_every_expiry_doubles_the_timeout
        rfc6298_5_a_late_ack_of_all_ends_the_repair
        rfc6298_5_the_backoff_ends_with_a_sample_only
        rfc9293_3_10_7_4_an_ack_of_unsent_data_changes_nothing
        vasudevan_jitter_extends_every_timeout
        ns2_begins_afresh_when_the_backoff_exceeds_8
    }
    sack {
        ns3_a_partial_ack_releases_a_segment_beside_the_pipe
        ns3_only_the_first_partial_ack_restarts_the_timer
        ns3_rule_3_may_go_beyond_what_has_arrived
        ns3_the_pipe_may_be_halved_instead_of_the_flight
        rfc6298_3_data_reported_before_give_no_sample
        rfc6298_5_3_a_duplicate_with_news_does_not_restart_the_timer
        rfc6675_2_an_ack_without_news_is_no_duplicate
        rfc6675_2_news_count_whatever_else_the_packet_says
        rfc6675_4_a_hole_with_little_above_it_is_not_lost
        rfc6675_4_holes_fill_the_pipe_when_nothing_is_new
        rfc6675_4_one_rescue_for_a_loss_at_the_end
        rfc6675_4_rule_3_can_be_switched_off
        rfc6675_4_the_rescue_is_no_news_for_the_pipe
        rfc6675_4_what_is_lost_goes_first
        rfc6675_5_1_a_lost_retransmission_waits_for_the_timer
        rfc6675_5_1_a_timeout_keeps_what_has_arrived
        rfc6675_5_1_no_recovery_within_the_repair_of_a_timeout
        rfc6675_5_a_cumulative_ack_forgets_duplicates
        rfc6675_5_a_recovery_ends_at_its_point
        rfc6675_5_c_recovery_sends_by_the_pipe
        rfc6675_5_enough_bytes_in_one_ack_begin_recovery
        rfc6675_5_limited_transmit_follows_the_pipe
        rfc6675_5_the_third_duplicate_begins_recovery
        rfc6675_5_without_limited_transmit_the_flight_decides
    }
    sack1 {
        ns2_all_holes_are_lost
        ns2_more_than_half_a_window_waits_for_the_timer
        ns2_no_recovery_within_the_repair_of_a_timeout
        ns2_recovery_ends_with_the_half_segment
        ns2_what_is_lost_stays_in_the_pipe
        rfc2018_8_a_timeout_forgets_what_has_arrived
    }
    sack_receiver {
        rfc2018_2_off_reports_nothing
        rfc2018_3_each_block_takes_eight_bytes
        rfc2018_3_three_blocks_at_most
        rfc2018_4_a_segment_beyond_the_window_is_not_reported
        rfc2018_4_data_carry_the_option_too
        rfc2018_4_the_first_block_holds_the_latest_segment
        rfc2018_4_what_is_acknowledged_is_not_reported
        rfc2883_4_1_1_a_duplicate_below_the_ack
        rfc2883_4_1_3_a_duplicate_of_held_data
        rfc2883_4_2_1_a_partial_duplicate
        rfc2883_5_without_the_extension_duplicates_are_not_told
        rfc6691_2_data_leave_room_for_the_option
    }
    segmentation_offload {
        a_burst_is_paced_as_one
        linux_a_full_burst_does_not_wait
        linux_a_third_of_the_window_is_worth_a_burst
        linux_nothing_outstanding_nothing_to_wait_for
        linux_recovery_does_not_defer
        linux_the_end_of_the_data_does_not_wait
    }
    send_jitter {
        ns2_a_timeout_is_delayed
        ns2_acks_are_not_delayed
        ns2_fast_retransmit_is_not_delayed
        ns2_overhead_delays_what_the_window_allows
        ns2_overhead_holds_within_the_window_after_a_duplicate
        ns2_overhead_waits_once
    }
    serialization {
        equation_6_five_packets_are_enough
        equation_6_four_packets_are_too_few_to_fill_the_window
        equation_9_a_window_of_four_repairs_a_loss_without_a_timeout
        equation_9_a_window_of_three_waits_for_the_timer
        figure_3_the_third_ack_of_the_fourth_round_trip_fills_the_window
        figure_8_a_client_connects_without_a_window_and_opens_it_later
        figure_8_a_server_with_a_window_of_zero_waits_for_the_update
        figure_8_a_window_that_opens_before_the_handshake_is_over_needs_no_update
        section_4_4_a_lost_update_is_made_good_by_the_first_probe
        section_4_4_a_window_grows_with_the_next_ack
        section_4_4_the_client_counts_what_has_been_delivered
        section_6_fine_timers_probe_closed_windows_often
    }
    slow_start {
        rfc5681_3_1_after_a_timeout_up_to_half_the_flight
        rfc5681_3_1_an_ack_of_two_segments_grows_by_one
        rfc5681_3_1_an_idle_sender_keeps_its_credit
        rfc5681_3_1_ends_at_ssthresh
        rfc5681_3_1_grows_by_a_segment_per_ack
        rfc5681_3_1_initial_window_limits_the_first_burst
        rfc9293_3_7_the_last_segment_may_be_short
    }
    swift {
        a_decrease_takes_half_at_most
        a_fast_retransmit_cuts_once
        a_segment_per_round_trip_below_the_target
        a_window_below_a_segment_is_a_distance
        after_a_timeout_an_ack_forgets_the_count
        at_most_one_decrease_per_round_trip
        below_a_segment_an_ack_adds_a_segment
        five_timeouts_leave_the_least_window
        flow_scaling_raises_the_target_of_small_windows
        hops_raise_the_target
        the_decrease_is_in_proportion
        the_target_follows_the_smallest_round_trip
    }
    tahoe {
        a_restart_is_a_fast_retransmit_and_no_timeout
        bsd_a_careless_tahoe_takes_echoes_for_losses
        jacobson88_several_losses_are_repaired_in_slow_start
        jacobson88_the_third_duplicate_restarts_slow_start
        ns2_an_idle_expiry_is_forgotten
        ns2_the_retransmission_takes_its_turn
        rfc6582_3_2_echoes_of_data_sent_twice_are_no_loss
    }
    tcp_fitdc {
        a_full_backlog_ends_slow_start
        a_full_backlog_stops_growth
        a_loss_halves_as_ever
        a_share_of_the_backlog_slows_growth
        after_a_timeout_the_old_delay_does_not_hold_slow_start
        an_ack_with_a_mark_adds_nothing
        marks_reduce_as_dctcp_s
        nothing_waits_it_adds_two_segments
        step_and_backlog_are_parameters
    }
    tdctcp {
        a_held_ack_leaves_after_a_round_trip
        a_held_ack_waits_for_some_round_trips
        a_long_round_trip_does_not_hold_acks_longer
        a_loss_halves_whatever_alpha_is
        congested_it_adds_a_segment_and_two_thirds
        dctcp_s_held_ack_waits_for_the_host_s_timer
        marks_take_half_of_alpha
        slow_start_is_that_of_dctcp
        the_smaller_reading_adds_less_than_a_segment
        without_a_round_trip_the_host_s_timer_holds
        without_congestion_it_adds_two_segments
    }
    timeout_report {
        a_trimmed_head_and_its_history
        abtt_the_first_window_of_a_block
        abtt_the_next_block_on_the_same_connection
        abtt_the_rest_of_the_first_window
        ibtt_a_write_behind_a_held_back_byte_continues_the_block
        ibtt_a_write_into_a_busy_connection_continues_the_block
        ibtt_after_the_first_window
    }
    timestamps {
        rfc7323_4_1_a_retransmission_can_be_measured
        rfc7323_4_1_no_sample_from_a_duplicate_ack
        rfc7323_4_1_the_clock_counts_whole_ticks
        rfc7323_4_1_the_clock_wraps
        rfc7323_4_1_the_echo_is_a_sample
        rfc7323_4_3_a_delayed_ack_echoes_the_earliest_segment
        rfc7323_4_3_a_segment_beyond_a_gap_is_not_echoed
        rfc7323_4_3_an_old_value_is_not_taken_back
        rfc7323_4_3_the_other_ends_clock_wraps
        rfc7323_4_3_the_receiver_echoes_the_segment_in_order
        rfc7323_4_3_the_segment_that_fills_a_gap_is_echoed
    }
    tlp {
        more_probes_if_asked_for
        off_leaves_the_tail_to_the_timer
        rfc8985_7_1_the_probe_reveals_a_lost_tail
        rfc8985_7_2_a_second_before_the_first_round_trip
        rfc8985_7_2_after_two_round_trips
        rfc8985_7_2_an_ack_of_new_data_starts_it_again
        rfc8985_7_2_never_after_the_timeout
        rfc8985_7_2_not_while_segments_are_reported
        rfc8985_7_2_one_segment_may_be_acknowledged_late
        rfc8985_7_2_the_receivers_delay_is_known
        rfc8985_7_3_new_data_are_the_better_probe
        rfc8985_7_3_one_probe_then_the_timer
        rfc8985_7_3_the_receivers_window_holds
        rfc8985_7_4_a_plain_duplicate_clears_the_path_too
        rfc8985_7_4_a_repaired_loss_reduces_the_window
        rfc8985_7_4_a_reported_duplicate_clears_the_path
        rfc8985_7_4_new_data_need_no_verdict
    }
    undo {
        none_sends_everything_again
        rfc3522_3_2_an_old_echo_tells_a_premature_timeout
        rfc3522_3_2_only_the_first_ack_counts
        rfc3522_3_2_the_retransmissions_echo_tells_a_genuine_one
        rfc4015_3_any_congestion_control_gets_its_state_back
        rfc5682_2_1_a_duplicate_first_means_a_genuine_timeout
        rfc5682_2_1_a_duplicate_second_means_a_genuine_timeout
        rfc5682_2_1_a_second_timeout_ends_the_examination
        rfc5682_2_1_an_ack_of_everything_tells_nothing
        rfc5682_2_1_duplicates_after_an_undo_count_again
        rfc5682_2_1_new_data_tell_a_premature_timeout
        rfc5682_2_1_the_advertised_window_may_forbid_new_data
        rfc5682_2_1_without_new_data_the_repair_goes_on
        rfc5682_3_1_rack_goes_on_as_if_nothing_had_been
        rfc5682_3_1_with_sack_duplicates_are_only_noted
        rfc5682_3_1_with_sack_news_of_new_data_alone_mean_loss
    }
    vegas {
        brakmo95_3_1_one_reduction_for_what_was_sent_before_it
        brakmo95_3_1_the_first_duplicate_may_tell
        brakmo95_3_1_the_second_duplicate_may_tell
        brakmo95_3_1_two_acks_after_a_retransmission_doubt_the_next_segment
        brakmo95_3_2_a_few_segments_in_queues_are_right
        brakmo95_3_2_a_long_queue_takes_a_segment
        brakmo95_3_2_an_empty_path_lets_the_window_grow
        brakmo95_3_3_slow_start_doubles_every_second_round_trip
        brakmo95_3_3_slow_start_ends_with_the_first_queue
        duplicates_after_a_timeout_are_echoes
        ns2_a_lost_retransmission_halves_the_window
        ns2_a_timeout_leaves_two_segments
        the_third_duplicate_tells_in_any_case
        the_window_after_a_timeout_is_a_parameter
    }
    westwood {
        grieco04_2_2_a_loss_leaves_what_the_path_carries
        grieco04_2_2_a_round_trip_measures_the_bandwidth
        grieco04_2_2_a_timeout_keeps_what_the_path_carries_as_threshold
        linux_the_interval_has_a_minimum
        without_a_measurement_the_flight_is_halved
        without_memory_the_last_interval_counts
    }
    window_unit {
        a_fin_takes_no_place
        a_window_below_a_segment_lets_a_short_one_out
        linux_bictcp_recalc_ssthresh_leaves_whole_packets
        linux_dctcp_ssthresh_takes_whole_packets
        linux_tcp_cwnd_reduction_rounds_up_to_packets
        linux_tcp_cwnd_test_a_part_of_a_place_lets_nothing_out
        linux_tcp_cwnd_test_a_short_segment_takes_a_whole_place
        linux_tcp_cwnd_validate_counts_packets
        linux_tcp_packets_in_flight_counts_packets_in_the_pipe
        linux_tcp_slow_start_counts_packets
        rfc5681_2_a_window_in_bytes_lets_a_short_segment_out
    }
}
