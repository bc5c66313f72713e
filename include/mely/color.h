/* SPDX-License-Identifier: MIT */
/*
 * mely/color.h: colors by id and by object.
 *
 * A color is a 32-bit id, any value, or an object that the program embeds in its own struct.
 * Both are exact: two ids, or an id and an object, never share a queue. Id 0 is the default
 * color. Objects are the fast path: no look-up.
 *
 * The errors -EINVAL for NULL and -ECHILD after a fork are those of mely/base.h.
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

/**
 * A color object: 64 bytes, aligned to 64 (malloc aligns to 16: use aligned_alloc). The memory
 * belongs to the library from mely_color_init until the release function is called, or until the
 * runtime is freed. Do not copy or move it. All fields belong to the library.
 */
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
 * Make a color object of rt, which must outlive it. It first lives on the core that calls, or on
 * the next core in turn when the caller is not a handler of rt. Not to be called again before the
 * object was released. 0, or
 *   -EINVAL  the object is not aligned to 64 bytes, or an argument is NULL
 *   -ECHILD  after a fork
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ECHILD.
 */
MELY_API int mely_color_init(struct mely_color *color, struct mely_runtime *rt);

/**
 * mely_color_init on a given core, 0 .. mely_cores(rt)-1; stealing may move the color later. Errors
 * as mely_color_init; -EINVAL also when there is no such core.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ECHILD.
 */
MELY_API int mely_color_init_on(struct mely_color *color, struct mely_runtime *rt, int core);

/**
 * Release a color object: the library calls fn(arg) once the color's last event has ended and no
 * core refers to the object; from then on the memory is the program's. fn runs on the core that ran
 * the last event, or inside this call when the color is idle; it runs outside any color, must not
 * block, and may free the object. fn may be NULL. arg is passed on untouched. The library forgets
 * the color's name and mark.
 *
 * After the release only the color's own events may post to it, until the last one has ended; any
 * other post is misuse. The color's watchers and timers must have been stopped, and its work must
 * have ended, before the release: each of them posts to the color. mely_color_close sees to that.
 * 0, or
 *   -EALREADY  the color was released before
 *   -EINVAL    it is a color by id, or NULL
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EALREADY, -EINVAL.
 */
MELY_API int mely_color_release(struct mely_color *color, void (*fn)(void *arg), void *arg);

/**
 * Store the color with this id in *color; the first use of an id makes its color. The pointer is
 * valid until rt is freed, and it is never released. 0, or
 *   -ENOMEM  there is no memory for the color
 *   -EINVAL  rt or color is NULL
 *   -ECHILD  after a fork
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EINVAL, -ECHILD.
 */
MELY_API int mely_color_of_id(struct mely_runtime *rt, uint32_t id, struct mely_color **color)
    MELY_MUST_CHECK;

/** The id of a color by id; 0 for an object (and NULL).
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API uint32_t mely_color_id(const struct mely_color *color);
/** 1 for a color object; 0 for a color by id (and NULL).
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API int mely_color_is_object(const struct mely_color *color);
/** The runtime of the color; NULL for NULL.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API struct mely_runtime *mely_color_runtime(const struct mely_color *color);
/** The core that the color lives on now; -1 for NULL. A hint: it may be stolen at any time.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API int mely_color_core(const struct mely_color *color);

/**
 * Give the color a name, for statistics and reports. name is copied; NULL removes the name. 0, or
 *   -ENOMEM  there is no memory for the copy; the old name stays
 *   -EINVAL  color is NULL
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EINVAL.
 */
MELY_API int mely_color_set_name(struct mely_color *color, const char *name);
/**
 * Copy the name into buf of size bytes, cut where it is too long and always terminated; "" when the
 * color has none. Returns the length of the whole name, or
 *   -EINVAL  color is NULL, or buf is NULL and size is not 0
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_color_name(const struct mely_color *color, char *buf, size_t size);

/**
 * Pin a color to a core: it lives there and is never stolen. MELY_ANY_CORE ends that. The call
 * takes effect when the running batch of the color, if any, has ended. 0, or
 *   -EINVAL  there is no such core, or color is NULL
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_color_pin(struct mely_color *color, int core);

/**
 * Back-pressure: let at most events_max posted events of the program wait in the color. A post
 * beyond that fails with EAGAIN. After the color has then drained to half the mark, the library
 * posts the event drained to drained_color, once per crossing (a drained event that is still queued
 * stands for this crossing, too). Both may be NULL: no event is posted. Otherwise both must stay
 * valid until the mark is changed or removed and the posted event has run. If a post was refused
 * and drained has not been posted since, it is still due: a call that removes the mark, or raises
 * it to twice what waits, posts the new drained; a call without drained posts the one before.
 *
 * The library never refuses readiness, timers, completions and what the color's own handlers post
 * to it. events_max of 0 removes the mark. The mark counts what is posted from now on. 0, or
 *   -ENOMEM  there is no memory for the mark
 *   -EINVAL  color is NULL, or drained is given without drained_color
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EINVAL.
 */
MELY_API int mely_color_set_high_water(struct mely_color *color, uint32_t events_max,
    struct mely_color *drained_color, struct mely_event *drained) MELY_MUST_CHECK;

MELY_END_DECLS

#endif
