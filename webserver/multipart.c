/* SPDX-License-Identifier: MIT */
/*
 * multipart.c: a stream that alternates the heads of parts, which it has, and their bytes, which
 * are in the page or its file. Its length is known, so the answer has one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/assertion.h"
#include "multipart.h"
#include "piece.h"
#include "stream.h"

/* Random bytes of a boundary. The longer it is, the less it occurs in a file. */
#define BOUNDARY_BYTES 18
#define BOUNDARY_LEN (2 * BOUNDARY_BYTES)
/* Longest head of a part without its type. */
#define PART_HEAD_MAX (BOUNDARY_LEN + 160)
/* A head and the bytes for each part, and the end. */
#define PIECES_MAX (2 * HTTP_RANGES_MAX + 1)

struct multipart {
	struct sws_stream stream;
	struct sws_answer whole;   /* holds the page and the file */
	unsigned count, next;
	struct sws_piece pieces[PIECES_MAX];
	char text[];
};

static struct multipart *
of(struct sws_stream *stream)
{
	return (struct multipart *)((char *)stream - offsetof(struct multipart, stream));
}

static enum sws_stream_step
next(struct sws_stream *stream, struct sws_piece *piece)
{
	struct multipart *m = of(stream);

	if (m->next == m->count)
		return SWS_STREAM_END;
	/* Once the client has the end, it takes what is before for parts of one version. */
	if (m->next + 1 == m->count && m->whole.fd >= 0
	    && !sws_file_is_same(m->whole.page, m->whole.fd))
		return SWS_STREAM_FAILED;
	*piece = m->pieces[m->next];
	piece->more = m->next + 1 < m->count;
	SWS_ASSERT(piece->len > 0);
	return SWS_STREAM_PIECE;
}

static void
took(struct sws_stream *stream, size_t n)
{
	struct multipart *m = of(stream);
	struct sws_piece *piece = &m->pieces[m->next];

	SWS_ASSERT(m->next < m->count && n <= piece->len);
	if (piece->bytes != NULL)
		piece->bytes += n;
	piece->at += n;
	piece->len -= n;
	if (piece->len == 0)
		m->next++;
}

static void
free_multipart(struct sws_stream *stream, int core)
{
	struct multipart *m = of(stream);

	sws_answer_release(&m->whole, core);
	free(m);
}

static const struct sws_stream_ops ops = {
	.next = next, .took = took, .free = free_multipart
};

/* Hexadecimal digits at random; false: the kernel has none. */
static bool
make_boundary(char text[BOUNDARY_LEN + 1])
{
	unsigned char random[BOUNDARY_BYTES];

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return false;
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	return true;
}

static void
add_piece(struct multipart *m, const char *bytes, uint64_t at, uint64_t len)
{
	SWS_ASSERT(m->count < PIECES_MAX && len > 0);
	m->pieces[m->count++] = (struct sws_piece){.bytes = bytes, .fd = m->whole.fd, .at = at,
		.len = len, .copy = m->whole.page->copy};
}

/* Fill in the pieces; the bytes of all. */
static uint64_t
make_pieces(struct multipart *m, const struct http_ranges *ranges, const char *boundary,
    const char *type, int type_len)
{
	const struct sws_page *page = m->whole.page;
	uint64_t total = 0;
	char *to = m->text;
	int n;

	for (unsigned i = 0; i < ranges->count; i++) {
		const struct http_part *part = &ranges->part[i];

		n = sprintf(to, "%s--%s\r\nContent-Type: %.*s\r\nContent-Range: "
		    "bytes %llu-%llu/%llu\r\n\r\n", i > 0 ? "\r\n" : "", boundary, type_len, type,
		    (unsigned long long)part->from, (unsigned long long)(part->to - 1),
		    (unsigned long long)page->file_size);
		SWS_ASSERT(n > 0 && n <= PART_HEAD_MAX + type_len);
		add_piece(m, to, 0, (uint64_t)n);
		to += n;
		SWS_ASSERT(part->from < part->to && part->to <= page->file_size);
		add_piece(m, m->whole.fd >= 0 ? NULL : page->body + part->from, part->from,
		    part->to - part->from);
	}
	n = sprintf(to, "\r\n--%s--\r\n", boundary);
	add_piece(m, to, 0, (uint64_t)n);
	for (unsigned i = 0; i < m->count; i++)
		total += m->pieces[i].len;
	return total;
}

int
sws_answer_parts(struct sws_answer *a, const struct http_ranges *ranges)
{
	char boundary[BOUNDARY_LEN + 1];
	const char *type;
	struct multipart *m;
	struct sws_page *page;
	uint64_t total;
	size_t type_len;

	SWS_ASSERT(ranges->count > 1 && ranges->count <= HTTP_RANGES_MAX);
	SWS_ASSERT(a->fd != SWS_FD_STREAM);
	type = sws_page_type(a->page, &type_len);
	m = malloc(sizeof *m + (ranges->count + 1) * (PART_HEAD_MAX + type_len));
	if (m == NULL || !make_boundary(boundary)) {
		free(m);
		return -ENOMEM;
	}
	m->stream.ops = &ops;
	m->whole = *a;
	m->count = m->next = 0;
	total = make_pieces(m, ranges, boundary, type, (int)type_len);
	if (sws_page_multipart(&page, a->page, boundary, total) != 0) {
		free(m);
		return -ENOMEM;
	}
	*a = (struct sws_answer){.page = page, .to = total, .fd = SWS_FD_STREAM,
		.flags = a->flags, .stream = &m->stream};
	return 0;
}
