/* SPDX-License-Identifier: MIT */
/*
 * link.h: a connection to a program's live socket. The input is not trusted: link.c checks each
 * length, and each wait has a limit.
 */
#ifndef TOP_LINK_H
#define TOP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <mely/mely.h>

enum {
	LINK_HEAD = 24,          /* bytes of the line before an answer */
	LINK_MOST = 16 << 20     /* bytes of the longest answer accepted */
};

struct link {
	int fd;
	int patience_ms;         /* longest wait for the next bytes */
	char path[128];
};

enum { LINK_PATIENCE_MS = 5000 };

/* Connect, with LINK_PATIENCE_MS. 0 or a negative errno. */
int link_open(struct link *link, const char *path);
void link_close(struct link *link);

/*
 * Send a request, and wait for the answer: length bytes and a zero behind them; free it. 0;
 * -ECONNRESET if the program has closed the connection, -ETIMEDOUT, -EPROTO for an invalid answer,
 * -EREMOTEIO for an error of the program, whose text is *answer, or the error of a system call.
 */
int link_ask(struct link *link, const char *request, char **answer, size_t *length);

/* Like link_ask, for a snapshot. -EPROTONOSUPPORT: of another version. */
int link_look(struct link *link, const char *request, struct mely_stats **stats);

/* Parse the line before an answer, LINK_HEAD bytes. False: invalid. */
bool link_head(const char *head, bool *ok, size_t *length);

#endif
