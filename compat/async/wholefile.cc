/* SPDX-License-Identifier: MIT */
/*
 * wholefile.cc: reads a whole file into a string, and replaces a file atomically.
 */
#include "wholefile.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "str2file.h"

namespace melycompat {

/* Grow the buffer; wipe the old one, which may hold a key. */
static void
enlarge(std::vector<char> *bytes)
{
	std::vector<char> larger(bytes->size() * 2 + 4096);

	if (!bytes->empty()) {
		std::memcpy(larger.data(), bytes->data(), bytes->size());
		explicit_bzero(bytes->data(), bytes->size());
	}
	bytes->swap(larger);
}

bool
read_whole(int fd, std::vector<char> *bytes)
{
	size_t have = 0;
	ssize_t n;

	bytes->clear();
	do {
		if (have == bytes->size())
			enlarge(bytes);
		n = read(fd, bytes->data() + have, bytes->size() - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	int error = errno;
	close(fd);
	errno = error;
	bytes->resize(have);
	return n == 0;
}

static bool
write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(fd, p, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return false;
		p += wrote;
		n -= (size_t)wrote;
	}
	return true;
}

/* Create a temporary file in the directory of `file`; store its name in *name. */
static int
open_beside(const str &file, int perm, str *name)
{
	static std::atomic<unsigned> serial;
	int fd;

	do {
		/* relaxed: the numbers only have to differ */
		*name = strbuf() << file << "." << (int)getpid() << "."
				 << serial.fetch_add(1, std::memory_order_relaxed) << "~";
		fd = open(name->cstr(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, perm);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

static bool
fill(int fd, const str &s, bool binary)
{
	bool ended = binary || (s.len() > 0 && s[s.len() - 1] == '\n');

	return write_all(fd, s.cstr(), s.len()) && (ended || write_all(fd, "\n", 1)) &&
	    fsync(fd) == 0;
}

/* Give the file its name; with `excl` by a link, which never replaces another file. */
static bool
put_in_place(const str &name, const str &file, bool excl)
{
	if (!excl)
		return rename(name.cstr(), file.cstr()) == 0;
	return link(name.cstr(), file.cstr()) == 0 && unlink(name.cstr()) == 0;
}

}

using namespace melycompat;

bool
str2file(str file, str s, int perm, bool excl, struct stat *sbp, bool binary)
{
	str name;

	if (!file || !s) {
		errno = EINVAL;
		return false;
	}
	int fd = open_beside(file, perm, &name);
	if (fd < 0)
		return false;
	bool done = fill(fd, s, binary) && put_in_place(name, file, excl) &&
	    (sbp == nullptr || fstat(fd, sbp) == 0);
	int error = errno;
	close(fd);
	if (!done)
		unlink(name.cstr());
	errno = error;
	return done;
}

str
file2str(str file)
{
	std::vector<char> bytes;
	int fd = file ? open(file.cstr(), O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || !read_whole(fd, &bytes))
		return str();
	return str(bytes.data(), bytes.size());
}
