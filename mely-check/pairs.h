/* SPDX-License-Identifier: MIT */
/*
 * pairs.h: group reports into faults: two handlers that touch one object without an order between
 * them. Reports of the same two handlers and the same object are one fault.
 */
#ifndef MELY_CHECK_PAIRS_H
#define MELY_CHECK_PAIRS_H

#include "report.h"

/* What touches the object. */
enum party_kind {
	PARTY_COLOR,  /* an event of a color */
	PARTY_HELPER, /* a helper thread, in mely_work */
	PARTY_MAIN,   /* the main thread, outside of handlers */
	PARTY_THREAD  /* another thread of the program, or an unknown one */
};

struct side {
	enum party_kind party;
	const char *handler; /* outermost function of the program: its name, or "??" */
	const char *where;   /* "color 7 (connection)", "main thread" */
	const char *verb;    /* "reads", "writes", "frees" */
	struct frame site;   /* the innermost place in the program's own code */
	const struct access *access;
};

struct fault {
	const struct report *report; /* the first one of it */
	struct side sides[2];
	const char *object; /* "global 'counter' (4 bytes)" */
	const char *place;  /* more about it: where it was allocated; NULL: none */
	const char *advice;
	unsigned times;     /* reports of it */
	/* Other places in the same two handlers: two for each further report that differs. */
	struct frame (*more)[2];
	size_t more_count;
};

struct faults {
	struct fault *list;
	size_t count;
	const struct report **others; /* reports that are not a pair of accesses */
	size_t others_count;
};

void faults_find(struct faults *faults, const struct reports *reports);
/* The side on whose stack the object is; NULL: it is on none, or on that of another color. */
const struct side *faults_owner(const struct fault *fault);
/* "file.c:12", relative to the current directory if it is below that. */
const char *faults_place(const struct frame *frame);

#endif
