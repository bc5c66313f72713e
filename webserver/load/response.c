/* SPDX-License-Identifier: MIT */
/*
 * response.c: responses of HTTP/1. A head that arrives whole is parsed where it lies; otherwise it
 * is collected first.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "load/response.h"

void
load_response_init(struct load_response *r, bool bodyless)
{
	*r = (struct load_response){.bodyless = bodyless};
}

void
load_response_fini(struct load_response *r)
{
	free(r->stash);
	r->stash = NULL;
	r->stash_len = r->stash_size = r->scanned = 0;
}

/* ---- the head ------------------------------------------------------------------------------ */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The characters of field names (RFC 9110, 5.6.2). */
static bool
is_token(const char *s, size_t len)
{
	static const bool token[256] = {
		['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1,
		['+'] = 1, ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1,
		['~'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1
	};

	bool ok = len > 0;

	/* Without a branch for each character, as nearly all names are right. */
	for (size_t i = 0; i < len; i++)
		ok &= token[(unsigned char)s[i]];
	return ok;
}

/* "HTTP/1.1 200 OK"; some servers send no reason and no blank before it. */
static bool
parse_status(struct load_response *r, const char *line, size_t len)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1')
	    || line[8] != ' ' || line[9] < '1' || line[9] > '9' || !is_digit(line[10])
	    || !is_digit(line[11]) || (len > 12 && line[12] != ' '))
		return false;
	r->status = (unsigned)(line[9] - '0') * 100 + (unsigned)(line[10] - '0') * 10
	    + (unsigned)(line[11] - '0');
	r->keep_alive = line[7] == '1';
	r->has_length = r->chunked = r->coded = r->closes = false;
	return true;
}

/* A list of one number, repeated at will (RFC 9112, 6.3). */
static bool
parse_length(struct load_response *r, const char *s, size_t len)
{
	for (size_t i = 0;; i++) {
		uint64_t n = 0;
		size_t first;

		while (i < len && (s[i] == ' ' || s[i] == '\t'))
			i++;
		for (first = i; i < len && is_digit(s[i]); i++)
			if (__builtin_mul_overflow(n, 10, &n)
			    || __builtin_add_overflow(n, (uint64_t)(s[i] - '0'), &n))
				return false;
		if (i == first || (r->has_length && n != r->length))
			return false;
		r->has_length = true;
		r->length = n;
		while (i < len && (s[i] == ' ' || s[i] == '\t'))
			i++;
		if (i == len)
			return true;
		if (s[i] != ',')
			return false;
	}
}

/* Call fn for each element of a list. */
static bool
for_each(struct load_response *r, const char *s, size_t len,
    bool (*fn)(struct load_response *r, const char *item, size_t len))
{
	const char *end = s + len;

	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *stop = comma != NULL ? comma : end;
		const char *next = comma != NULL ? comma + 1 : end;

		while (s < stop && (*s == ' ' || *s == '\t'))
			s++;
		while (stop > s && (stop[-1] == ' ' || stop[-1] == '\t'))
			stop--;
		if (stop > s && !fn(r, s, (size_t)(stop - s)))
			return false;
		s = next;
	}
	return true;
}

static bool
take_coding(struct load_response *r, const char *item, size_t len)
{
	/* Chunked is the last coding, once. */
	if (r->chunked)
		return false;
	r->coded = true;
	r->chunked = len == 7 && strncasecmp(item, "chunked", 7) == 0;
	return true;
}

static bool
take_connection(struct load_response *r, const char *item, size_t len)
{
	if (len == 5 && strncasecmp(item, "close", 5) == 0)
		r->closes = true;
	else if (len == 10 && strncasecmp(item, "keep-alive", 10) == 0)
		r->keep_alive = true;
	return true;
}

static bool
parse_field(struct load_response *r, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t name_len = colon != NULL ? (size_t)(colon - line) : 0;
	const char *value;
	size_t value_len;

	/* This also refuses a folded line, which begins with a blank. */
	if (colon == NULL || !is_token(line, name_len))
		return false;
	value = colon + 1;
	value_len = len - name_len - 1;
	/* Nothing else matters here. */
	if ((line[0] | 32) != 'c' && (line[0] | 32) != 't')
		return true;
	if (name_len == 14 && strncasecmp(line, "content-length", 14) == 0)
		return parse_length(r, value, value_len);
	if (name_len == 17 && strncasecmp(line, "transfer-encoding", 17) == 0)
		return for_each(r, value, value_len, take_coding);
	if (name_len == 10 && strncasecmp(line, "connection", 10) == 0)
		return for_each(r, value, value_len, take_connection);
	return true;
}

