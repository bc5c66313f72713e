/* SPDX-License-Identifier: MIT */
/*
 * mb_echo.h: the frame of the echo benchmark: a server in a separate process, and a load of
 * loopback connections, each of which sends a request as soon as it has the previous answer. It
 * does not depend on libmely. Main thread only. Valid as C11 and C++17.
 */
#ifndef MB_ECHO_H
#define MB_ECHO_H

#include "mb.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a request, and of its answer. */
#define MB_ECHO_BYTES 64

struct mb_echo {
	const char *name;
	const struct mb_options *opt;
	int connections;
	int cores;        /* threads of the bare loop, which has as many as the runtime */
	int load_threads;
	bool bare;        /* measure the bare loop too */
	/* In the server's process: echo the input of all connections that lfd (non-blocking,
	 * listening) accepts, until end_fd is at end of file. */
	void (*serve)(int lfd, int end_fd);
};

/*
 * All runs with one number of connections, and their reports: the server's processor time for a
 * request, in microseconds, and requests a second. Runs of the bare loop alternate with them.
 */
void mb_echo_bench(const struct mb_echo *echo, const char *variant);

#ifdef __cplusplus
}
#endif

#endif
