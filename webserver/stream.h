/* SPDX-License-Identifier: MIT */
/*
 * stream.h: a body of more than one run of bytes of a page or a file. It is found or made piece by
 * piece while it is sent. It belongs to its answer, and so to the connection's color, except while
 * a helper makes more of it (disk.h).
 */
#ifndef SWS_STREAM_H
#define SWS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assertion.h"

enum sws_stream_step {
	SWS_STREAM_PIECE,
	SWS_STREAM_MORE,   /**< the next piece is not made yet: a helper calls more() */
	SWS_STREAM_END,
	SWS_STREAM_FAILED  /**< the client must not take what it has for the whole */
};

/** The next bytes to send. */
struct sws_piece {
	const char *bytes; /**< until more() or the end; NULL: they are in a file */
	int fd;
	uint64_t at;       /**< in the file */
	uint64_t len;      /**< not 0 */
	bool more;         /**< another piece follows at once */
	bool copy;         /**< bytes of a file that may change: not by sendfile */
};

struct sws_stream;

struct sws_stream_ops {
	/** What comes next? */
	enum sws_stream_step (*next)(struct sws_stream *stream, struct sws_piece *piece);
	/** n bytes of that piece are sent. */
	void (*took)(struct sws_stream *stream, size_t n);
	/** Make the next piece; may wait for a disk. NULL where no step is SWS_STREAM_MORE. */
	void (*more)(struct sws_stream *stream);
	/** core: the current one, or -1 when nothing runs. */
	void (*free)(struct sws_stream *stream, int core);
};

struct sws_stream {
	const struct sws_stream_ops *ops;
};

#endif