/* Decide how the body is framed (RFC 9112, 6.3), and whether there is any. */
static enum load_parse
end_of_head(struct load_response *r)
{
	if (r->status < 200) {
		/* An interim response; the final one follows. */
		return r->status != 101 ? LOAD_PARSE_MORE : LOAD_PARSE_BAD;
	}
	if (r->coded && r->has_length)
		return LOAD_PARSE_BAD;
	if (r->closes)
		r->keep_alive = false;
	if (r->bodyless || r->status == 204 || r->status == 304)
		return LOAD_PARSE_DONE;
	if (r->chunked) {
		r->state = LOAD_AT_CHUNK_FIRST;
		return LOAD_PARSE_MORE;
	}
	if (r->has_length && r->length == 0)
		return LOAD_PARSE_DONE;
	r->left = r->length;
	r->state = r->has_length ? LOAD_AT_LENGTH : LOAD_AT_CLOSE;
	if (!r->has_length)
		r->keep_alive = false;
	return LOAD_PARSE_MORE;
}

/* Parse a head; *used is 0 when its end is not there. */
static enum load_parse
parse_head(struct load_response *r, const char *in, size_t len, size_t *used)
{
	const char *at = in, *end = in + len, *lf;

	*used = 0;
	for (bool first = true; at < end && (lf = memchr(at, '\n', (size_t)(end - at))) != NULL;
	    at = lf + 1, first = false) {
		size_t line_len = (size_t)(lf - at);

		if (line_len > 0 && at[line_len - 1] == '\r')
			line_len--;
		if (memchr(at, '\r', line_len) != NULL)
			return LOAD_PARSE_BAD;
		if (line_len == 0 && !first) {
			*used = (size_t)(lf + 1 - in);
			return memchr(in, '\0', *used) == NULL ? end_of_head(r) : LOAD_PARSE_BAD;
		}
		if (first ? !parse_status(r, at, line_len) : !parse_field(r, at, line_len))
			return LOAD_PARSE_BAD;
	}
	return LOAD_PARSE_MORE;
}

/* Does the stash hold the end of the head? Looks at each byte once. */
static bool
stash_complete(struct load_response *r)
{
	for (size_t i = r->scanned; i < r->stash_len; i++) {
		if (r->stash[i] != '\n')
			continue;
		if ((i >= 1 && r->stash[i - 1] == '\n')
		    || (i >= 2 && r->stash[i - 1] == '\r' && r->stash[i - 2] == '\n')) {
			r->scanned = i + 1;
			return true;
		}
	}
	r->scanned = r->stash_len;
	return false;
}

static bool
stash_more(struct load_response *r, const char *in, size_t len)
{
	if (r->stash_len + len > r->stash_size) {
		size_t size = r->stash_len + len + 1024;
		char *grown = realloc(r->stash, size);

		if (grown == NULL)
			return false;
		r->stash = grown;
		r->stash_size = size;
	}
	memcpy(r->stash + r->stash_len, in, len);
	r->stash_len += len;
	return true;
}

/* A head that was cut: collect it. */
static enum load_parse
step_head_slow(struct load_response *r, const char *in, size_t len, struct load_step *step)
{
	size_t before = r->stash_len, used;
	enum load_parse result;

	if (len > LOAD_HEAD_MAX + 1 - before)
		len = LOAD_HEAD_MAX + 1 - before;
	if (!stash_more(r, in, len))
		return LOAD_PARSE_NO_MEMORY;
	if (!stash_complete(r)) {
		step->used = len;
		return r->stash_len > LOAD_HEAD_MAX ? LOAD_PARSE_BAD : LOAD_PARSE_MORE;
	}
	result = parse_head(r, r->stash, r->scanned, &used);
	SWS_ASSERT(result == LOAD_PARSE_BAD || used == r->scanned);
	SWS_ASSERT(r->scanned > before);
	step->used = r->scanned - before;
	load_response_fini(r);
	return result;
}

static enum load_parse
step_head(struct load_response *r, const char *in, size_t len, struct load_step *step)
{
	enum load_parse result;

	if (r->stash_len > 0)
		return step_head_slow(r, in, len, step);
	result = parse_head(r, in, len, &step->used);
	if (result == LOAD_PARSE_MORE && step->used == 0)
		return step_head_slow(r, in, len, step);
	return result;
}

/* ---- the body ------------------------------------------------------------------------------ */

