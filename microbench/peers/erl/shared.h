/* SPDX-License-Identifier: MIT */
/*
 * shared.h: the memory that erlang_process.c and the Erlang VM share: a file without a name, whose
 * descriptor the VM inherits.
 */
#ifndef PEER_ERL_SHARED_H
#define PEER_ERL_SHARED_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

/* Two cache lines apart. One Erlang process writes it, erlang_process reads it. */
struct counter {
	alignas(128) _Atomic uint64_t n;
};

struct shared {
	/* Fixed work: how long it took. The VM writes it before it ends. */
	alignas(128) uint64_t fixed_ns;
	struct counter counters[];
};

#endif
