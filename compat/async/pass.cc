/* SPDX-License-Identifier: MIT */
/*
 * pass.cc: what color 0 runs when something is ready, and in which order.
 *
 * NOTE(passes)
 *   A pass of the originals is: callbacks of lazycb, the wait, signals, descriptors, timers,
 *   callbacks of yieldcb. acheck runs exactly that. In amain the runtime waits, and a pass is an
 *   event of color 0, posted when the wait set is ready or wait_soon was called. So it begins after
 *   the wait, and ends with the lazycb callbacks of the next pass.
 */
#include "pass.h"

#include <cstdlib>
#include <cstring>
#include <mely/io.h>

#include "../src/loop.h"
#include "../src/post.h"
#include "../src/say.h"
#include "async.h"
#include "delays.h"
#include "lazy.h"
#include "loop.h"
#include "posts.h"
#include "signals.h"
#include "wait.h"
#include "watch.h"

extern "C" {
timespec melycompat_async_tsnow;
extern const time_t &melycompat_async_timenow;
const time_t &melycompat_async_timenow = melycompat_async_tsnow.tv_sec;
}

namespace melycompat {

namespace {

/* All of this belongs to color 0. */
bool busy;
mely_watch set_watch;
mely_event pass_event;

void pass(void *);

mely_handler pass_handler = MELY_HANDLER(pass);

void
open_set()
{
	if (!wait_open())
		return;
	watch_fill();
	delays_start();
	signals_start();
}

mely_color *
color_zero()
{
	return color_object(runtime(), 0);
}

void
watch_set_by_runtime()
{
	int error = mely_fd_watch(color_zero(), wait_fd(), MELY_FD_READ, &pass_handler, nullptr,
	    &set_watch);

	if (error != 0)
		die("cannot watch the loop: %s", std::strerror(-error));
}

/* E of NOTE(slots) in watch.cc. */
void
renew_set()
{
	if (set_watch != 0)
		(void)mely_watch_stop(runtime(), set_watch, nullptr, nullptr);
	wait_renew();
	watch_fill();
	if (set_watch != 0)
		watch_set_by_runtime();
}

/* NOTE(passes): the part that starts with the wait. */
void
look_and_call(bool block)
{
	uint64_t moment = watch_moment();
	wait_found found;

	wait_for(&found, block);
	clock_refresh();
	signals_run();
	if (watch_run(&found.ready, moment))
		renew_set();
	delays_run(found.timer);
	yields_run();
}

void
pass_is_over()
{
	lazies_run();
	if (busy || watch_always())
		wait_soon();
}

void
pass(void *)
{
	look_and_call(false);
	pass_is_over();
}

/* Timers armed before amain run before callbacks of ready descriptors. */
void
first_pass(void *)
{
	clock_refresh();
	delays_run(false);
	pass_is_over();
}

void
post_pass()
{
	(void)mely_event_post(color_zero(), &pass_event);
}

}

void
clock_refresh()
{
	clock_gettime(CLOCK_REALTIME, &melycompat_async_tsnow);
}

void
passes_busy(bool on)
{
	busy = on;
	if (on)
		wait_soon();
}

void
pass_by_hand()
{
	bool ran;

	if (!main_is_here())
		die("acheck: in a callback of color %d; it is for color 0", get_current_color());
	open_set();
	clock_refresh();
	lazies_run();
	ran = runtime() == nullptr && held_run(call_here);
	ran |= posts_run();
	look_and_call(!ran && !busy && !watch_always());
}

void
passes_start(mely_runtime *rt)
{
	static mely_handler first = MELY_HANDLER(first_pass);

	delays_fork_safely();
	posts_fork_safely();
	watch_fork_safely();
	open_set();
	watch_start(rt);
	mely_event_init(&pass_event, &pass_handler, nullptr);
	watch_set_by_runtime();
	if (mely_post_id(rt, 0, &first, nullptr) != 0)
		die("out of memory for an event");
	wait_passes_begin(post_pass);
}

}
