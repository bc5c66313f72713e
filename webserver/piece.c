/* SPDX-License-Identifier: MIT */
/*
 * piece.c: sending from a file that may change.
 *
 * sendfile lends the socket the pages of the file, and a write to them changes what is still on its
 * way. So a file that has changed of late, and may again, is copied, and so are the last bytes of
 * every body, after which nothing can be taken back.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core.h"
#include "piece.h"

/* Bytes that are sent after the last comparison with the file. */
#define LAST_BYTES 4096

bool
sws_file_is_same(const struct sws_page *page, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && sws_page_has_content(page, &st);
}

/* Read what is to be copied; as read. */
static ssize_t
fetch(int fd, uint64_t at, size_t len, char *scratch)
{
	ssize_t n = pread(fd, scratch, len < SWS_SCRATCH ? len : SWS_SCRATCH, (off_t)at);

	SWS_DEBUG_ASSERT(fd >= 0 && len > 0);
	/* The caller would take EAGAIN for the client's. */
	if (n < 0)
		errno = EIO;
	return n;
}

ssize_t
sws_file_copy(const struct sws_transport *t, int fd, uint64_t at, size_t len, char *scratch,
    bool more)
{
	struct iovec piece = {scratch, 0};
	ssize_t n = fetch(fd, at, len, scratch);

	if (n <= 0)
		return n;
	piece.iov_len = (size_t)n;
	return sws_transport_write(t, &piece, 1, more);
}

ssize_t
sws_file_send(const struct sws_transport *t, const struct sws_page *page, int fd, uint64_t at,
    uint64_t to, size_t len, char *scratch)
{
	uint64_t left = to - at;
	struct iovec piece = {scratch, 0};
	ssize_t n;

	SWS_DEBUG_ASSERT(len > 0 && len <= left);
	if (!page->copy && left > LAST_BYTES) {
		if (left - len < LAST_BYTES)
			len = (size_t)(left - LAST_BYTES);
		return sws_transport_write_file(t, fd, at, len);
	}
	n = fetch(fd, at, len, scratch);
	if (n <= 0)
		return n;
	if ((uint64_t)n == left && !sws_file_is_same(page, fd)) {
		errno = ESTALE;
		return -1;
	}
	piece.iov_len = (size_t)n;
	return sws_transport_write(t, &piece, 1, (uint64_t)n < left);
}
