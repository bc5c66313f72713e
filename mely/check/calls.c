/* SPDX-License-Identifier: MIT */
/*
 * calls.c: the public functions of libmely-check: each calls the library's function of that name on
 * the runtime's fiber. check/names.h gives the library's functions the names melyint_plain_*.
 */
#include <mely/mely.h>

#include "core/hooks.h"
#include "check/tsan.h"

/* Memory of the program that the library reads or writes on the program's behalf. */
#define READS(object) touch(object, sizeof *(object), false)
#define WRITES(object) touch(object, sizeof *(object), true)
#define NOTHING ((void)0)

static void
touch(const void *object, size_t size, bool writes)
{
	if (__tsan_write_range == NULL || object == NULL)
		return;
	if (writes)
		__tsan_write_range((void *)(uintptr_t)object, size);
	else
		__tsan_read_range((void *)(uintptr_t)object, size);
}

#define CALL(type, name, params, args, accesses) \
	type melyint_plain_##name params; \
	MELY_API type (mely_##name) params \
	{ \
		struct melyint_check_where where; \
		type result; \
		accesses; \
		melyint_check_enter(&where); \
		result = melyint_plain_##name args; \
		melyint_check_leave(&where); \
		return result; \
	}

#define CALL_VOID(name, params, args, accesses) \
	void melyint_plain_##name params; \
	MELY_API void mely_##name params \
	{ \
		struct melyint_check_where where; \
		accesses; \
		melyint_check_enter(&where); \
		melyint_plain_##name args; \
		melyint_check_leave(&where); \
	}

CALL(int, color_init, (struct mely_color *color, struct mely_runtime *rt), (color, rt),
    WRITES(color))
CALL(int, color_init_on, (struct mely_color *color, struct mely_runtime *rt, int core), (color,
    rt, core), WRITES(color))
CALL(int, color_release, (struct mely_color *color, void (*fn)(void *arg), void *arg), (color,
    fn, arg), NOTHING)
CALL(int, color_of_id, (struct mely_runtime *rt, uint32_t id, struct mely_color **color), (rt, id,
    color), NOTHING)
CALL(int, color_set_name, (struct mely_color *color, const char *name), (color, name), NOTHING)
CALL(int, color_name, (const struct mely_color *color, char *buf, size_t size), (color, buf,
    size), NOTHING)
CALL(int, color_pin, (struct mely_color *color, int core), (color, core), NOTHING)
CALL(int, color_set_high_water, (struct mely_color *color, uint32_t events_max, struct
    mely_color *drained_color, struct mely_event *drained), (color, events_max, drained_color,
    drained), NOTHING)
CALL_VOID(handler_init, (struct mely_handler *handler, void (*fn)(void *arg), const char *name),
    (handler, fn, name), WRITES(handler))
CALL_VOID(event_init, (struct mely_event *ev, struct mely_handler *handler, void *arg), (ev,
    handler, arg), WRITES(ev))
CALL_VOID(event_set_time, (struct mely_event *ev, uint32_t time_ns), (ev, time_ns), WRITES(ev))
CALL(int, post_id, (struct mely_runtime *rt, uint32_t color, struct mely_handler *handler, void
    *arg), (rt, color, handler, arg), READS(handler))
CALL(int, post_head_id, (struct mely_runtime *rt, uint32_t color, struct mely_handler *handler,
    void *arg), (rt, color, handler, arg), READS(handler))
CALL(int, post, (struct mely_color *color, struct mely_handler *handler, void *arg),
    (color, handler, arg), READS(handler))
CALL(int, post_head, (struct mely_color *color, struct mely_handler *handler, void *arg),
    (color, handler, arg), READS(handler))
CALL(int, post_timed, (struct mely_color *color, struct mely_handler *handler, void *arg,
    uint32_t time_ns), (color, handler, arg, time_ns), READS(handler))
CALL(int, event_post, (struct mely_color *color, struct mely_event *ev), (color, ev), READS(ev))
CALL(int, event_post_head, (struct mely_color *color, struct mely_event *ev), (color, ev),
    READS(ev))
CALL(int, event_post_id, (struct mely_runtime *rt, uint32_t color, struct mely_event *ev), (rt,
    color, ev), READS(ev))
CALL(int, event_cancel, (struct mely_event *ev, struct mely_color *done_color, struct mely_event
    *done), (ev, done_color, done), NOTHING)
CALL(int, join_init, (struct mely_join *join, uint32_t count, struct mely_color *color, struct
    mely_event *ev), (join, count, color, ev), NOTHING)
CALL_VOID(join_add, (struct mely_join *join, uint32_t count), (join, count), NOTHING)
CALL(int, join_done, (struct mely_join *join), (join), NOTHING)
CALL(int, fd_watch, (struct mely_color *color, int fd, unsigned flags, struct mely_handler
    *handler, void *arg, mely_watch *watch), (color, fd, flags, handler, arg, watch), NOTHING)
CALL(int, fd_close, (struct mely_runtime *rt, int fd), (rt, fd), NOTHING)
CALL(int, timer_start, (struct mely_color *color, uint64_t when_ns, uint64_t repeat_ns, unsigned
    flags, struct mely_handler *handler, void *arg, mely_watch *timer), (color, when_ns,
    repeat_ns, flags, handler, arg, timer), NOTHING)
CALL(int, timer_again, (struct mely_runtime *rt, mely_watch timer, uint64_t when_ns, uint64_t
    repeat_ns), (rt, timer, when_ns, repeat_ns), NOTHING)
CALL(int, signal_watch, (struct mely_color *color, int signum, struct mely_handler *handler,
    void *arg, mely_watch *watch), (color, signum, handler, arg, watch), NOTHING)
CALL(int, child_watch, (struct mely_color *color, pid_t pid, struct mely_handler *handler, void
    *arg, mely_watch *watch), (color, pid, handler, arg, watch), NOTHING)
CALL(int, work, (struct mely_color *color, enum mely_work_class work_class, void (*fn)(void
    *arg), struct mely_handler *handler, void *arg, mely_watch *id), (color, work_class, fn,
    handler, arg, id), NOTHING)
CALL(int, watch_stop, (struct mely_runtime *rt, mely_watch watch, struct mely_color *done_color,
    struct mely_event *done), (rt, watch, done_color, done), NOTHING)
CALL(int, watch_enable, (struct mely_runtime *rt, mely_watch watch, int on), (rt, watch, on),
    NOTHING)
CALL(int, config_init, (struct mely_config *config), (config), NOTHING)
CALL(int, config_init_size, (struct mely_config *config, size_t size), (config, size), NOTHING)
CALL(int, runtime_new, (struct mely_runtime **rt, const struct mely_config *config), (rt,
    config), NOTHING)
CALL(int, runtime_free, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, run, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, run_once_for, (struct mely_runtime *rt, uint64_t timeout_ns), (rt, timeout_ns), NOTHING)
CALL(int, color_close, (struct mely_color *color, struct mely_event *closed), (color, closed),
    NOTHING)
CALL(int, drain_watch, (struct mely_color *color, struct mely_handler *handler, void *arg,
    mely_watch *watch), (color, handler, arg, watch), NOTHING)
CALL(int, backend_fd, (struct mely_runtime *rt), (rt), NOTHING)
CALL(uint64_t, next_timeout, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, stop, (struct mely_runtime *rt, enum mely_stop_mode mode), (rt, mode), NOTHING)
CALL_VOID(wait_begin, (void), (), NOTHING)
CALL_VOID(wait_end, (void), (), NOTHING)
CALL(int, runtime_renew, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, cores_usable, (void), (), NOTHING)
CALL(int, runtime_describe, (const struct mely_runtime *rt, char *buf, size_t size), (rt, buf,
    size), NOTHING)
CALL(int, set_batch, (struct mely_runtime *rt, uint32_t events), (rt, events), NOTHING)
CALL(int, set_stealing, (struct mely_runtime *rt, unsigned bits), (rt, bits), NOTHING)
CALL(uint64_t, now_ns, (void), (), NOTHING)
CALL(size_t, trim, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, stats_take, (struct mely_runtime *rt, unsigned flags, uint32_t colors_max, struct
    mely_stats **stats), (rt, flags, colors_max, stats), NOTHING)
CALL_VOID(handler_set_stall, (struct mely_handler *handler, uint32_t ms), (handler, ms),
    WRITES(handler))
CALL(int, socket_open, (struct mely_runtime *rt, const char *path), (rt, path), NOTHING)
CALL(int, socket_close, (struct mely_runtime *rt), (rt), NOTHING)
CALL(int, socket_path, (struct mely_runtime *rt, char *buf, size_t size), (rt, buf, size),
    NOTHING)
CALL(int, dump, (struct mely_runtime *rt, int fd), (rt, fd), NOTHING)
CALL(int, dump_on_signal, (struct mely_runtime *rt, int signo), (rt, signo), NOTHING)
CALL(int, trace_start, (struct mely_runtime *rt, const char *path), (rt, path), NOTHING)
CALL(int, trace_stop, (struct mely_runtime *rt), (rt), NOTHING)
