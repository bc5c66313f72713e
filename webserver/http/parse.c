/* SPDX-License-Identifier: MIT */
/*
 * parse.c: parses the request line and each field line once, in blocks of sixteen bytes, and
 * compares only field names that the server acts on.
 */
#include <string.h>

#include "base/assertion.h"
#include "http/host.h"
#include "http/parse.h"

enum stage {
	STAGE_LINE,
	STAGE_FIELDS
};

enum seen {
	SEEN_CLOSE = 1,
	SEEN_KEEP = 2
};

/* Result of parsing a line: MORE, a negative status, or the offset of the next line. */
#define MORE 0

_Static_assert(HTTP_HEAD_MAX <= UINT16_MAX, "spans are 16 bits wide");
_Static_assert(HTTP_FIELDS_MAX < UINT8_MAX, "the field counter is 8 bits wide");

/* RFC 9110 token characters. */
static const bool token[256] = {
	['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
	['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1
};

/*
 * Compare p[0 .. n) with lower, ignoring case; lower has letters in lower case and '-' only, which
 * all have bit 5 set. n is a constant of at least 4 in every call, so the loops become a few word
 * comparisons.
 */
static inline __attribute__((always_inline)) bool
same_name(const char *p, const char *lower, size_t n)
{
	const uint64_t fold = UINT64_C(0x2020202020202020);
	uint64_t a, b, differ = 0;
	uint32_t c, d;
	size_t i = 0;

	SWS_DEBUG_ASSERT(n >= 4);
	for (; n - i >= 8; i += 8) {
		memcpy(&a, p + i, 8);
		memcpy(&b, lower + i, 8);
		differ |= (a | fold) ^ b;
	}
	/* The rest, overlapping bytes that are already compared. */
	if (n - i > 4 && n >= 8) {
		memcpy(&a, p + n - 8, 8);
		memcpy(&b, lower + n - 8, 8);
		differ |= (a | fold) ^ b;
		i = n;
	}
	while (i < n) {
		size_t at = n - i < 4 ? n - 4 : i;

		memcpy(&c, p + at, 4);
		memcpy(&d, lower + at, 4);
		differ |= (c | (uint32_t)fold) ^ d;
		i = at + 4;
	}
	return differ == 0;
}

/* ---- the request line ---------------------------------------------------------------------- */

static bool
is_other_method(const char *p, size_t n)
{
	static const char *const names[] = {
		"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == n && memcmp(names[i], p, n) == 0)
			return true;
	return false;
}

/* Any method that the fast path does not handle. Returns the target's offset, MORE or a status. */
static int
method_slow(const char *buf, size_t at, size_t len, struct http_request *req)
{
	size_t i = at;

	SWS_DEBUG_ASSERT(at <= len);
	while (i < len && token[(unsigned char)buf[i]])
		i++;
	if (i == len)
		return i - at > HTTP_TARGET_MAX ? -400 : MORE;
	if (buf[i] != ' ' || i == at)
		return -400;
	if (i - at == 3 && memcmp(buf + at, "GET", 3) == 0)
		req->method = HTTP_GET;
	else if (i - at == 4 && memcmp(buf + at, "HEAD", 4) == 0)
		req->method = HTTP_HEAD;
	else
		req->method = is_other_method(buf + at, i - at) ? HTTP_OTHER : HTTP_UNKNOWN;
	return (int)i + 1;
}

/* A target without a leading '/': the absolute form, or a form that only other methods have. */
static int
target_slow(const char *buf, size_t at, size_t end, struct http_request *req)
{
	size_t host, i;

	if (req->method >= HTTP_OTHER)
		return end > at ? 0 : -400;
	if (end - at >= 7 && same_name(buf + at, "http://", 7))
		host = at + 7;
	else if (end - at >= 8 && same_name(buf + at, "https://", 8))
		host = at + 8, req->flags |= HTTP_SECURE;
	else
		return -400;
	i = host + http_host_span(buf + host, end - host);
	/* RFC 9110, 4.2.1: without a host it must be refused. */
	if (i == host || buf[host] == ':' || (i < end && buf[i] != '/' && buf[i] != '?')
	    || !http_host_valid(buf + host, i - host))
		return -400;
	req->path.at = (uint16_t)i;
	req->authority = (struct http_span){(uint16_t)host, (uint16_t)(i - host)};
	/* The slashes of the scheme have set the mark, so the path does not count as plain. This
	 * form is too rare to optimize. */
	return 0;
}

/* Parse "HTTP/1.x" and the end of the line at buf[at]. Returns the offset of the next line. */
static int
version(const char *buf, size_t at, size_t len, struct http_request *req)
{
	const char *v = buf + at;
	size_t have = len - at;
	static const char form[] = "HTTP/d.d\r\n";

	SWS_DEBUG_ASSERT(at <= len);
	if (have >= 10 && memcmp(v, "HTTP/1.1", 8) == 0 && memcmp(v + 8, "\r\n", 2) == 0) {
		req->minor = 1;
		return (int)(at + 10);
	}
	for (size_t i = 0; i < 10; i++) {
		if (i >= have)
			return MORE;
		if (form[i] == 'd' ? (unsigned char)(v[i] - '0') > 9 : v[i] != form[i])
			return -400;
	}
	if (v[5] != '1')
		return -505;
	req->minor = v[7] != '0';
	return (int)(at + 10);
}

/* Split buf[at .. end) into path and query, and check it. */
static int
target(const char *buf, size_t at, size_t end, unsigned marks, struct http_request *req)
{
	size_t path_end = end;

	if (end - at > HTTP_TARGET_MAX)
		return -414;
	if (marks & HTTP_TARGET_HASH)
		return -400;
	req->path.at = (uint16_t)at;
	if (buf[at] != '/') {
		int status = target_slow(buf, at, end, req);

		if (status < 0)
			return status;
	}
	SWS_DEBUG_ASSERT(req->path.at >= at && req->path.at <= end);
	if (marks & HTTP_TARGET_QUERY) {
		const char *q = memchr(buf + req->path.at, '?', end - req->path.at);

		if (q != NULL) {
			path_end = (size_t)(q - buf);
			req->query.at = (uint16_t)path_end;
			req->query.len = (uint16_t)(end - path_end);
		}
	}
	req->path.len = (uint16_t)(path_end - req->path.at);
	/* Every byte of the target belongs to the path or to the query. */
	SWS_DEBUG_ASSERT((size_t)req->path.at + req->path.len + req->query.len == end);
	if ((marks & (HTTP_TARGET_PERCENT | HTTP_TARGET_DOTS)) == 0 && req->path.len > 0)
		req->flags |= HTTP_PLAIN;
	return 0;
}

static int
request_line(struct http_parser *ps, const char *buf, size_t len, struct http_request *req)
{
	size_t at = ps->line, end;
	unsigned marks;
	int next, status;

	/* Only an empty line before the request counts as understood. */
	SWS_DEBUG_ASSERT((at == 0 || at == 2) && at <= len);
	memset(req, 0, sizeof *req);
	ps->seen = 0;
	if (len - at >= 4 && memcmp(buf + at, "GET ", 4) == 0) {
		at += 4;
	} else {
		/* One empty line before a request is ignored (RFC 9112, 2.2). */
		if (at == 0 && len > 0 && buf[0] == '\r') {
			if (len < 2)
				return MORE;
			if (buf[1] != '\n')
				return -400;
			at = ps->line = 2;
		}
		next = method_slow(buf, at, len, req);
		if (next <= 0)
			return next;
		at = (size_t)next;
	}
	end = http_scan_target(buf, at, len, &marks);
	if (end == len)
		return end - at > HTTP_TARGET_MAX ? -414 : MORE;
	if (buf[end] != ' ' || end == at)
		return -400;
	status = target(buf, at, end, marks, req);
	if (status < 0)
		return status;
	return version(buf, end + 1, len, req);
}

/* ---- field lines --------------------------------------------------------------------------- */

static int
content_length(struct http_parser *ps, const char *p, size_t n)
{
	uint64_t value = 0;

	if (n == 0 || n > 18)
		return -400;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)(p[i] - '0') > 9)
			return -400;
		value = value * 10 + (uint64_t)(p[i] - '0');
	}
	ps->content_length = value;
	return 0;
}

