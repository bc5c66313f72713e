/* SPDX-License-Identifier: MIT */
/* program.h: what kind of program a file is, without running it. */
#ifndef MELY_CHECK_PROGRAM_H
#define MELY_CHECK_PROGRAM_H

#include <stdbool.h>

struct program {
	const char *path;     /* found as execvp would find it */
	bool elf;             /* a binary of this machine; else a script, which may run anything */
	bool instrumented;    /* compiled with -fsanitize=thread */
	bool clang;           /* the sanitizer is part of it, as clang links it */
	bool checker;         /* contains the color checker, or is linked with libmely-check.so */
	bool shared_library;  /* is linked with libmely.so, which the checker can replace */
};

/* 0, or a negative errno code: -ENOENT if there is no such program, -EACCES... */
int program_look(struct program *program, const char *name);

#endif
