/* SPDX-License-Identifier: MIT */
/*
 * signal.h: signals.
 *
 * A signal belongs to one runtime of the process at a time. Its handler, installed by sigaction
 * with the first watcher and taken back with the last, counts the signal and writes to an
 * eventfd, which wakes core 0 of the runtimes that watch signals; nothing else happens in it. No
 * signal mask is changed for this: a watched signal is taken by any thread that does not block
 * it, as a rule the one in mely_run, since the other cores and the helpers block all but the
 * synchronous ones. Signals that come before mely_run are kept until then. Several that come
 * before the handler runs are one event, as signals are.
 */
#ifndef MELYINT_IO_SIGNAL_H
#define MELYINT_IO_SIGNAL_H

#include "io/state.h"

/* Core 0: post the events of what came. */
void melyint_signal_deliver(struct melyint_io *io);
bool melyint_signal_news(struct melyint_io *io);
/* Under its guard, not stopped: resume or suspend a watcher of a signal. */
void melyint_signal_enable(struct melyint_watch *w, bool on);
/* Stop a watcher of a signal, under no lock; as mely_watch_stop. */
int melyint_signal_stop(struct melyint_io *io, mely_watch id, struct mely_color *done_color,
    struct mely_event *done);
/* In the child of a fork: nothing is watched any more. */
void melyint_signal_renew(struct melyint_io *io);

/* Core 0, now and then: a glance. */
MELY_INLINE void
melyint_signal_tick(struct melyint_io *io)
{
	/* relaxed: a hint, looked at again a millisecond later */
	if (MELY_UNLIKELY(MELY_LOAD(&io->signals, relaxed) != 0) && melyint_signal_news(io))
		melyint_signal_deliver(io);
}

#endif
