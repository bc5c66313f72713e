/* SPDX-License-Identifier: MIT */
/*
 * bbuddy.h, dialect "async": a binary buddy allocator for ranges of offsets. Blocks have sizes that
 * are powers of two; they are halved and joined again. The offsets need not refer to memory: they
 * may be offsets in a file. One color at a time uses an object.
 */
#ifndef MELYCOMPAT_ASYNC_BBUDDY_H
#define MELYCOMPAT_ASYNC_BBUDDY_H

#include "misuse.h"

#pragma GCC system_header

class MELYCOMPAT_API bbuddy {
public:
	/**
	 * Allocates offsets from 0 to totsize, in blocks of minalloc to maxalloc bytes. Both must
	 * be powers of two, or the program ends. A rest of totsize smaller than minalloc is not
	 * used.
	 */
	bbuddy(off_t totsize, size_t minalloc, size_t maxalloc);
	~bbuddy();

	/** The end of the offsets. It can only grow: settotsize ignores a smaller end. */
	off_t gettotsize() const { return _total; }
	void settotsize(off_t totsize);

	/** The number of free offsets, not necessarily in one block. */
	off_t space() const { return _space; }

	/** Allocate a block of at least n, at a multiple of its size; -1: none is free. */
	off_t alloc(size_t n);

	/** Free the block that alloc(n) returned at pos. Any other block ends the program. */
	void dealloc(off_t pos, size_t n);

	/** End the program if the data structure is inconsistent. */
	void _check() const;

private:
	struct level;

	unsigned _minlog, _maxlog;
	off_t _total, _space;
	level *_levels; /* by the logarithm of the block size, from _minlog */

	bbuddy(const bbuddy &);
	bbuddy &operator=(const bbuddy &);

	unsigned log_of(size_t n) const;
	level &of(unsigned log) const;
	bool any_free(off_t pos, unsigned log) const;
	void release(size_t block, unsigned log);
};

#endif