static int
host(const char *p, size_t n)
{
	/* Fast path for a short name or number without a port, or with one that ends it; the block
	 * may reach into the pad. */
	if (n <= HTTP_BLOCK) {
		uint32_t all = (1u << n) - 1, colon = http_block_equal(p, ':') & all;
		/* The bytes from the first colon on; all of them digits but the colon. */
		uint32_t port = all & ~((colon & -colon) - 1);

		if ((http_block_host(p) & all) == all
		    && ((http_block_digit(p) | (colon & -colon)) & port) == port)
			return 0;
	}
	return http_host_valid(p, n) ? 0 : -400;
}

/* Parse the options of a Connection field; unknown ones are ignored. */
static void
connection(struct http_parser *ps, const char *p, size_t n)
{
	size_t i = 0;

	if (n == 10 && same_name(p, "keep-alive", 10)) {
		ps->seen |= SEEN_KEEP;
		return;
	}
	while (i < n) {
		size_t from;

		while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == ','))
			i++;
		from = i;
		while (i < n && token[(unsigned char)p[i]])
			i++;
		if (i - from == 5 && same_name(p + from, "close", 5))
			ps->seen |= SEEN_CLOSE;
		else if (i - from == 10 && same_name(p + from, "keep-alive", 10))
			ps->seen |= SEEN_KEEP;
		while (i < n && p[i] != ',')
			i++;
	}
}

