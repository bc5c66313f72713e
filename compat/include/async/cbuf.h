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
	/** A ring with room for n bytes. */
	cbuf(size_t n) : _buf(new char[n]), _room(n), _at(0), _size(0) {}
	~cbuf() { delete[] _buf; }

	/** The number of bytes stored, and the free space. */
	size_t size() const { return _size; }
	size_t space() const { return _room - _size; }

	/** Give it room for n bytes. The content stays; more than n bytes end the program. */
	void resize(size_t n);
	/** Drop all bytes. */
	void clear() { _at = _size = 0; }

	/** Byte n of the content; an index that is out of range ends the program. */
	char &at(size_t n) const;
	char &operator[](ptrdiff_t n) const { return at(size_t(n)); }
	/** The index of the first byte c; -1: none. */
	int find(char c) const;

	/** The nonempty pieces of the content, valid until the next call; their number, 0 to 2. */
	const iovec *outiov();
	int outiovcnt() const { return pieces(_at, _size); }
	/** Like outiov, for the free space. */
	const iovec *iniov();
	int iniovcnt() const { return pieces((_at + _size) % wrap(), space()); }

	/** Add n bytes that were written into the free space; more than fit end the program. */
	void addbytes(size_t n);
	/** Drop the first n bytes; more than are stored end the program. */
	void rembytes(size_t n);
	/** Undo rembytes(n), if nothing was written since; n is at most space(). */
	void unrembytes(size_t n);

	/** Append up to n bytes, as many as fit. Returns their number. */
	size_t copyin(const void *p, size_t n);
	/** Copy up to n bytes from the beginning without removing them. Returns their number. */
	size_t copyout(void *p, size_t n) const;

private:
	char *_buf;
	size_t _room, _at, _size;
	iovec _in[2], _out[2];

	cbuf(const cbuf &);
	cbuf &operator=(const cbuf &);

	size_t wrap() const { return _room != 0 ? _room : 1; }
	/* The n bytes of the ring from `at` on: in how many pieces? Their addresses, if wanted. */
	int pieces(size_t at, size_t n, iovec iov[2] = 0) const;
};

#endif
