/* SPDX-License-Identifier: MIT */
/*
 * init.h, dialect "async": functions that run before and after main.
 */
#ifndef MELYCOMPAT_ASYNC_INIT_H
#define MELYCOMPAT_ASYNC_INIT_H

#pragma GCC system_header

/**
 * In a header: declares a class with static functions start and stop and an int count; define them
 * in one source file (int name::count;). start runs before the constructors, and stop after the
 * destructors, of the globals of every source file that includes the header. Each is called once:
 * start on the initial thread, stop on the thread that calls exit.
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

/** In a source file: calls fn, a static void fn(), in the order of the file's constructors. */
#define INITFN(fn) \
	static void fn(); \
	static struct initfn_##fn { \
		initfn_##fn() { fn(); } \
	} do_initfn_##fn __attribute__((unused))

/** In a source file: calls fn, a static void fn(), in the order of the file's destructors, when the
 * program exits. */
#define EXITFN(fn) \
	static void fn(); \
	static struct exitfn_##fn { \
		~exitfn_##fn() { fn(); } \
	} do_exitfn_##fn __attribute__((unused))

#endif