/* Lengths and first letters of the names that are kept, as bit sets. */
#define BIT(n) (UINT64_C(1) << (n))
#define HTTP_FIELD(symbol, name) | BIT(sizeof name - 1)
static const uint64_t lengths = 0
#include "http/fields.def"
    ;
#undef HTTP_FIELD

/* Two bits rule out most of the fields that browsers send and the server ignores. */
static inline bool
may_matter(char first, size_t name_len)
{
	uint64_t letters = 0;

#define HTTP_FIELD(symbol, name) letters |= BIT((name)[0] & 63);
#include "http/fields.def"
#undef HTTP_FIELD
	return name_len < 64 && (lengths >> name_len & letters >> ((first | 0x20) & 63) & 1);
}

static inline enum http_field
field_of(const char *n, size_t name_len)
{
#define HTTP_FIELD(symbol, name) \
	if (name_len == sizeof name - 1 && same_name(n, name, sizeof name - 1)) \
		return HTTP_##symbol;
#include "http/fields.def"
#undef HTTP_FIELD
	return HTTP_FIELDS;
}

/* Keep a complete field if its name is relevant, and act on what frames the message. */
static int
field(struct http_parser *ps, const char *buf, size_t name, size_t name_len, size_t value,
    size_t value_len, struct http_request *req)
{
	enum http_field f = field_of(buf + name, name_len);
	const char *v = buf + value;

	SWS_DEBUG_ASSERT(name + name_len < value && value + value_len <= HTTP_HEAD_MAX);
	if (f == HTTP_FIELDS)
		return 0;
	req->many |= (uint16_t)(req->present & 1u << f);
	req->present |= (uint16_t)(1u << f);
	req->field[f] = (struct http_span){(uint16_t)value, (uint16_t)value_len};
	switch (f) {
	case HTTP_HOST:
		return host(v, value_len);
	case HTTP_CONNECTION:
		connection(ps, v, value_len);
		return 0;
	case HTTP_CONTENT_LENGTH:
		return content_length(ps, v, value_len);
	default:
		return 0;
	}
}

