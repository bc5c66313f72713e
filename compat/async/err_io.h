/* SPDX-License-Identifier: MIT */
/*
 * err_io.h: how messages get to standard error.
 */
#ifndef MELYCOMPAT_ASYNC_ERR_IO_H
#define MELYCOMPAT_ASYNC_ERR_IO_H

#include "../include/async/suio++.h"

namespace melycompat {

/**
 * Print a message to errfd: now, when at_once or before err_start or after err_stop, else as whole
 * lines, from an event of color 0. The message is copied. Any thread.
 */
void err_print(const suio *message, bool at_once);

/** In amain, before anything runs. */
void err_start();

/** At exit, when no events run any more: all is written, and what comes now is written at once. */
void err_stop();

/** This process is the program, not a child whose end the program survives. */
void err_is_program();
/** Is it? err_start says so, too. */
bool err_in_program();

}

#endif
