/* SPDX-License-Identifier: MIT */
/*
 * http.h: reading messages of HTTP/1.x, for the web proxies of this folder: heads, requests,
 * answers, bodies. Whatever a peer sends, the worst that comes of it is "broken" and a reason.
 */
#ifndef EXAMPLES_HTTP_H
#define EXAMPLES_HTTP_H

#include "async.h"
#include "vec.h"

enum progress { need_more, complete, broken };

/* ---- words ---- */

inline bool
same_word(const str &a, const char *b)
{
	return strcasecmp(a.cstr(), b) == 0;
}

inline str
trimmed(const char *text, size_t n)
{
	while (n > 0 && (*text == ' ' || *text == '\t'))
		text++, n--;
	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	return str(text, n);
}

inline bool
is_token(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((u_char)text[i]) && (text[i] == '\0' ||
		    strchr("!#$%&'*+-.^_`|~", text[i]) == NULL))
			return false;
	return n > 0;
}

/* Digits only, and no more than max. */
inline bool
number_of(const str &text, u_int64_t max, u_int64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < text.len(); i++) {
		if (!isdigit((u_char)text[i]) || *number > max / 10)
			return false;
		*number = *number * 10 + (text[i] - '0');
	}
	return text.len() > 0 && *number <= max;
}

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
	str why; /* it is broken */

	message_head() : bytes(0) {}

	/* Take what belongs to the head off in. */
	progress
	take(suio *in)
	{
		str line;

		while ((line = suio_getline(in))) {
			bytes += line.len() + 2;
			if (bytes > bytes_max)
				return fail("the head is too long");
			if (start && line.len() == 0)
				return complete;
			if (!plain(line))
				return fail("a control character in the head");
			if (!start && line.len() > 0)
				start = line;
			else if (start && !add(line))
				return fail("not a header");
		}
		if (bytes + in->resid() > bytes_max)
			return fail("the head is too long");
		return need_more;
	}

	/* The value; of several they are joined with commas; null when there is none. */
	str
	get(const char *name) const
	{
		str all;

		for (size_t i = 0; i < headers.size(); i++)
			if (same_word(headers[i].name, name))
				all = all ? str(strbuf() << all << ", " << headers[i].value) :
				    headers[i].value;
		return all;
	}

	/* Is word in the list which is the header's value? What follows "=" or ";" does not count,
	 * but for rest, which gets what stands behind "=". */
	bool
	has(const char *name, const char *word, str *rest = NULL) const
	{
		str value = get(name);
		const char *at = value ? value.cstr() : "";

		while (*at != '\0') {
			size_t n = strcspn(at, ","), length = strcspn(at, ",=;");
			if (same_word(trimmed(at, length), word)) {
				if (rest != NULL && at[length] == '=')
					*rest = trimmed(at + length + 1, n - length - 1);
				return true;
			}
			at += n + (at[n] == ',');
		}
		return false;
	}

