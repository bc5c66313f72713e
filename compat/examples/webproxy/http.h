/* SPDX-License-Identifier: MIT */
/*
 * http.h: parse messages of HTTP/1.x: heads, requests, answers and bodies. Whatever a peer sends,
 * the worst result is "broken" and a reason.
 */
#ifndef EXAMPLES_HTTP_H
#define EXAMPLES_HTTP_H

#include "async.h"
#include "vec.h"

enum progress { need_more, complete, broken };

/* ---- words ---- */

bool same_word(const str &a, const char *b);

/* Parse a decimal number, at most max. */
bool number_of(const str &text, u_int64_t max, u_int64_t *number);

/* ---- heads ---- */

struct header {
	str name, value;
};

/* The first line of a message, and its headers. */
class message_head
{
public:
	enum { bytes_max = 16384, headers_max = 100 };

	str start;
	vec<header> headers;
	str why; /* the head is broken */

	message_head() : bytes(0) {}

	/* Move the bytes of the head from in to this object. */
	progress take(suio *in);

	/* The value of a header, null without one. Several values are joined with commas. */
	str get(const char *name) const;

	/* Is word in the comma-separated list of this header? Text behind "=" or ";" is not
	 * compared; *rest gets the text behind "=". */
	bool has(const char *name, const char *word, str *rest = NULL) const;

private:
	size_t bytes;

	progress fail(const char *reason);
	bool add(const str &line);
};

/* ---- bodies ---- */

struct framing {
	enum { none, counted, chunked, until_close } kind;
	u_int64_t length;
};

/* Follows a body through the bytes of a connection. */
class body_reader
{
public:
	enum { line_max = 4096, trailer_max = 16384 };

	body_reader() : at(data), left(0), trailer(0) { f.kind = framing::none; }

	void begin(const framing &how);

	/* Move the bytes of the body from in to out. */
	progress take(suio *in, suio *out);

	/* The sender has closed the connection. */
	progress
	closed() const
	{
		return f.kind == framing::until_close ? complete : broken;
	}

private:
	framing f;
	enum { data, size_line, data_end, trailers, end } at;
	u_int64_t left;
	size_t trailer;

	progress chunk(suio *in, suio *out);
	bool size_of(const str &line);
};

/* ---- requests ---- */

struct request {
	enum { body_max = 1 << 20 };

	str method, host, path;
	u_int16_t port;
	bool old; /* HTTP/1.0 */
	framing body;
	int status; /* of the refusal */
	str why;

	request() : port(80), old(false), status(0) {}

	/* False: refuse the request with status and why. */
	bool parse(const message_head &head);

	/* Does the client send the body only after "100 Continue"? An HTTP/1.0 client does not know
	 * that answer, whatever its head says. */
	bool
	waits(const message_head &head) const
	{
		return !old && body.length > 0 && head.has("expect", "100-continue");
	}

	/* The name of the answer in the cache. */
	str key() const { return strbuf() << host << ":" << port << path; }

	/* The head that the origin gets. */
	str forwarded(const message_head &head, const str &via) const;

private:
	bool refuse(int with, const char *reason);
	bool parse_target(const message_head &head, const str &target);
	bool parse_authority(const str &authority);
	bool parse_body(const message_head &head);
};

/* ---- answers ---- */

struct answer {
	int status;
	str reason;
	framing body;

	answer() : status(0) {}

	/* False: the origin has not sent an answer of HTTP/1.x. */
	bool parse(const message_head &head, const request &asked);

	/* The head that the client gets, without the empty line. */
	str forwarded(const message_head &head, const str &via) const;
};

/* An answer that the proxy makes itself. */
str error_answer(int status, const str &why);

#endif
