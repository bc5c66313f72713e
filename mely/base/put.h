/* SPDX-License-Identifier: MIT */
/* put.h: writing to a descriptor that perhaps nobody reads, without waiting for ever. */
#ifndef MELYINT_BASE_PUT_H
#define MELYINT_BASE_PUT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Write all to fd, in pieces that a pipe takes without blocking, once fd can take them. 0;
 * -ETIMEDOUT when that is not done in patience_ns, then some may have been written; or another
 * negative errno. Any thread.
 */
int melyint_put(const char *bytes, size_t length, int fd, uint64_t patience_ns);

#endif
