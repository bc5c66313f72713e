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
number_of(const char *s, int base, bool wide, int64_t *value)
{
	char *end;
	int error = errno;

	if (s == nullptr || *s == '\0')
		return false;
	*value = wide ? (int64_t)std::strtoull(s, &end, base) : std::strtoll(s, &end, base);
	errno = error;
	return end != s && *end == '\0';
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
    : filename(name), lineno(1), _next(nullptr), _end(nullptr), _failed(false)
{
	std::vector<char> bytes;

	if (fd < 0)
		fd = open(filename.cstr(), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !read_whole(fd, &bytes))
		fatal << filename << ": " << std::strerror(errno) << "\n";
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
	fatal << filename << ":" << lineno << ": " << message << "\n";
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

/* Skip empty lines and comments. False: nothing else is left. */
bool
parseargs::to_words()
{
	while (_next < _end) {
		if (*_next == '#')
			while (_next < _end && *_next != '\n')
				_next++;
		else
			blanks();
		if (_next < _end && *_next != '\n')
			return true;
		if (_next < _end) {
			lineno++;
			_next++;
		}
	}
	return false;
}

/* An error is one of the line at which the word begins. */
bool
parseargs::fail(const char *message)
{
	_failed = true;
	error(message);
	return false;
}

bool
parseargs::word(str *out)
{
	std::string text;
	bool quoted = false;
	int lines = 0;

	while (_next < _end && (quoted || (*_next != '\n' && !is_blank(*_next)))) {
		char c = *_next;

		if (is_continued(_next, _end)) {
			int line = lineno;

			blanks();
			lines += lineno - line;
			lineno = line;
			continue;
		}
		_next++;
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (c == '\\') {
			if (_next == _end)
				return fail("a \\ at the end of the file");
			c = *_next++;
		}
		lines += c == '\n';
		text += c;
	}
	if (quoted)
		return fail("a \" is missing");
	lineno += lines;
	*out = str(text.data(), text.size());
	return true;
}

bool
parseargs::getline(vec<str> *args, int *linep)
{
	bool more = !_failed && to_words();
	str s;

	args->setsize(0);
	if (linep != nullptr)
		*linep = lineno;
	while (more && _next < _end && *_next != '\n') {
		if (!word(&s)) {
			args->setsize(0);
			return false;
		}
		args->push_back(s);
		blanks();
	}
	return !args->empty();
}
