/* SPDX-License-Identifier: MIT */
/*
 * init.h, dialect "async": work for before main and after it.
 */
#ifndef MELYCOMPAT_ASYNC_INIT_H
#define MELYCOMPAT_ASYNC_INIT_H

#pragma GCC system_header

/**
 * In a header: declares a class with static functions start and stop and an int count, all to be
 * defined in one source file (int name::count;). Whoever includes the header has start called
 * before its own objects are made, and stop after they are gone: each is called once, start on the
 * thread that begins the program, stop on the one that calls exit.
 */
#define INIT(name) \
	static class name \
	{ \
		static int count; \
		static void start(); \
		static void stop(); \
\
	public: \
		name() \
		{ \
			if (count++ == 0) \
				start(); \
		} \
		~name() \
		{ \
			if (--count == 0) \
				stop(); \
		} \
	} init_##name __attribute__((unused))

/** In a source file: fn, a static void fn(), is called with the constructors of the file's objects,
 * in their order. */
#define INITFN(fn) \
	static void fn(); \
	static struct initfn_##fn { \
		initfn_##fn() { fn(); } \
	} do_initfn_##fn __attribute__((unused))

/** In a source file: fn, a static void fn(), is called with the destructors of the file's objects,
 * in their order, when the program exits. */
#define EXITFN(fn) \
	static void fn(); \
	static struct exitfn_##fn { \
		~exitfn_##fn() { fn(); } \
	} do_exitfn_##fn __attribute__((unused))

#endif
