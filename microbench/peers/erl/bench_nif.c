/* SPDX-License-Identifier: MIT */
/*
 * bench_nif.c: what bench.erl calls in C: counters in shared memory, and work that lasts for a
 * number of ticks. Any scheduler thread; each counter has one Erlang process that writes it.
 */
#include <erl_nif.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "../../mb.h"
#include "shared.h"

/* Written by start, before any process of the benchmark exists. */
static struct shared *shared;
static uint64_t work_ticks;

/* start(Ticks, Fd): map the shared memory; work() takes this number of ticks. */
static ERL_NIF_TERM
start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 ticks;
	struct stat st;
	int fd;

	(void)argc;
	if (!enif_get_uint64(env, argv[0], &ticks) || !enif_get_int(env, argv[1], &fd) ||
	    fstat(fd, &st) != 0)
		return enif_make_badarg(env);
	shared = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
	    fd, 0);
	if (shared == MAP_FAILED)
		return enif_make_badarg(env);
	work_ticks = ticks;
	return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM
publish(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 n;
	unsigned int i;

	if (!enif_get_uint(env, argv[0], &i) || !enif_get_uint64(env, argv[1], &n))
		return enif_make_badarg(env);
	/* Relaxed: a number for the measuring process, which reads nothing else after it. */
	atomic_store_explicit(&shared->counters[i].n, n, memory_order_relaxed);
	return argv[1];
}

/* count(I, N): entity I has run N events. */
static ERL_NIF_TERM
count(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return publish(env, argv);
}

/* work(I, N): the same after the work. */
static ERL_NIF_TERM
work(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	mb_spin(work_ticks);
	return publish(env, argv);
}

/* fixed(Ns): the fixed work has taken Ns. */
static ERL_NIF_TERM
fixed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifUInt64 ns;

	(void)argc;
	if (!enif_get_uint64(env, argv[0], &ns))
		return enif_make_badarg(env);
	shared->fixed_ns = ns;
	return argv[0];
}

static ErlNifFunc functions[] = {
	{"start", 2, start, 0},
	{"count", 2, count, 0},
	{"work", 2, work, 0},
	{"fixed", 1, fixed, 0},
};

ERL_NIF_INIT(bench, functions, NULL, NULL, NULL, NULL)
