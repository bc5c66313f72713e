/* SPDX-License-Identifier: MIT */
/*
 * quiet.h: locks, and what the color checker is told of what is done under them. Any thread.
 *
 * NOTE(quiet)
 *   Under the checker each color is a thread to ThreadSanitizer, and this library is not
 *   instrumented, but its locks and its memory are seen all the same. They would order the colors
 *   that use descriptors or timers, and hide what these share; and memory of the library's own that
 *   one color allocates and another one frees would look like theirs.
 *   A. So under a lock nothing is looked at, calls of libmely included: no order comes from them.
 *   B. What is promised is told for each callback: what came before it was handed over (give) comes
 *      before its call (take). Its own address stands for it, which nobody else uses.
 *   Without ThreadSanitizer its functions are not there; in a library that is instrumented itself
 *   this is nothing.
 */
#ifndef MELYCOMPAT_QUIET_H
#define MELYCOMPAT_QUIET_H

#include <mutex>

#if defined(__SANITIZE_THREAD__)
#define MELYC_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MELYC_INSTRUMENTED 1
#endif
#endif

#ifndef MELYC_INSTRUMENTED
extern "C" {
__attribute__((weak)) void AnnotateIgnoreSyncBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreSyncEnd(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
}
#endif

namespace melycompat {

#ifdef MELYC_INSTRUMENTED
inline void quiet_begin() {}
inline void quiet_end() {}
inline void give(void *) {}
inline void take(void *) {}
#else
inline void
quiet_begin()
{
	if (__builtin_expect(AnnotateIgnoreSyncBegin == nullptr, 1))
		return;
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__); /* and reads */
}

inline void
quiet_end()
{
	if (__builtin_expect(AnnotateIgnoreSyncBegin == nullptr, 1))
		return;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

inline void
give(void *callback)
{
	if (__builtin_expect(__tsan_release != nullptr, 0))
		__tsan_release(callback);
}

inline void
take(void *callback)
{
	if (__builtin_expect(__tsan_acquire != nullptr, 0))
		__tsan_acquire(callback);
}
#endif

/** A of NOTE(quiet), from its making to its end. They nest. */
class quiet
{
public:
	quiet() { quiet_begin(); }
	~quiet() { quiet_end(); }
	quiet(const quiet &) = delete;
	quiet &operator=(const quiet &) = delete;
};

/** A lock that is held, and quiet for as long. */
class guard
{
public:
	explicit guard(std::mutex &m) : _m(m) { lock(); }
	~guard()
	{
		if (_held)
			unlock();
	}
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

	void
	lock()
	{
		quiet_begin();
		_m.lock();
		_held = true;
	}
	void
	unlock()
	{
		_held = false;
		_m.unlock();
		quiet_end();
	}

private:
	std::mutex &_m;
	bool _held = false;
};

}

#endif
