/* SPDX-License-Identifier: MIT */
/*
 * stealq.h: the libasync-smp scheduler has no stealing-queue. The build of libmely-libasync finds
 * this header before queue/stealq.h.
 */
#ifndef MELYINT_QUEUE_STEALQ_H
#define MELYINT_QUEUE_STEALQ_H

struct melyint_stealq {
	char none;
};

#endif
