/* SPDX-License-Identifier: MIT */
/*
 * inherit.h: listening sockets that the program was started with: by systemd (sd_listen_fds(3)), or
 * by the server whose place it takes (handover.c). Each has a key, the text of its endpoint as it
 * was configured: "fd:web", "127.0.0.1:80".
 *
 * Before the runtime runs.
 */
#ifndef SWS_NET_INHERIT_H
#define SWS_NET_INHERIT_H

#include <stdbool.h>

/** The variable of a server that hands over: "READY KEY FD,FD,... KEY FD ...", where READY is the
 *  descriptor of a pipe, on which it waits for a byte. A key may come twice. */
#define SWS_HANDOVER "SWS_HANDOVER"

/**
 * Most bytes that a listening socket's connections take before they can send them. Without a limit
 * each client that does not read makes the kernel hold megabytes, and the core spend the time to
 * hand them over.
 */
#define SWS_UNSENT_MAX (256 << 10)

/** The first descriptor of systemd. */
#define SWS_LISTEN_FDS_START 3

struct sws_inherited {
	struct sws_inherited_one {
		const char *key;
		int group;           /* of those that were one endpoint */
		int fd;              /* -1: taken */
	} *one;
	int count;
	int ready;                   /* -1: no server waits */
	char *text;                  /* holds the keys */
};

/**
 * Find them by the environment, and take what is for this process alone out of it. 0, or -1 after
 * one line on stderr: a descriptor is not a stream socket that listens. sws_inherited_close
 * follows in any case.
 */
int sws_inherited_read(struct sws_inherited *in);

/** The group of the next endpoint with this key; -1: there is none. */
int sws_inherited_find(const struct sws_inherited *in, const char *key);

/** The next socket of a group, which is the caller's now; -1: there are no more. */
int sws_inherited_take(struct sws_inherited *in, int group);

/** The first key of an untaken socket that begins with "fd:"; NULL: there is none. */
const char *sws_inherited_named(const struct sws_inherited *in);

/** Tell the server that waits: this one is ready. */
void sws_inherited_ready(struct sws_inherited *in);

/** Close what nothing has taken, and free the rest. */
void sws_inherited_close(struct sws_inherited *in);

#endif