static int
hex(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum load_parse
done(struct load_response *r)
{
	r->state = LOAD_AT_HEAD;
	return LOAD_PARSE_DONE;
}

/* The line of a chunk's size has ended. */
static void
begin_chunk(struct load_response *r)
{
	r->state = r->left > 0 ? LOAD_AT_CHUNK : LOAD_AT_TRAILER;
}

static bool
step_size(struct load_response *r, char c)
{
	int digit = hex(c);

	if (digit >= 0) {
		if (r->state == LOAD_AT_CHUNK_FIRST)
			r->left = 0;
		/* Room for one more digit, with a bit to spare. */
		if (r->left >> 59 != 0)
			return false;
		r->left = r->left * 16 + (unsigned)digit;
		r->state = LOAD_AT_CHUNK_SIZE;
		return true;
	}
	if (r->state == LOAD_AT_CHUNK_FIRST)
		return false;
	if (c == '\r')
		r->state = LOAD_AT_CHUNK_LF;
	else if (c == '\n')
		begin_chunk(r);
	else if (c == ';' || c == ' ' || c == '\t')
		r->state = LOAD_AT_CHUNK_EXTENSION;
	else
		return false;
	return true;
}

/* One byte of the text around chunks. */
static enum load_parse
step_byte(struct load_response *r, char c)
{
	switch (r->state) {
	case LOAD_AT_CHUNK_FIRST:
	case LOAD_AT_CHUNK_SIZE:
		return step_size(r, c) ? LOAD_PARSE_MORE : LOAD_PARSE_BAD;
	case LOAD_AT_CHUNK_EXTENSION:
		if (c == '\r')
			r->state = LOAD_AT_CHUNK_LF;
		else if (c == '\n')
			begin_chunk(r);
		return LOAD_PARSE_MORE;
	case LOAD_AT_CHUNK_LF:
		begin_chunk(r);
		return c == '\n' ? LOAD_PARSE_MORE : LOAD_PARSE_BAD;
	case LOAD_AT_CHUNK_END:
	case LOAD_AT_CHUNK_END_LF:
		if (c == '\n')
			r->state = LOAD_AT_CHUNK_FIRST;
		else if (c == '\r' && r->state == LOAD_AT_CHUNK_END)
			r->state = LOAD_AT_CHUNK_END_LF;
		else
			return LOAD_PARSE_BAD;
		return LOAD_PARSE_MORE;
	case LOAD_AT_TRAILER:
		if (c == '\n')
			return done(r);
		r->state = c == '\r' ? LOAD_AT_TRAILER_LF : LOAD_AT_TRAILER_LINE;
		return LOAD_PARSE_MORE;
	case LOAD_AT_TRAILER_LINE:
		if (c == '\n')
			r->state = LOAD_AT_TRAILER;
		return LOAD_PARSE_MORE;
	default:
		SWS_ASSERT(r->state == LOAD_AT_TRAILER_LF);
		return c == '\n' ? done(r) : LOAD_PARSE_BAD;
	}
}

static enum load_parse
step_chunked(struct load_response *r, const char *in, size_t len, struct load_step *step)
{
	enum load_parse result;

	if (r->state == LOAD_AT_CHUNK) {
		step->body = in;
		step->used = step->body_len = len < r->left ? len : (size_t)r->left;
		r->left -= step->used;
		if (r->left == 0)
			r->state = LOAD_AT_CHUNK_END;
		return LOAD_PARSE_MORE;
	}
	while (step->used < len && r->state != LOAD_AT_CHUNK) {
		result = step_byte(r, in[step->used]);
		if (result == LOAD_PARSE_BAD)
			return result;
		step->used++;
		if (result == LOAD_PARSE_DONE)
			return result;
	}
	return LOAD_PARSE_MORE;
}

enum load_parse
load_response_step(struct load_response *r, const char *in, size_t len, struct load_step *step)
{
	size_t head;
	enum load_parse result;

	SWS_DEBUG_ASSERT(len > 0);
	*step = (struct load_step){0};
	switch (r->state) {
	case LOAD_AT_HEAD:
		result = step_head(r, in, len, step);
		/* The usual case: the body is in the same buffer, of which one call takes all. */
		if (result != LOAD_PARSE_MORE || r->state != LOAD_AT_LENGTH || step->used == len)
			return result;
		break;
	case LOAD_AT_LENGTH:
		break;
	case LOAD_AT_CLOSE:
		*step = (struct load_step){len, in, len};
		return LOAD_PARSE_MORE;
	default:
		return step_chunked(r, in, len, step);
	}
	head = step->used;
	step->body = in + head;
	step->body_len = len - head < r->left ? len - head : (size_t)r->left;
	step->used = head + step->body_len;
	r->left -= step->body_len;
	return r->left > 0 ? LOAD_PARSE_MORE : done(r);
}

enum load_parse
load_response_end(struct load_response *r)
{
	if (r->state == LOAD_AT_CLOSE)
		return done(r);
	return load_response_idle(r) ? LOAD_PARSE_MORE : LOAD_PARSE_BAD;
}
