/* SPDX-License-Identifier: MIT */
/*
 * bbuddy.h, dialect "async": an allocator of ranges of offsets, in blocks of powers of two that are
 * halved and joined again ("binary buddies"). It has nothing to do with memory: the offsets may be
 * those of a file. Used by one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_BBUDDY_H
#define MELYCOMPAT_ASYNC_BBUDDY_H

#include "misuse.h"

#pragma GCC system_header

class MELYCOMPAT_API bbuddy {
public:
	/**
	 * Offsets from 0 to totsize, in blocks of minalloc to maxalloc, which are powers of two;
	 * otherwise the program ends. Of totsize a rest that is less than minalloc is not used.
	 */
	bbuddy(off_t totsize, size_t minalloc, size_t maxalloc);
	~bbuddy();

	/** The end of the offsets. It can only grow: a smaller end is not taken. */
	off_t gettotsize() const { return _total; }
	void settotsize(off_t totsize);

	/** How much is free, if not in one block. */
	off_t space() const { return _space; }

	/** A free block of n at least, at a multiple of its size; -1 when there is none. */
	off_t alloc(size_t n);

	/** Free the block at pos that alloc(n) returned. Another one ends the program. */
	void dealloc(off_t pos, size_t n);

	/** End the program if the allocator is not as it should be. */
	void _check() const;

private:
	struct level;

	unsigned _minlog, _maxlog;
	off_t _total, _space;
	level *_levels; /* by the logarithm of their blocks, from _minlog */

	bbuddy(const bbuddy &);
	bbuddy &operator=(const bbuddy &);

	unsigned log_of(size_t n) const;
	level &of(unsigned log) const;
	bool any_free(off_t pos, unsigned log) const;
	void release(size_t block, unsigned log);
};

#endif
