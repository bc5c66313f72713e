/* SPDX-License-Identifier: MIT */
/*
 * probes.h: the USDT probes, which docs/probes.md describes. Each has a semaphore, a word that is
 * not 0 while a tool is attached; the library tests it before it reaches a probe. Only cores that
 * have seen it run batches with run_begin and run_end (observe.c).
 */
#ifndef MELYINT_LOOK_TRACE_PROBES_H
#define MELYINT_LOOK_TRACE_PROBES_H

#include "base/atomic.h"

#if defined(MELY_PROBES) && !defined(MELYINT_SIM)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* The kernel or a debugger writes them. sys/sdt.h prescribes the names. */
#define MELYINT_PROBE(name) \
	extern _Atomic unsigned short mely_##name##_semaphore \
	    __attribute__((visibility("hidden")))
MELYINT_PROBE(post);
MELYINT_PROBE(run_begin);
MELYINT_PROBE(run_end);
MELYINT_PROBE(steal);
MELYINT_PROBE(sleep);
MELYINT_PROBE(wake);
MELYINT_PROBE(poll);
#undef MELYINT_PROBE

/* Whether a tool is attached. relaxed: seen sooner or later */
#define MELY_PROBE_WANTED(name) (MELY_LOAD(&mely_##name##_semaphore, relaxed) != 0)
#define MELY_PROBE2(name, a, b) STAP_PROBE2(mely, name, a, b)
#define MELY_PROBE3(name, a, b, c) STAP_PROBE3(mely, name, a, b, c)
#define MELY_PROBE4(name, a, b, c, d) STAP_PROBE4(mely, name, a, b, c, d)
#define MELY_PROBE5(name, a, b, c, d, e) STAP_PROBE5(mely, name, a, b, c, d, e)
#else
#define MELY_PROBE_WANTED(name) 0
#define MELY_PROBE2(name, a, b) ((void)(a), (void)(b))
#define MELY_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define MELY_PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#define MELY_PROBE5(name, a, b, c, d, e) \
	((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#endif

#endif