private:
	size_t bytes;

	progress
	fail(const char *reason)
	{
		why = reason;
		return broken;
	}

	static bool
	plain(const str &line)
	{
		for (size_t i = 0; i < line.len(); i++)
			if (((u_char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
				return false;
		return true;
	}

	bool
	add(const str &line)
	{
		const char *colon = strchr(line, ':');
		header h;

		if (colon == NULL || !is_token(line, colon - line.cstr()) ||
		    headers.size() == headers_max)
			return false;
		h.name = str(line.cstr(), colon - line.cstr());
		h.value = trimmed(colon + 1, line.len() - (colon + 1 - line.cstr()));
		headers.push_back(h);
		return true;
	}
};

/* Headers that speak of one connection only, and those that are written anew. */
inline bool
is_of_hop(const message_head &head, const str &name)
{
	static const char *const of_hop[] = {"connection", "keep-alive", "proxy-connection",
	    "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
	    "upgrade", "content-length"};

	for (size_t i = 0; i < sizeof of_hop / sizeof of_hop[0]; i++)
		if (same_word(name, of_hop[i]))
			return true;
	return head.has("connection", name);
}

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

	void
	begin(const framing &how)
	{
		f = how;
		at = f.kind == framing::chunked ? size_line : data;
		left = f.kind == framing::counted ? f.length : 0;
	}

	/* Move what is of the body from in to out. */
	progress
	take(suio *in, suio *out)
	{
		if (f.kind == framing::none)
			return complete;
		if (f.kind == framing::until_close) {
			move(in, out, in->resid());
			return need_more;
		}
		if (f.kind == framing::counted) {
			left -= move(in, out, left);
			return left == 0 ? complete : need_more;
		}
		for (;;) {
			progress p = chunk(in, out);
			if (p != complete || at == end)
				return p;
		}
	}

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

	static u_int64_t
	move(suio *in, suio *out, u_int64_t max)
	{
		u_int64_t moved = 0;

		while (moved < max && in->resid() > 0) {
			size_t n = min<u_int64_t>(in->iov()->iov_len, max - moved);
			out->copy(in->iov()->iov_base, n);
			in->rembytes(n);
			moved += n;
		}
		return moved;
	}

	/* A step: "complete" is that of the step. */
	progress
	chunk(suio *in, suio *out)
	{
		if (at == data) {
			left -= move(in, out, left);
			if (left > 0)
				return need_more;
			at = data_end;
		}
		str line = suio_getline(in);
		if (!line)
			return in->resid() > line_max ? broken : need_more;
		if (at == data_end) {
			at = size_line;
			return line.len() == 0 ? complete : broken;
		}
		if (at == trailers) {
			trailer += line.len() + 2;
			if (line.len() == 0)
				at = end;
			return trailer > trailer_max ? broken : complete;
		}
		return size_of(line) ? complete : broken;
	}

	bool
	size_of(const str &line)
	{
		size_t digits = strspn(line, "0123456789abcdefABCDEF");

		if (digits == 0 || digits > 15 || strchr("; \t", line[digits]) == NULL)
			return false;
		left = strtoull(line, NULL, 16);
		at = left > 0 ? data : trailers;
		return true;
	}
};

/* What the headers say of the body's length: false when that can not be. */
inline bool
framing_of(const message_head &head, framing *f)
{
	str coding = head.get("transfer-encoding"), length = head.get("content-length");

	f->kind = framing::none;
	f->length = 0;
	if (coding) {
		f->kind = framing::chunked;
		return same_word(coding, "chunked");
	}
	if (length)
		f->kind = framing::counted;
	return !length || number_of(length, (u_int64_t)1 << 62, &f->length);
}

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

	/* False: it is to be refused. */
	bool
	parse(const message_head &head)
	{
		const char *line = head.start;
		const char *target = strchr(line, ' ');
		const char *version = target != NULL ? strchr(target + 1, ' ') : NULL;

		if (version == NULL || !is_token(line, target - line))
			return refuse(400, "not a request");
		if (strncmp(version, " HTTP/", 6) != 0 || !isdigit((u_char)version[6]))
			return refuse(400, "not a request of HTTP");
		if (strncmp(version, " HTTP/1.", 8) != 0)
			return refuse(505, "only HTTP/1.0 and HTTP/1.1");
		if (!isdigit((u_char)version[8]) || version[9] != '\0')
			return refuse(400, "not a version of HTTP");
		method = str(line, target - line);
		if (method != "GET" && method != "HEAD" && method != "POST")
			return refuse(501, "only GET, HEAD and POST");
		old = version[8] == '0';
		if (!old && !head.get("host"))
			return refuse(400, "no Host");
		return parse_target(head, str(target + 1, version - target - 1)) &&
		    parse_body(head);
	}

	/* Does the client wait with the body until it is told to continue? One of HTTP/1.0 does not
	 * know of answers before the answer, whatever it says. */
	bool
	waits(const message_head &head) const
	{
		return !old && body.length > 0 && head.has("expect", "100-continue");
	}

	/* Its name in the cache. */
	str
	key() const
	{
		return strbuf() << host << ":" << port << path;
	}

	/* For the origin. */
	str
	forwarded(const message_head &head, const str &via) const
	{
		strbuf out;

		out << method << " " << path << " HTTP/1.1\r\nHost: " << host;
		if (port != 80)
			out << ":" << port;
		out << "\r\n";
		for (size_t i = 0; i < head.headers.size(); i++) {
			const header &h = head.headers[i];
			if (!is_of_hop(head, h.name) && !same_word(h.name, "host") &&
			    !same_word(h.name, "expect"))
				out << h.name << ": " << h.value << "\r\n";
		}
		if (body.kind == framing::counted)
			out << "Content-Length: " << body.length << "\r\n";
		return out << "Via: 1.1 " << via << "\r\nConnection: close\r\n\r\n";
	}

private:
	bool
	refuse(int with, const char *reason)
	{
		status = with;
		why = reason;
		return false;
	}

	/* http://host:port/path, or /path and a Host. */
	bool
	parse_target(const message_head &head, const str &target)
	{
		const char *at = target;
		str authority = head.get("host");

		for (size_t i = 0; i < target.len(); i++)
			if ((u_char)at[i] <= ' ' || (u_char)at[i] >= 0x7f || at[i] == '#')
				return refuse(400, "a bad character in the address");
		if (strncasecmp(at, "http://", 7) == 0) {
			at += 7;
			size_t n = strcspn(at, "/?");
			authority = str(at, n);
			at += n;
		} else if (*at != '/') {
			return refuse(400, "neither http:// nor a path");
		}
		if (!authority)
			return refuse(400, "no Host");
		path = *at == '/' ? str(at) : str(strbuf() << "/" << at);
		return parse_authority(authority);
	}

	bool
	parse_authority(const str &authority)
	{
		size_t n = strcspn(authority, ":");
		u_int64_t number = 80;
		mstr lower(n);

		for (size_t i = 0; i < n; i++) {
			u_char c = authority[i];
			if (!isalnum(c) && c != '-' && c != '.' && c != '_')
				return refuse(400, "not the name of a host");
			lower[i] = tolower(c);
		}
		if (n == 0 || n > 255)
			return refuse(400, "not the name of a host");
		if (authority[n] == ':' && authority.len() > n + 1 &&
		    (!number_of(str(authority.cstr() + n + 1), 65535, &number) || number == 0))
			return refuse(400, "not a port");
		host = str(lower);
		port = number;
		return true;
	}

	bool
	parse_body(const message_head &head)
	{
		if (!framing_of(head, &body) ||
		    (body.kind == framing::chunked && head.get("content-length")))
			return refuse(400, "the length of the body can not be told");
		if (body.kind == framing::chunked)
			return refuse(411, "a body needs its Content-Length");
		if (body.kind == framing::none && method == "POST")
			return refuse(411, "POST needs a Content-Length");
		if (body.length > body_max)
			return refuse(413, "the body is too long");
		return true;
	}
};