/* A name with unusual characters, or a very long one. Returns the colon's offset, MORE or -400. */
static __attribute__((noinline)) int
name_end_slow(const char *buf, size_t at, size_t len)
{
	size_t i = at;

	SWS_DEBUG_ASSERT(at <= len);
	while (i < len && token[(unsigned char)buf[i]])
		i++;
	if (i == len)
		return MORE;
	return buf[i] == ':' && i > at ? (int)i : -400;
}

static inline int
name_end(const char *buf, size_t at, size_t len)
{
	/* Two blocks hold nearly every name; the second one may reach into the pad. */
	for (size_t block = at; block <= at + HTTP_BLOCK; block += HTTP_BLOCK) {
		uint32_t colon = http_block_equal(buf + block, ':');
		uint32_t before = colon != 0 ? (colon & -colon) - 1 : 0xffff;
		size_t end = block + (size_t)__builtin_ctz(colon | 1u << HTTP_BLOCK);

		if ((http_block_name(buf + block) & before) != before)
			break;
		if (colon != 0) {
			if (end > at && end < len)
				return (int)end;
			break;
		}
	}
	return name_end_slow(buf, at, len);
}

/* The line at buf[at] is incomplete: MORE, or -400 if it is wrong already. */
static int
cut_line(const char *buf, size_t at, size_t len)
{
	return at < len && name_end(buf, at, len) < 0 ? -400 : MORE;
}

/*
 * Parse the field line at buf[at]; the next control character of *it is the first one from there.
 * Returns the offset of the next line, MORE or a status.
 */
static inline int
field_line(struct http_parser *ps, const char *buf, size_t at, struct http_controls *it,
    struct http_request *req)
{
	size_t len = it->end, end = http_controls_next(it), value, next, line_feed;
	int colon, status;

	/* The controls of the lines before are skipped. */
	SWS_DEBUG_ASSERT(at <= end && end <= len);
	if (end == len)
		return cut_line(buf, at, len);
	colon = name_end(buf, at, end);
	if (colon <= 0 || buf[end] != '\r')
		return -400;
	if (end + 1 == len)
		return MORE;
	if (buf[end + 1] != '\n')
		return -400;
	http_controls_skip(it);
	line_feed = http_controls_next(it);
	SWS_DEBUG_ASSERT(line_feed == end + 1);
	http_controls_skip(it);
	next = end + 2;
	if (ps->fields++ == HTTP_FIELDS_MAX)
		return -431;
	if (!may_matter(buf[at], (size_t)colon - at))
		return (int)next;
	value = (size_t)colon + 1;
	while (value < end && (buf[value] == ' ' || buf[value] == '\t'))
		value++;
	while (end > value && (buf[end - 1] == ' ' || buf[end - 1] == '\t'))
		end--;
	status = field(ps, buf, at, (size_t)colon - at, value, end - value, req);
	return status < 0 ? status : (int)next;
}

/* ---- the head as a whole ------------------------------------------------------------------- */

/* All lines are parsed: check them together. 0 or a status. */
static int
finish(struct http_parser *ps, struct http_request *req)
{
	SWS_DEBUG_ASSERT(req->method <= HTTP_UNKNOWN && req->minor <= 1);
	SWS_DEBUG_ASSERT((req->many & ~req->present) == 0);
	if (req->many & (1u << HTTP_HOST | 1u << HTTP_CONTENT_LENGTH))
		return -400;
	if (http_has(req, HTTP_TRANSFER_ENCODING)) {
		/* A coding together with a length, in HTTP/1.0, or where no body belongs serves to
		 * smuggle requests. */
		if (http_has(req, HTTP_CONTENT_LENGTH) || req->minor == 0
		    || req->method <= HTTP_HEAD)
			return -400;
	}
	if (req->minor > 0 && !http_has(req, HTTP_HOST))
		return -400;
	if (req->method == HTTP_OTHER)
		return -405;
	if (req->method == HTTP_UNKNOWN)
		return -501;
	/* The end of such a body is unknown here: the next request could begin anywhere. */
	SWS_DEBUG_ASSERT(!http_has(req, HTTP_TRANSFER_ENCODING));
	if (http_has(req, HTTP_CONTENT_LENGTH)) {
		if (ps->content_length > HTTP_BODY_MAX)
			return -413;
		req->body_len = (uint32_t)ps->content_length;
	}
	if (!(ps->seen & SEEN_CLOSE)) {
		if (req->minor > 0)
			req->flags |= HTTP_KEEP;
		else if (ps->seen & SEEN_KEEP)
			req->flags |= HTTP_KEEP | HTTP_TOLD_KEEP;
	}
	/* A client that waits for "100 Continue" may or may not send its body after a final answer,
	 * so what follows is ambiguous. HTTP/1.0 knows no such wait. */
	if (http_has(req, HTTP_EXPECT) && req->body_len > 0 && req->minor > 0)
		req->flags &= (uint8_t)~(HTTP_KEEP | HTTP_TOLD_KEEP);
	SWS_DEBUG_ASSERT(!(req->flags & HTTP_TOLD_KEEP) || (req->flags & HTTP_KEEP));
	return 0;
}

