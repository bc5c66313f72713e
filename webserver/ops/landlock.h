/* SPDX-License-Identifier: MIT */
/*
 * landlock.h: Landlock, by its system calls: the files that this thread, and the threads that it
 * makes, may still reach. Linux 5.13 has it first; each ABI adds what it can forbid.
 */
#ifndef SWS_OPS_LANDLOCK_H
#define SWS_OPS_LANDLOCK_H

#include <stdbool.h>

/** What is allowed of a file, or of all that is beneath a directory. */
enum sws_landlock_use {
	SWS_LANDLOCK_READ = 1,
	SWS_LANDLOCK_WRITE = 2,   /**< write, make and rename regular files */
	SWS_LANDLOCK_REMOVE = 4
};

/** The ABI of the kernel, or a negative errno: it has none, or it is not enabled. */
int sws_landlock_abi(void);

/**
 * Begin a set of rules: nothing is allowed but what is added. abstract: Unix sockets without a file
 * stay reachable. Its descriptor, or a negative errno.
 */
int sws_landlock_begin(int abi, bool abstract);

/** Allow uses of a file, or of what is beneath a directory. 0 or a negative errno. */
int sws_landlock_allow(int rules, const char *path, unsigned use);

/**
 * Enforce the rules, permanently, and close them. The thread may gain no privileges from here on.
 * 0 or a negative errno.
 */
int sws_landlock_enforce(int rules);

#endif
