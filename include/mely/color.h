/* SPDX-License-Identifier: MIT */
/*
 * mely/color.h: colors by id and by object.
 *
 * A color is a 32-bit id, any value, or an object that the program embeds in its own struct.
 * Both are exact: two ids, or an id and an object, never share a queue. Id 0 is the default
 * color. Objects are the fast path: no look-up.
 */
#ifndef MELY_COLOR_H
#define MELY_COLOR_H

#include <mely/base.h>
#include <mely/event.h>

MELY_BEGIN_DECLS

#ifdef __cplusplus
#define MELY_CACHE_ALIGNED alignas(64)
#else
#define MELY_CACHE_ALIGNED _Alignas(64)
#endif

/** A color object: 64 bytes, aligned to 64. All fields belong to the library. */
struct mely_color {
	MELY_CACHE_ALIGNED MELY_ATOMIC(struct melyint_core *) _owner;
	MELY_ATOMIC(struct mely_event *) _heads;
	struct mely_event *_tails;
	struct mely_color *_next;
	struct mely_color *_prev;
	uint32_t _id;
	MELY_ATOMIC(uint8_t) _state;
	int8_t _priority;
	MELY_ATOMIC(uint16_t) _flags;
	union {
		struct {
			uint64_t _time_left;
			uint32_t _steal_slot;
			uint32_t _recent;
		} _worth;           /* while it is alive */
		struct {
			void (*_fn)(void *arg);
			void *_arg;
		} _release;         /* once it has been released */
	} _u;
};

/** Any core may run the color (mely_color_pin). */
#define MELY_ANY_CORE (-1)

/**
 * Make a color object of rt. It first lives on the core that calls, or on the next core in turn
 * when the caller is no handler of rt. Any thread; the object must be 64-byte aligned (malloc
 * gives only 16: use aligned_alloc). 0, or -EINVAL, -ECHILD.
 */
MELY_API int mely_color_init(struct mely_color *color, struct mely_runtime *rt);

/** mely_color_init on a given core, 0 .. mely_cores(rt)-1; stealing may move it later. */
MELY_API int mely_color_init_on(struct mely_color *color, struct mely_runtime *rt, int core);

/**
 * Give a color object back: fn(arg) is called once its last event has ended and no core refers
 * to the object; then the memory is the program's. fn runs on the core that ran the last event
 * (or on the caller's thread when the color is idle), outside any color, and must not block; it
 * may free the object. Posts to the color after the release are an error of the program, except
 * those of its own events. Watchers of the color must have been stopped. fn may be NULL.
 * Any thread. 0, -EALREADY when released before, -EINVAL for a color by id.
 */
MELY_API int mely_color_release(struct mely_color *color, void (*fn)(void *arg), void *arg);

/**
 * The color with this id as an object, made on first use; valid as long as the runtime. Any
 * thread. 0 or -ENOMEM, -ECHILD.
 */
MELY_API int mely_color_of_id(struct mely_runtime *rt, uint32_t id, struct mely_color **color);

/** The id of a color; 0 for an object. */
MELY_API uint32_t mely_color_id(const struct mely_color *color);
/** Is it a color object, rather than one by id? */
MELY_API int mely_color_is_object(const struct mely_color *color);
/** The runtime it belongs to. Any thread. */
MELY_API struct mely_runtime *mely_color_runtime(const struct mely_color *color);
/** The core it lives on at this moment: a hint, it may be stolen at once. Any thread. */
MELY_API int mely_color_core(const struct mely_color *color);

/** A name for people (copied; NULL removes it). Any thread. 0 or -ENOMEM. */
MELY_API int mely_color_set_name(struct mely_color *color, const char *name);
/** Copy the name into buf, always terminated; "" when it has none. Returns its length. */
MELY_API int mely_color_name(const struct mely_color *color, char *buf, size_t size);

/**
 * Pin a color to a core: it lives there and is never stolen. MELY_ANY_CORE lets it go again. Any
 * thread; takes effect when the running batch of the color, if any, has ended.
 * 0 or -EINVAL for a core that is not.
 */
MELY_API int mely_color_pin(struct mely_color *color, int core);

/**
 * Back-pressure: at most events_max posted events of the program pending. A post beyond is
 * refused with -EAGAIN, and once the color has drained to half the mark the event drained is
 * posted to drained_color (both may be NULL), once per crossing. Never refused are readiness,
 * timers, completions and what the color's own handlers post to it. 0 removes the mark. Any
 * thread; counts what is posted from now on. 0 or -ENOMEM.
 */
MELY_API int mely_color_set_high_water(struct mely_color *color, uint32_t events_max,
    struct mely_color *drained_color, struct mely_event *drained);

MELY_END_DECLS

#endif
