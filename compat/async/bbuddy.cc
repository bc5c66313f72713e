/* SPDX-License-Identifier: MIT */
/*
 * bbuddy.cc: a binary buddy allocator. Each block size has one bit per block, which says that the
 * block is free as a whole and is not part of a larger free block. Two free buddies are always
 * joined, up to the largest size.
 */
#include "bbuddy.h"

#include <algorithm>
#include <vector>

/* The free blocks of one size. */
struct bbuddy::level {
	std::vector<uint64_t> words;
	size_t free = 0;
	size_t low = 0; /* no word below has a free block */

	bool
	has(size_t block) const
	{
		return block / 64 < words.size() && (words[block / 64] >> block % 64 & 1) != 0;
	}

	void
	add(size_t block)
	{
		if (block / 64 >= words.size())
			words.resize(block / 64 + 1);
		words[block / 64] |= uint64_t(1) << block % 64;
		low = std::min(low, block / 64);
		free++;
	}

	void
	take(size_t block)
	{
		words[block / 64] &= ~(uint64_t(1) << block % 64);
		free--;
	}

	/* There must be a free block. */
	size_t
	take_lowest()
	{
		while (words[low] == 0)
			low++;

		size_t block = low * 64 + size_t(__builtin_ctzll(words[low]));

		take(block);
		return block;
	}
};

namespace {

unsigned
log_of_power(size_t n)
{
	if (n == 0 || (n & (n - 1)) != 0)
		container_misused("bbuddy: block size is not a power of two");
	return unsigned(__builtin_ctzl(n));
}

}

bbuddy::bbuddy(off_t totsize, size_t minalloc, size_t maxalloc)
    : _minlog(log_of_power(minalloc)), _maxlog(log_of_power(maxalloc)), _total(0), _space(0)
{
	if (_minlog > _maxlog || _maxlog > 62)
		container_misused("bbuddy: block sizes out of range");
	_levels = new level[_maxlog - _minlog + 1];
	settotsize(totsize);
}

bbuddy::~bbuddy()
{
	delete[] _levels;
}

/* The logarithm of the block size for n bytes; more than _maxlog: no block is large enough. */
unsigned
bbuddy::log_of(size_t n) const
{
	if (n > size_t(1) << _maxlog)
		return _maxlog + 1;
	return n <= 1 ? _minlog : std::max(_minlog, 64 - unsigned(__builtin_clzl(n - 1)));
}

bbuddy::level &
bbuddy::of(unsigned log) const
{
	return _levels[log - _minlog];
}

/* Whether any part of a block is free: the block itself, a larger block around it or a smaller one
 * in it. */
bool
bbuddy::any_free(off_t pos, unsigned log) const
{
	for (unsigned above = log; above <= _maxlog; above++)
		if (of(above).has(size_t(pos) >> above))
			return true;
	for (unsigned below = _minlog; below < log; below++) {
		size_t first = size_t(pos) >> below;

		for (size_t i = 0; of(below).free > 0 && i < size_t(1) << (log - below); i++)
			if (of(below).has(first + i))
				return true;
	}
	return false;
}

/* Free a block; while its buddy is free, too, join the two. */
void
bbuddy::release(size_t block, unsigned log)
{
	_space += off_t(1) << log;
	while (log < _maxlog && of(log).has(block ^ 1)) {
		of(log).take(block ^ 1);
		block >>= 1;
		log++;
	}
	of(log).add(block);
}

void
bbuddy::settotsize(off_t totsize)
{
	off_t end = totsize & ~((off_t(1) << _minlog) - 1);

	/* Free the largest block that starts at _total, is aligned and fits, until the end is
	 * reached. */
	while (_total < end) {
		unsigned log = _maxlog;

		while ((_total & ((off_t(1) << log) - 1)) != 0 || end - _total < off_t(1) << log)
			log--;
		release(size_t(_total) >> log, log);
		_total += off_t(1) << log;
	}
}

off_t
bbuddy::alloc(size_t n)
{
	unsigned log = log_of(n), from = log;

	while (from <= _maxlog && of(from).free == 0)
		from++;
	if (from > _maxlog)
		return -1;

	size_t block = of(from).take_lowest();

	/* Split the block: continue with the lower half, free the upper half. */
	while (from > log) {
		from--;
		block <<= 1;
		of(from).add(block ^ 1);
	}
	_space -= off_t(1) << log;
	return off_t(block) << log;
}

void
bbuddy::dealloc(off_t pos, size_t n)
{
	unsigned log = log_of(n);

	if (log > _maxlog || pos < 0 || (pos & ((off_t(1) << log) - 1)) != 0
	    || pos > _total - (off_t(1) << log))
		container_misused("bbuddy: no such block");
	if (any_free(pos, log))
		container_misused("bbuddy: block is free already");
	release(size_t(pos) >> log, log);
}

void
bbuddy::_check() const
{
	std::vector<bool> seen(size_t(_total) >> _minlog);
	off_t space = 0;

	for (unsigned log = _minlog; log <= _maxlog; log++) {
		size_t blocks = size_t(_total) >> log, free = 0;
		size_t smallest = size_t(1) << (log - _minlog);

		for (size_t block = 0; block < of(log).words.size() * 64; block++) {
			if (!of(log).has(block))
				continue;
			if (block >= blocks)
				container_misused("bbuddy: a free block past the end");
			if (log < _maxlog && of(log).has(block ^ 1))
				container_misused("bbuddy: two free buddies");
			for (size_t i = block * smallest; i < (block + 1) * smallest; i++) {
				if (seen[i])
					container_misused("bbuddy: free twice");
				seen[i] = true;
			}
			free++;
		}
		if (free != of(log).free)
			container_misused("bbuddy: free blocks miscounted");
		space += off_t(free) << log;
	}
	if (space != _space)
		container_misused("bbuddy: space miscounted");
}
