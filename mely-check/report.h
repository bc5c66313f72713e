/* SPDX-License-Identifier: MIT */
/*
 * report.h: ThreadSanitizer's reports as structs: those of clang 14 and of gcc 12, whose frames
 * differ. The parser skips what it does not understand; a report without two accesses that it
 * understands counts as "other".
 */
#ifndef MELY_CHECK_REPORT_H
#define MELY_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct frame {
	const char *function; /* never NULL; "??": unknown */
	const char *file;     /* NULL: unknown */
	const char *module;   /* NULL: unknown */
	int line;             /* 0: unknown */
	uint64_t address;     /* 0: the frame is of a module */
};

/* Innermost frame first. */
struct stack {
	struct frame *frames;
	size_t count;
};

struct access {
	bool write;
	bool atomic;
	unsigned size;
	uint64_t address;
	const char *thread; /* "T7", or "main thread" */
	const char *name;   /* of the thread: "color 7 (connection)"; NULL: none */
	struct stack stack; /* empty: lost */
};

enum object_kind {
	OBJECT_UNKNOWN, OBJECT_GLOBAL, OBJECT_HEAP, OBJECT_STACK, OBJECT_TLS, OBJECT_FD
};

struct object {
	enum object_kind kind;
	const char *name;       /* of a global; whose stack or TLS; NULL: unknown */
	uint64_t address, size; /* 0: unknown */
	struct stack allocated; /* of a heap block */
};

struct report {
	const char *kind; /* "data race", "heap-use-after-free", ... */
	struct access accesses[2];
	int accesses_count;
	struct object object;
};

struct reports {
	struct report *list;
	size_t count;
};

/* Append the reports in a file. */
void reports_read(struct reports *reports, FILE *file);

#endif
