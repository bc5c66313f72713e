/* SPDX-License-Identifier: MIT */
/*
 * work.h: blocking work on helper threads, for the life cycle of the I/O.
 */
#ifndef MELYINT_IO_WORK_H
#define MELYINT_IO_WORK_H

#include "io/state.h"
#include "io/watch.h"

/* Stop helper work. Under the guard, which it drops; not stopped. As mely_watch_stop. */
int melyint_work_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
int melyint_work_init(struct melyint_io *io);
/* Nothing runs: the helpers are told to end, and joined. */
void melyint_work_fini(struct melyint_io *io);
/* At the end of a stop: what has not begun is handed back, what runs is waited for. */
void melyint_work_discard(struct melyint_io *io);
/* In the child of a fork: the helpers are gone, and so is the rest; init makes it anew. */
void melyint_work_forget(struct melyint_io *io);

#endif
