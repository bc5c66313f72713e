/* SPDX-License-Identifier: MIT */
/*
 * response.h: responses of HTTP/1 (RFC 9112), as they arrive. Pure but for the memory of a head
 * that arrives in pieces; one thread at a time.
 *
 * The parser takes any bytes, cut anywhere. It accepts what the RFC lets a server send, and line
 * ends without CR; framing that two readers could understand differently is refused.
 */
#ifndef LOAD_RESPONSE_H
#define LOAD_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer head is refused. */
#define LOAD_HEAD_MAX 65536

enum load_response_state {
	LOAD_AT_HEAD,
	LOAD_AT_LENGTH,  /* left bytes of body follow */
	LOAD_AT_CLOSE,   /* the body ends with the connection */
	LOAD_AT_CHUNK_FIRST, /* the first digit of a chunk's size */
	LOAD_AT_CHUNK_SIZE,
	LOAD_AT_CHUNK_EXTENSION,
	LOAD_AT_CHUNK_LF,
	LOAD_AT_CHUNK,   /* left bytes of the chunk follow */
	LOAD_AT_CHUNK_END,
	LOAD_AT_CHUNK_END_LF,
	LOAD_AT_TRAILER, /* the begin of a line of the trailer */
	LOAD_AT_TRAILER_LINE,
	LOAD_AT_TRAILER_LF /* the LF of the empty line */
};

struct load_response {
	enum load_response_state state;
	unsigned status;   /* of the response in progress, or of the last one */
	bool bodyless;     /* answers to HEAD */
	bool keep_alive;   /* the connection may be used again after the response */
	bool has_length, chunked, coded, closes; /* what the head says */
	uint64_t length;   /* Content-Length */
	uint64_t left;
	char *stash;       /* an incomplete head */
	size_t stash_len, stash_size, scanned;
};

enum load_parse {
	LOAD_PARSE_MORE, /* call again with what follows */
	LOAD_PARSE_DONE, /* the response is complete */
	LOAD_PARSE_BAD,  /* this is not a response */
	LOAD_PARSE_NO_MEMORY
};

/** What one step has found. */
struct load_step {
	size_t used;      /* bytes of the input that are done with */
	const char *body; /* a piece of the body */
	size_t body_len;  /* 0: none */
};

/** bodyless: the requests are HEAD. */
void load_response_init(struct load_response *r, bool bodyless);
/** Free what an incomplete head holds. */
void load_response_fini(struct load_response *r);

/** Take up to len > 0 bytes. MORE may leave some of them: the next step goes on there. */
enum load_parse load_response_step(struct load_response *r, const char *in, size_t len,
    struct load_step *step);

/** The connection has ended: DONE if that completes the response, MORE if none had begun. */
enum load_parse load_response_end(struct load_response *r);

/** True between two responses. */
static inline bool
load_response_idle(const struct load_response *r)
{
	return r->state == LOAD_AT_HEAD && r->stash_len == 0;
}

#endif
