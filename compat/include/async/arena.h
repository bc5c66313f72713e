/* SPDX-License-Identifier: MIT */
/*
 * arena.h, dialect "async": memory that is freed all at once, with the arena. Destructors of
 * objects in it are not called. One color at a time uses an arena.
 *
 *     arena a;
 *     foo *f = new (a) foo(1, 2);
 *     char *copy = a.strdup("text");
 */
#ifndef MELYCOMPAT_ASYNC_ARENA_H
#define MELYCOMPAT_ASYNC_ARENA_H

#include "sysconf.h"

#pragma GCC system_header

class MELYCOMPAT_API arena {
public:
	arena() : _chunks(NULL), _next(NULL), _left(0) {}
	~arena() { clear(); }

	/** n bytes, aligned to a power of two; throws std::bad_alloc without memory. */
	void *
	alloc(size_t n, size_t align = __BIGGEST_ALIGNMENT__)
	{
		size_t skip = (align - reinterpret_cast<size_t>(_next) % align) % align;

		if (_next == NULL || n > _left || skip > _left - n)
			return alloc_chunk(n, align);
		void *p = _next + skip;

		_next += skip + n;
		_left -= skip + n;
		return p;
	}

	/** A copy of a C string. */
	char *
	strdup(const char *s)
	{
		size_t n = strlen(s) + 1;

		return static_cast<char *>(memcpy(alloc(n, 1), s, n));
	}

	/** Free all memory. */
	void clear();

private:
	struct chunk;

	chunk *_chunks;
	char *_next;
	size_t _left;

	arena(const arena &);
	arena &operator=(const arena &);

	void *alloc_chunk(size_t n, size_t align);
};

inline void *
operator new(size_t n, arena &a)
{
	return a.alloc(n);
}

inline void *
operator new[](size_t n, arena &a)
{
	return a.alloc(n);
}

/* Called when a constructor throws; the memory stays with the arena. */
inline void
operator delete(void *, arena &)
{
}

inline void
operator delete[](void *, arena &)
{
}

#endif
