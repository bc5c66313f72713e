/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h: what keeps sws, from the moment at which it begins to serve, from all that it does not
 * need then: Landlock from other files, seccomp from other system calls.
 */
#ifndef SWS_OPS_SANDBOX_H
#define SWS_OPS_SANDBOX_H

#include "ops/options.h"

/** Room for the description of a sandbox. */
#define SWS_SANDBOX_TEXT 400

/**
 * Enter the sandbox that the options ask for; text becomes what it is made of. socket: the file of
 * the live view, or "". Before there is a second thread. 0, or -1 after one line.
 */
int sws_sandbox_enter(const struct sws_options *options, const char *socket,
    char text[SWS_SANDBOX_TEXT]);

#endif
