/* SPDX-License-Identifier: MIT */
/*
 * http.cc: parse messages of HTTP/1.x (http.h).
 */
#include "http.h"

/* ---- words ---- */

bool
same_word(const str &a, const char *b)
{
	return strcasecmp(a.cstr(), b) == 0;
}

static str
trimmed(const char *text, size_t n)
{
	while (n > 0 && (*text == ' ' || *text == '\t'))
		text++, n--;
	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	return str(text, n);
}

static bool
is_token(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((u_char)text[i]) && (text[i] == '\0' ||
		    strchr("!#$%&'*+-.^_`|~", text[i]) == NULL))
			return false;
	return n > 0;
}

bool
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

progress
message_head::fail(const char *reason)
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
message_head::add(const str &line)
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

progress
message_head::take(suio *in)
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

str
message_head::get(const char *name) const
{
	str all;

	for (size_t i = 0; i < headers.size(); i++)
		if (same_word(headers[i].name, name))
			all = all ? str(strbuf() << all << ", " << headers[i].value) :
			    headers[i].value;
	return all;
}

bool
message_head::has(const char *name, const char *word, str *rest) const
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

/* Does this header concern one connection only, or does the proxy replace it? */
static bool
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

void
body_reader::begin(const framing &how)
{
	f = how;
	at = f.kind == framing::chunked ? size_line : data;
	left = f.kind == framing::counted ? f.length : 0;
}

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

bool
body_reader::size_of(const str &line)
{
	size_t digits = strspn(line, "0123456789abcdefABCDEF");

	if (digits == 0 || digits > 15 || strchr("; \t", line[digits]) == NULL)
		return false;
	left = strtoull(line, NULL, 16);
	at = left > 0 ? data : trailers;
	return true;
}

/* One step; "complete" means that this step is complete. */
progress
body_reader::chunk(suio *in, suio *out)
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

progress
body_reader::take(suio *in, suio *out)
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

/* The framing that the headers announce; false when they contradict themselves. */
static bool
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

bool
request::refuse(int with, const char *reason)
{
	status = with;
	why = reason;
	return false;
}

bool
request::parse_authority(const str &authority)
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

/* http://host:port/path, or /path and a Host header. */
bool
request::parse_target(const message_head &head, const str &target)
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
request::parse_body(const message_head &head)
{
	if (!framing_of(head, &body) ||
	    (body.kind == framing::chunked && head.get("content-length")))
		return refuse(400, "the length of the body is not clear");
	if (body.kind == framing::chunked)
		return refuse(411, "a body needs its Content-Length");
	if (body.kind == framing::none && method == "POST")
		return refuse(411, "POST needs a Content-Length");
	if (body.length > body_max)
		return refuse(413, "the body is too long");
	return true;
}

bool
request::parse(const message_head &head)
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

str
request::forwarded(const message_head &head, const str &via) const
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

/* ---- answers ---- */

bool
answer::parse(const message_head &head, const request &asked)
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

str
answer::forwarded(const message_head &head, const str &via) const
{
	strbuf out;

	out << "HTTP/1.1 " << status << " " << reason << "\r\n";
	for (size_t i = 0; i < head.headers.size(); i++)
		if (!is_of_hop(head, head.headers[i].name))
			out << head.headers[i].name << ": " <<
			    head.headers[i].value << "\r\n";
	return out << "Via: 1.1 " << via << "\r\nConnection: close\r\n";
}

static const char *
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

str
error_answer(int status, const str &why)
{
	str text = strbuf() << "webproxy: " << why << "\n";

	return strbuf() << "HTTP/1.1 " << status << " " << reason_of(status) <<
	    "\r\nContent-Type: text/plain\r\nContent-Length: " << text.len() <<
	    "\r\nConnection: close\r\n\r\n" << text;
}
