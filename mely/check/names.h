/* SPDX-License-Identifier: MIT */
/*
 * names.h: included before everything else in the sources of libmely-check, but for
 * check/calls.c: what the others define under a public name is the library's own function,
 * and the public one is a call of it on the runtime's fiber (tests/tidy-check.sh compares).
 *
 * These only look, and do nothing that ThreadSanitizer could take for synchronisation:
 *   mely_version mely_color_id mely_color_is_object mely_color_runtime mely_color_core
 *   mely_event_pending mely_current_color mely_current_runtime mely_current_core mely_fd_ready
 *   mely_fd_drained mely_timer_overruns mely_child_status mely_cores mely_distance_name
 *   mely_stats_free mely_stats_check mely_stats_core_row mely_stats_handler_row
 *   mely_stats_color_row mely_stats_handler_numbered mely_stats_name mely_stats_bucket
 *   mely_stats_bucket_of mely_stats_bucket_from mely_stats_bucket_to mely_stats_quantile
 *   mely_stats_average mely_stats_prometheus mely_stats_json
 */
#ifndef MELYINT_CHECK_NAMES_H
#define MELYINT_CHECK_NAMES_H

#define mely_color_init melyint_plain_color_init
#define mely_color_init_on melyint_plain_color_init_on
#define mely_color_release melyint_plain_color_release
#define mely_color_of_id melyint_plain_color_of_id
#define mely_color_set_name melyint_plain_color_set_name
#define mely_color_name melyint_plain_color_name
#define mely_color_pin melyint_plain_color_pin
#define mely_color_set_high_water melyint_plain_color_set_high_water
#define mely_handler_init melyint_plain_handler_init
#define mely_event_init melyint_plain_event_init
#define mely_event_set_time melyint_plain_event_set_time
#define mely_post_id melyint_plain_post_id
#define mely_post_head_id melyint_plain_post_head_id
#define mely_post melyint_plain_post
#define mely_post_head melyint_plain_post_head
#define mely_post_timed melyint_plain_post_timed
#define mely_event_post melyint_plain_event_post
#define mely_event_post_head melyint_plain_event_post_head
#define mely_event_post_id melyint_plain_event_post_id
#define mely_event_cancel melyint_plain_event_cancel
#define mely_join_init melyint_plain_join_init
#define mely_join_add melyint_plain_join_add
#define mely_join_done melyint_plain_join_done
#define mely_fd_watch melyint_plain_fd_watch
#define mely_fd_close melyint_plain_fd_close
#define mely_timer_start melyint_plain_timer_start
#define mely_timer_again melyint_plain_timer_again
#define mely_signal_watch melyint_plain_signal_watch
#define mely_child_watch melyint_plain_child_watch
#define mely_work melyint_plain_work
#define mely_watch_stop melyint_plain_watch_stop
#define mely_watch_enable melyint_plain_watch_enable
#define mely_config_init melyint_plain_config_init
#define mely_runtime_new melyint_plain_runtime_new
#define mely_runtime_free melyint_plain_runtime_free
#define mely_run melyint_plain_run
#define mely_run_once_for melyint_plain_run_once_for
#define mely_color_close melyint_plain_color_close
#define mely_drain_watch melyint_plain_drain_watch
#define mely_backend_fd melyint_plain_backend_fd
#define mely_next_timeout melyint_plain_next_timeout
#define mely_stop melyint_plain_stop
#define mely_wait_begin melyint_plain_wait_begin
#define mely_wait_end melyint_plain_wait_end
#define mely_runtime_renew melyint_plain_runtime_renew
#define mely_cores_usable melyint_plain_cores_usable
#define mely_runtime_describe melyint_plain_runtime_describe
#define mely_set_batch melyint_plain_set_batch
#define mely_set_stealing melyint_plain_set_stealing
#define mely_now_ns melyint_plain_now_ns
#define mely_trim melyint_plain_trim
#define mely_stats_take melyint_plain_stats_take
#define mely_dump melyint_plain_dump
#define mely_dump_on_signal melyint_plain_dump_on_signal
#define mely_handler_set_stall melyint_plain_handler_set_stall
#define mely_socket_close melyint_plain_socket_close
#define mely_socket_open melyint_plain_socket_open
#define mely_socket_path melyint_plain_socket_path
#define mely_trace_start melyint_plain_trace_start
#define mely_trace_stop melyint_plain_trace_stop

#endif
