/* SPDX-License-Identifier: MIT */
/*
 * link.h: a connection to a program's live socket. What comes in is not trusted: every length is
 * checked, and nothing is waited for without end.
 */
#ifndef TOP_LINK_H
#define TOP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <mely/mely.h>

enum {
	LINK_HEAD = 24,          /* bytes of the line before an answer */
	LINK_MOST = 16 << 20     /* bytes of an answer that is believed */
};

struct link {
	int fd;
	int patience_ms;         /* for the next bytes */
	char path[128];
};

enum { LINK_PATIENCE_MS = 5000 };

/* Connect, with that patience. 0 or a negative errno. */
int link_open(struct link *link, const char *path);
void link_close(struct link *link);

/*
 * Ask for something, and wait for the answer: length bytes and a zero behind them, for free. 0;
 * -ECONNRESET when the program has closed the connection, -ETIMEDOUT, -EPROTO for an answer that is
 * none, -EREMOTEIO for an error of the program, which *answer tells, or what the system said.
 */
int link_ask(struct link *link, const char *request, char **answer, size_t *length);

/* The same for a look. -EPROTONOSUPPORT: of another version. */
int link_look(struct link *link, const char *request, struct mely_stats **stats);

/* The line before an answer, LINK_HEAD bytes. False when it is none. */
bool link_head(const char *head, bool *ok, size_t *length);

#endif
