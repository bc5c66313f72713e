/* SPDX-License-Identifier: MIT */
/*
 * quiet.h: locks that hide the accesses under them from the color checker. Any thread.
 *
 * NOTE(quiet)
 *   Under the checker each color is a thread to ThreadSanitizer. This library is not instrumented,
 *   but ThreadSanitizer still sees its locks and its memory. The locks would order the colors that
 *   use descriptors or timers, and hide the data these colors share; the library's memory that one
 *   color allocates and another frees would look like the program's.
 *   A. So ThreadSanitizer ignores everything under a lock, calls of libmely included: no order
 *      comes from it.
 *   B. The library reports the promised order for each callback: code before the hand-over of the
 *      callback (give) comes before its call (take). The address of the callback, which has no
 *      other use here, identifies it.
 *   Without ThreadSanitizer its functions do not exist; in an instrumented library this is empty.
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

/** A of NOTE(quiet), during the life of the object. Objects nest. */
class quiet
{
public:
	quiet() { quiet_begin(); }
	~quiet() { quiet_end(); }
	quiet(const quiet &) = delete;
	quiet &operator=(const quiet &) = delete;
};

/** Holds a lock, and is quiet while it holds it. */
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
