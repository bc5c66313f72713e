/* SPDX-License-Identifier: MIT */
/*
 * cbuf.h, dialect "async": a ring buffer of bytes. One color at a time uses an object.
 *
 * The content and the free space are each at most two pieces of memory, for readv and writev.
 */
#ifndef MELYCOMPAT_ASYNC_CBUF_H
#define MELYCOMPAT_ASYNC_CBUF_H

#include "misuse.h"

#pragma GCC system_header

class MELYCOMPAT_API cbuf {
public:
	/** A ring of n bytes. */
	explicit cbuf(size_t n) : _buf(new char[n]), _size(n), _at(0), _bytes(0) {}
	~cbuf() { delete[] _buf; }

	/** The capacity, the number of bytes stored, and the free space. */
	size_t size() const { return _size; }
	size_t bytes() const { return _bytes; }
	size_t space() const { return _size - _bytes; }
	bool empty() const { return _bytes == 0; }
	bool full() const { return _bytes == _size; }

	/** Drop all bytes. */
	void clear() { _at = _bytes = 0; }

	/** Store the pieces of the content, 0 to 2 nonempty ones, in iov; returns their number. */
	int outiov(iovec iov[2]) const { return pieces(iov, _at, _bytes); }
	/** Like outiov, for the free space. */
	int iniov(iovec iov[2]) const { return pieces(iov, (_at + _bytes) % wrap(), space()); }

	/** Add n bytes that were written into the free space; more than fit ends the program. */
	void
	addbytes(size_t n)
	{
		if (n > space())
			container_misused("cbuf: more bytes than room");
		_bytes += n;
	}

	/** Drop the first n bytes; dropping more than are stored ends the program. */
	void
	rembytes(size_t n)
	{
		if (n > _bytes)
			container_misused("cbuf: more bytes than there are");
		_at = (_at + n) % wrap();
		_bytes -= n;
	}

	/** Append up to n bytes, as many as fit. Returns their number. */
	size_t copyin(const void *p, size_t n);

	/** Copy up to n bytes from the beginning without removing them. Returns their number. */
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