/* The stages read what a span names without another check of its bounds. */
static inline void
assert_span(struct http_span span, size_t head_len)
{
	SWS_DEBUG_ASSERT((size_t)span.at + span.len <= head_len);
}

/* No complete head in len bytes: 0 if there is still room for one, else a status. */
static int
incomplete(const struct http_parser *ps, size_t len)
{
	SWS_ASSERT(ps->line <= len);
	if (len < HTTP_HEAD_MAX)
		return 0;
	return ps->stage == STAGE_LINE ? -414 : -431;
}

int
http_parse(struct http_parser *parser, const char *buf, size_t len, struct http_request *request)
{
	struct http_controls it;
	size_t at;
	int next, status;

	if (len > HTTP_HEAD_MAX)
		len = HTTP_HEAD_MAX;
	/* A further call has at least the input of the one before. */
	SWS_DEBUG_ASSERT(parser->line <= len && parser->stage <= STAGE_FIELDS);
	if (parser->stage == STAGE_LINE) {
		next = request_line(parser, buf, len, request);
		if (next <= 0)
			return next < 0 ? next : incomplete(parser, len);
		parser->line = (uint16_t)next;
		parser->stage = STAGE_FIELDS;
		parser->fields = 0;
	}
	at = parser->line;
	it = http_controls_begin(buf, at, len);
	for (;;) {
		if (at >= len)
			return incomplete(parser, len);
		if (buf[at] == '\r') {
			if (at + 1 == len)
				return incomplete(parser, len);
			if (buf[at + 1] != '\n')
				return -400;
			break;
		}
		next = field_line(parser, buf, at, &it, request);
		if (next <= 0)
			return next < 0 ? next : incomplete(parser, len);
		at = (size_t)next;
		parser->line = (uint16_t)at;
	}
	status = finish(parser, request);
	if (status < 0)
		return status;
	parser->line = 0;
	parser->stage = STAGE_LINE;
	SWS_DEBUG_ASSERT(at + 2 <= len);
	assert_span(request->path, at);
	assert_span(request->query, at);
	for (int i = 0; i < HTTP_FIELDS; i++)
		assert_span(request->field[i], at);
	return (int)at + 2;
}

bool
http_next_line(const char *head, enum http_field field, size_t *at, struct http_span *value)
{
	const char *p = head + *at;

	/* At first, behind the request line; an empty line may precede that. */
	if (*at == 0)
		p = strchr(head + (head[0] == '\r' ? 2 : 0), '\n') + 1;

	while (*p != '\r') {
		const char *colon = strchr(p, ':'), *end = strchr(colon, '\r');
		bool is = field_of(p, (size_t)(colon - p)) == field;

		SWS_DEBUG_ASSERT(colon < end && end[1] == '\n');
		p = end + 2;
		if (!is)
			continue;
		while (++colon < end && (*colon == ' ' || *colon == '\t'))
			;
		while (end > colon && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*value = (struct http_span){(uint16_t)(colon - head), (uint16_t)(end - colon)};
		*at = (size_t)(p - head);
		return true;
	}
	return false;
}
