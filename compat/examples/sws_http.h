/* SPDX-License-Identifier: MIT */
/*
 * sws_http.h: what sws understands of HTTP: the head of a GET or HEAD, without a body.
 */
#ifndef SWS_HTTP_H
#define SWS_HTTP_H

#include <ctype.h>
#include <string>
#include <string.h>
#include <strings.h>

struct request {
	int status;       /* 200, or the error that is the answer */
	bool head;        /* HEAD: no body */
	bool keep;        /* another request may follow */
	std::string path; /* decoded, from the first slash */
};

/* The length of the head at the beginning of a buffer, its empty line included; 0: not all of it is
 * there. Empty lines in front count. */
static inline size_t
head_length(const char *in, size_t length)
{
	size_t begin = 0, line, i;

	while (begin < length && (in[begin] == '\r' || in[begin] == '\n'))
		begin++;
	for (line = i = begin; i < length; i++) {
		if (in[i] != '\n')
			continue;
		if (i > begin && (i == line || (i == line + 1 && in[line] == '\r')))
			return i + 1;
		line = i + 1;
	}
	return 0;
}

static inline bool
is_token(const std::string &s)
{
	for (size_t i = 0; i < s.size(); i++)
		if (!isalnum((unsigned char)s[i]) &&
		    (s[i] == '\0' || strchr("!#$%&'*+-.^_`|~", s[i]) == NULL))
			return false;
	return !s.empty();
}

/* Without blanks at both ends. */
static inline std::string
trimmed(const std::string &s)
{
	size_t begin = s.find_first_not_of(" \t"), end = s.find_last_not_of(" \t");

	return begin == std::string::npos ? std::string() : s.substr(begin, end - begin + 1);
}

static inline int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* The path of a target. 200, or what is wrong with it: .. leads out of the folder, or might. */
static inline int
decode_path(std::string target, std::string *path)
{
	if (strncasecmp(target.c_str(), "http://", 7) == 0) {
		size_t end = target.find_first_of("/?#", 7);
		target = end == std::string::npos || target[end] != '/' ? "/" : target.substr(end);
	}
	target = target.substr(0, target.find_first_of("?#"));
	if (target.empty() || target[0] != '/')
		return 400;
	for (size_t i = 0; i < target.size(); i++) {
		int c = (unsigned char)target[i];

		if (c == '%') {
			int high = i + 2 < target.size() ? hex_digit(target[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(target[i + 2]) : -1;

			if (low < 0)
				return 400;
			c = high * 16 + low;
			i += 2;
		}
		if (c < ' ' || c == 127)
			return 400;
		*path += (char)c;
	}
	return (*path + "/").find("/../") == std::string::npos ? 200 : 403;
}

/* Does a list of words, as in Connection, have this one? */
static inline bool
has_word(const std::string &list, const char *word)
{
	size_t begin = 0, end;

	do {
		end = list.find(',', begin);
		std::string one = trimmed(list.substr(begin, end - begin));
		if (strcasecmp(one.c_str(), word) == 0)
			return true;
		begin = end + 1;
	} while (end != std::string::npos);
	return false;
}

static inline int
parse_request_line(const std::string &line, request *r, bool *is_1_1)
{
	size_t first = line.find(' '), last = line.rfind(' ');

	if (first == std::string::npos || first == last)
		return 400;
	std::string method = line.substr(0, first), version = line.substr(last + 1);
	std::string target = line.substr(first + 1, last - first - 1);
	if (!is_token(method) || target.find(' ') != std::string::npos)
		return 400;
	if (version.size() != 8 || version.compare(0, 5, "HTTP/") != 0 || version[6] != '.' ||
	    !isdigit((unsigned char)version[5]) || !isdigit((unsigned char)version[7]))
		return 400;
	if (version[5] != '1')
		return 505;
	*is_1_1 = version[7] != '0';
	r->keep = *is_1_1;
	r->head = method == "HEAD";
	int status = decode_path(target, &r->path);
	if (status == 200 && method != "GET" && method != "HEAD")
		return 405;
	return status;
}

/* A line below the first. hosts counts the lines that name the host; connection gets what all
 * those of that name have to say. */
static inline int
parse_field(const std::string &line, std::string *connection, int *hosts)
{
	size_t colon = line.find(':');

	if (colon == std::string::npos || !is_token(line.substr(0, colon)))
		return 400;
	std::string name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
	for (size_t i = 0; i < value.size(); i++)
		if (iscntrl((unsigned char)value[i]) && value[i] != '\t')
			return 400;
	if (strcasecmp(name.c_str(), "connection") == 0)
		*connection += value + ",";
	else if (strcasecmp(name.c_str(), "host") == 0)
		++*hosts;
	else if (strcasecmp(name.c_str(), "content-length") == 0)
		return value == "0" ? 200 : 400;
	else if (strcasecmp(name.c_str(), "transfer-encoding") == 0)
		return 400;
	return 200;
}

/* The head that a buffer begins with, of the length that head_length has found. */
static inline request
parse_head(const char *in, size_t length)
{
	request r = request();
	const char *line = in, *end = in + length;
	bool first = true, is_1_1 = false;
	int hosts = 0, status;
	std::string connection;

	r.status = 200;
	while (line < end) {
		const char *next = (const char *)memchr(line, '\n', end - line) + 1;
		std::string text(line, next - 1);

		line = next;
		if (!text.empty() && text[text.size() - 1] == '\r')
			text.erase(text.size() - 1);
		if (text.empty())
			continue;
		status = first ? parse_request_line(text, &r, &is_1_1) :
		    parse_field(text, &connection, &hosts);
		first = false;
		if (r.status == 200 || status == 400)
			r.status = status;
		if (status == 400 || status == 505)
			break; /* what follows can not be trusted to be what it looks like */
	}
	if (r.status != 400 && r.status != 505 && (hosts > 1 || (is_1_1 && hosts == 0)))
		r.status = 400;
	r.keep = !has_word(connection, "close") && (r.keep || has_word(connection, "keep-alive"));
	if (r.status == 400 || r.status == 505)
		r.keep = false;
	return r;
}

#endif
