/* SPDX-License-Identifier: MIT */
/*
 * mb_echo.h: the frame of the echo benchmark: a server in a process of its own, and a load of
 * connections on loopback of which each sends a request when it has its answer. It knows nothing
 * of libmely. Main thread only. Readable as C11 and C++17.
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
	/* In the server's process: echo what comes over connections that lfd (non-blocking,
	 * listening) accepts, until end_fd comes to its end of file. */
	void (*serve)(int lfd, int end_fd);
};

/*
 * All runs of one number of connections, and their reports: the server's processor time for a
 * request, in microseconds, and requests a second; of the bare loop too, by turns.
 */
void mb_echo_bench(const struct mb_echo *echo, const char *variant);

#ifdef __cplusplus
}
#endif

#endif
