/* SPDX-License-Identifier: MIT */
/* cbuf.cc: a ring of bytes. */
#include "cbuf.h"

#include <algorithm>

/* The n bytes of the ring from `at` on, as one or two iovecs. */
int
cbuf::pieces(iovec iov[2], size_t at, size_t n) const
{
	size_t first = std::min(n, _size - at);
	int count = 0;

	if (first > 0) {
		iov[count].iov_base = _buf + at;
		iov[count++].iov_len = first;
	}
	if (n > first) {
		iov[count].iov_base = _buf;
		iov[count++].iov_len = n - first;
	}
	return count;
}

size_t
cbuf::copyin(const void *p, size_t n)
{
	const char *from = static_cast<const char *>(p);
	size_t done = 0;
	iovec iov[2];
	int count = iniov(iov);

	for (int i = 0; i < count; i++) {
		size_t some = std::min(n - done, iov[i].iov_len);

		memcpy(iov[i].iov_base, from + done, some);
		done += some;
	}
	addbytes(done);
	return done;
}

size_t
cbuf::copyout(void *p, size_t n) const
{
	char *to = static_cast<char *>(p);
	size_t done = 0;
	iovec iov[2];
	int count = outiov(iov);

	for (int i = 0; i < count; i++) {
		size_t some = std::min(n - done, iov[i].iov_len);

		memcpy(to + done, iov[i].iov_base, some);
		done += some;
	}
	return done;
}