/* ---- answers ---- */

struct answer {
	int status;
	str reason;
	framing body;

	answer() : status(0) {}

	/* False: what the origin has sent is none. */
	bool
	parse(const message_head &head, const request &asked)
	{
		const char *line = head.start;

		if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((u_char)line[7]) ||
		    line[8] != ' ' || strspn(line + 9, "0123456789") != 3 || line[9] == '0' ||
		    (line[12] != ' ' && line[12] != '\0'))
			return false;
		status = atoi(line + 9);
		reason = line[12] == ' ' ? str(line + 13) : str("");
		if (!framing_of(head, &body))
			return false;
		if (body.kind == framing::none)
			body.kind = framing::until_close;
		if (asked.method == "HEAD" || status / 100 == 1 || status == 204 || status == 304)
			body.kind = framing::none;
		return true;
	}

	/* For the client, but for the empty line. */
	str
	forwarded(const message_head &head, const str &via) const
	{
		strbuf out;

		out << "HTTP/1.1 " << status << " " << reason << "\r\n";
		for (size_t i = 0; i < head.headers.size(); i++)
			if (!is_of_hop(head, head.headers[i].name))
				out << head.headers[i].name << ": " <<
				    head.headers[i].value << "\r\n";
		return out << "Via: 1.1 " << via << "\r\nConnection: close\r\n";
	}
};

inline const char *
reason_of(int status)
{
	switch (status) {
	case 400: return "Bad Request";
	case 408: return "Request Timeout";
	case 411: return "Length Required";
	case 413: return "Content Too Large";
	case 501: return "Not Implemented";
	case 502: return "Bad Gateway";
	case 504: return "Gateway Timeout";
	case 505: return "HTTP Version Not Supported";
	case 508: return "Loop Detected";
	default: return "Error";
	}
}

/* An answer of the proxy's own. */
inline str
error_answer(int status, const str &why)
{
	str text = strbuf() << "webproxy: " << why << "\n";

	return strbuf() << "HTTP/1.1 " << status << " " << reason_of(status) <<
	    "\r\nContent-Type: text/plain\r\nContent-Length: " << text.len() <<
	    "\r\nConnection: close\r\n\r\n" << text;
}

#endif
