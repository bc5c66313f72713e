/* SPDX-License-Identifier: MIT */
/*
 * piece.h: the bytes of a file on their way to a client, so that a body is of one version. In the
 * connection's color.
 */
#ifndef SWS_PIECE_H
#define SWS_PIECE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/transport.h"
#include "site/page.h"

/** Is the open file still the version that the page was built from? */
bool sws_file_is_same(const struct sws_page *page, int fd);

/**
 * Copy up to len bytes of a file from at on, through scratch of SWS_SCRATCH bytes. more: other
 * bytes of the body follow. As sws_transport_write_file.
 */
ssize_t sws_file_copy(const struct sws_transport *t, int fd, uint64_t at, size_t len, char *scratch,
    bool more);

/**
 * Send up to len bytes of the body at..to. The last ones are sent when all others are, and only if
 * the file is the same then: else -1 with ESTALE. As sws_transport_write_file.
 */
ssize_t sws_file_send(const struct sws_transport *t, const struct sws_page *page, int fd,
    uint64_t at, uint64_t to, size_t len, char *scratch);

#endif
