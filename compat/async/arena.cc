/* SPDX-License-Identifier: MIT */
/* arena.cc: the chunks of memory from which an arena allocates. */
#include "arena.h"

#include <algorithm>

struct arena::chunk {
	chunk *next;
};

namespace {

/* The size of a shared chunk; a larger piece gets its own chunk. */
const size_t chunk_size = 8192 - 64;

}

void *
arena::alloc_chunk(size_t n, size_t align)
{
	if (n > SIZE_MAX - sizeof(chunk) - align)
		throw std::bad_alloc();

	/* Enough for n bytes at any alignment of the chunk's start. */
	size_t needed = n + align;
	size_t room = std::max(needed, chunk_size);
	chunk *c = static_cast<chunk *>(::operator new(sizeof(chunk) + room));
	char *begin = reinterpret_cast<char *>(c + 1);
	char *p = begin + (align - reinterpret_cast<size_t>(begin) % align) % align;
	size_t left = size_t(begin + room - (p + n));

	c->next = _chunks;
	_chunks = c;
	/* The rest of the previous chunk may be larger; keep the larger one. */
	if (left > _left) {
		_next = p + n;
		_left = left;
	}
	return p;
}

void
arena::clear()
{
	while (_chunks != nullptr) {
		chunk *c = _chunks;

		_chunks = c->next;
		::operator delete(c);
	}
	_next = nullptr;
	_left = 0;
}
