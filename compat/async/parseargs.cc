/* SPDX-License-Identifier: MIT */
/*
 * parseargs.cc: splits a file of options into words; parses numbers.
 */
#include "parseopt.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "err.h"
#include "wholefile.h"

namespace melycompat {

bool
number_of(const str &s, int base, bool *negative, unsigned long long *distance)
{
	if (!s || s.len() == 0 || std::strchr(" \t\n\v\f\r", s[0]) != nullptr)
		return false;
	/* strtoull would accept a second sign. */
	const char *p = s.cstr();
	*negative = *p == '-';
	p += *p == '-' || *p == '+';
	if (!std::isalnum((u_char)*p))
		return false;
	char *end;
	int error = errno;
	errno = 0;
	*distance = std::strtoull(p, &end, base);
	bool fits = errno == 0;
	errno = error;
	return fits && end == s.cstr() + s.len();
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Does the line continue on the next one? */
static bool
is_continued(const char *p, const char *end)
{
	return end - p >= 2 && p[0] == '\\' && p[1] == '\n';
}

}

using namespace melycompat;

parseargs::parseargs(str name, int fd)
    : file(name), lineno(1), _next(nullptr), _end(nullptr), _failed(false)
{
	std::vector<char> bytes;

	if (fd < 0)
		fd = open(file.cstr(), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !read_whole(fd, &bytes))
		fatal << file << ": " << std::strerror(errno) << "\n";
	_text = str(bytes.data(), bytes.size());
	_next = _text.cstr();
	_end = _next + _text.len();
}

parseargs::~parseargs()
{
}

void
parseargs::error(str message)
{
	fatal << file << ":" << lineno << ": " << message << "\n";
}

/* Skip blanks and the ends of continued lines. */
void
parseargs::blanks()
{
	while (_next < _end) {
		if (is_continued(_next, _end)) {
			lineno++;
			_next += 2;
		} else if (is_blank(*_next))
			_next++;
		else
			break;
	}
}

bool
parseargs::word(str *out)
{
	std::string text;
	bool quoted = false;

	for (; _next < _end; _next++) {
		if (is_continued(_next, _end)) {
			lineno++;
			_next++;
		} else if (*_next == '\n' || (!quoted && is_blank(*_next)))
			break;
		else if (*_next == '"')
			quoted = !quoted;
		else if (*_next == '\\' && _end - _next >= 2)
			text += *++_next;
		else
			text += *_next;
	}
	if (quoted) {
		_failed = true;
		error("a \" is missing");
		return false;
	}
	*out = str(text.data(), text.size());
	return true;
}

bool
parseargs::getline(vec<str> *args, int *linep)
{
	args->setsize(0);
	while (!_failed) {
		blanks();
		if (_next == _end)
			return !args->empty();
		if (*_next == '\n') {
			_next++;
			lineno++;
			if (!args->empty())
				return true;
		} else if (*_next == '#' && args->empty()) {
			while (_next < _end && *_next != '\n')
				_next++;
		} else {
			if (args->empty() && linep != nullptr)
				*linep = lineno;
			str s;
			if (!word(&s))
				break;
			args->push_back(s);
		}
	}
	args->setsize(0);
	return false;
}
