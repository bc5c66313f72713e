/* SPDX-License-Identifier: MIT */
/*
 * cbuf.h, dialect "async": a ring of bytes. Used by one color at a time.
 *
 * What is in it, and the room that is left, are each at most two pieces of memory, as for readv and
 * writev.
 */
#ifndef MELYCOMPAT_ASYNC_CBUF_H
#define MELYCOMPAT_ASYNC_CBUF_H

#include "misuse.h"

#pragma GCC system_header

class MELYCOMPAT_API cbuf {
public:
	/** Room for n bytes. */
	explicit cbuf(size_t n) : _buf(new char[n]), _size(n), _at(0), _bytes(0) {}
	~cbuf() { delete[] _buf; }

	/** How many bytes it can hold, are in it, and could come in. */
	size_t size() const { return _size; }
	size_t bytes() const { return _bytes; }
	size_t space() const { return _size - _bytes; }
	bool empty() const { return _bytes == 0; }
	bool full() const { return _bytes == _size; }

	/** Drop all. */
	void clear() { _at = _bytes = 0; }

	/** Where what is in it is: the pieces that are not empty, 0 to 2, into iov. */
	int outiov(iovec iov[2]) const { return pieces(iov, _at, _bytes); }
	/** Where there is room, as well. */
	int iniov(iovec iov[2]) const { return pieces(iov, (_at + _bytes) % wrap(), space()); }

	/** n bytes were written where there was room; more than there is ends the program. */
	void
	addbytes(size_t n)
	{
		if (n > space())
			container_misused("cbuf: more bytes than room");
		_bytes += n;
	}

	/** Drop the first n bytes; more than there are ends the program. */
	void
	rembytes(size_t n)
	{
		if (n > _bytes)
			container_misused("cbuf: more bytes than there are");
		_at = (_at + n) % wrap();
		_bytes -= n;
	}

	/** Append up to n bytes, as many as there is room for: how many. */
	size_t copyin(const void *p, size_t n);

	/** Copy up to n bytes from the beginning, which stay: how many. */
	size_t copyout(void *p, size_t n) const;

private:
	char *_buf;
	size_t _size, _at, _bytes;

	cbuf(const cbuf &);
	cbuf &operator=(const cbuf &);

	size_t wrap() const { return _size != 0 ? _size : 1; }
	int pieces(iovec iov[2], size_t at, size_t n) const;
};

#endif
