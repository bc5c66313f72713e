/* SPDX-License-Identifier: MIT */
/* cbuf.cc: a ring of bytes. */
#include "cbuf.h"

#include <algorithm>

int
cbuf::pieces(size_t at, size_t n, iovec iov[2]) const
{
	size_t first = std::min(n, _room - at);

	if (iov != nullptr) {
		iov[0].iov_base = _buf + at;
		iov[0].iov_len = first;
		iov[1].iov_base = _buf;
		iov[1].iov_len = n - first;
	}
	return (first > 0) + (n > first);
}

const iovec *
cbuf::outiov()
{
	(void)pieces(_at, _size, _out);
	return _out;
}

const iovec *
cbuf::iniov()
{
	(void)pieces((_at + _size) % wrap(), space(), _in);
	return _in;
}

void
cbuf::resize(size_t n)
{
	if (n < _size)
		container_misused("cbuf: more bytes than room");
	char *buf = new char[n];
	copyout(buf, _size);
	delete[] _buf;
	_buf = buf;
	_room = n;
	_at = 0;
}

char &
cbuf::at(size_t n) const
{
	if (n >= _size)
		container_misused("cbuf: index out of range");
	return _buf[(_at + n) % wrap()];
}

int
cbuf::find(char c) const
{
	iovec iov[2];
	size_t before = 0;
	int count = pieces(_at, _size, iov);

	for (int i = 0; i < count; i++) {
		const char *piece = static_cast<const char *>(iov[i].iov_base);
		const void *found = memchr(piece, c, iov[i].iov_len);

		if (found != nullptr)
			return static_cast<int>(before) +
			    static_cast<int>(static_cast<const char *>(found) - piece);
		before += iov[i].iov_len;
	}
	return -1;
}

void
cbuf::addbytes(size_t n)
{
	if (n > space())
		container_misused("cbuf: more bytes than room");
	_size += n;
}

void
cbuf::rembytes(size_t n)
{
	if (n > _size)
		container_misused("cbuf: more bytes than there are");
	_at = (_at + n) % wrap();
	_size -= n;
}

void
cbuf::unrembytes(size_t n)
{
	if (n > space())
		container_misused("cbuf: more bytes than room");
	_at = (_at + _room - n) % wrap();
	_size += n;
}

size_t
cbuf::copyin(const void *p, size_t n)
{
	const char *from = static_cast<const char *>(p);
	size_t done = 0;
	int count = iniovcnt();

	(void)iniov();
	for (int i = 0; i < count; i++) {
		size_t some = std::min(n - done, _in[i].iov_len);

		memcpy(_in[i].iov_base, from + done, some);
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
	int count = pieces(_at, _size, iov);

	for (int i = 0; i < count; i++) {
		size_t some = std::min(n - done, iov[i].iov_len);

		memcpy(to + done, iov[i].iov_base, some);
		done += some;
	}
	return done;
}
