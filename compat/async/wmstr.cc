/* SPDX-License-Identifier: MIT */
/*
 * wmstr.cc: strings that wipe their memory when they are freed.
 */
#include "wmstr.h"

#include <cstring>
#include <vector>

#include <fcntl.h>

#include "wholefile.h"

static void
wipe(char *p, size_t n)
{
	explicit_bzero(p, n);
}

wmstr::wmstr(size_t n) : mstr(n, wipe)
{
}

static str
wiped_str(const char *p, size_t n)
{
	wmstr m(n);

	if (n > 0)
		std::memcpy(m.cstr(), p, n);
	return str(m);
}

str
str2wstr(const str &s)
{
	return s ? wiped_str(s.cstr(), s.len()) : str();
}

str
file2wstr(const str &path)
{
	std::vector<char> bytes;
	int fd = path ? open(path.cstr(), O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return str();
	bool done = melycompat::read_whole(fd, &bytes);
	str s = done ? wiped_str(bytes.data(), bytes.size()) : str();
	if (!bytes.empty())
		explicit_bzero(bytes.data(), bytes.size());
	return s;
}
