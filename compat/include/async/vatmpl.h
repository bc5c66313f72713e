/* SPDX-License-Identifier: MIT */
/*
 * vatmpl.h, dialect "async": constructors, or functions, of any number of arguments, 0 to 9, in
 * C++98, which hand them on as const references:
 *
 *     template <class T> struct shout : T {
 *             VA_TEMPLATE(explicit shout, : T, { warn << "made\n"; })
 *     };
 *
 * is a constructor shout(a1, a2, ...) : T(a1, a2, ...) { warn << "made\n"; } for each number.
 */
#ifndef MELYCOMPAT_ASYNC_VATMPL_H
#define MELYCOMPAT_ASYNC_VATMPL_H

#pragma GCC system_header

#define MELYCOMPAT_VA_CLASSES_1 class A1
#define MELYCOMPAT_VA_CLASSES_2 MELYCOMPAT_VA_CLASSES_1, class A2
#define MELYCOMPAT_VA_CLASSES_3 MELYCOMPAT_VA_CLASSES_2, class A3
#define MELYCOMPAT_VA_CLASSES_4 MELYCOMPAT_VA_CLASSES_3, class A4
#define MELYCOMPAT_VA_CLASSES_5 MELYCOMPAT_VA_CLASSES_4, class A5
#define MELYCOMPAT_VA_CLASSES_6 MELYCOMPAT_VA_CLASSES_5, class A6
#define MELYCOMPAT_VA_CLASSES_7 MELYCOMPAT_VA_CLASSES_6, class A7
#define MELYCOMPAT_VA_CLASSES_8 MELYCOMPAT_VA_CLASSES_7, class A8
#define MELYCOMPAT_VA_CLASSES_9 MELYCOMPAT_VA_CLASSES_8, class A9

#define MELYCOMPAT_VA_PARAMS_1 const A1 &a1
#define MELYCOMPAT_VA_PARAMS_2 MELYCOMPAT_VA_PARAMS_1, const A2 &a2
#define MELYCOMPAT_VA_PARAMS_3 MELYCOMPAT_VA_PARAMS_2, const A3 &a3
#define MELYCOMPAT_VA_PARAMS_4 MELYCOMPAT_VA_PARAMS_3, const A4 &a4
#define MELYCOMPAT_VA_PARAMS_5 MELYCOMPAT_VA_PARAMS_4, const A5 &a5
#define MELYCOMPAT_VA_PARAMS_6 MELYCOMPAT_VA_PARAMS_5, const A6 &a6
#define MELYCOMPAT_VA_PARAMS_7 MELYCOMPAT_VA_PARAMS_6, const A7 &a7
#define MELYCOMPAT_VA_PARAMS_8 MELYCOMPAT_VA_PARAMS_7, const A8 &a8
#define MELYCOMPAT_VA_PARAMS_9 MELYCOMPAT_VA_PARAMS_8, const A9 &a9

#define MELYCOMPAT_VA_ARGS_1 a1
#define MELYCOMPAT_VA_ARGS_2 MELYCOMPAT_VA_ARGS_1, a2
#define MELYCOMPAT_VA_ARGS_3 MELYCOMPAT_VA_ARGS_2, a3
#define MELYCOMPAT_VA_ARGS_4 MELYCOMPAT_VA_ARGS_3, a4
#define MELYCOMPAT_VA_ARGS_5 MELYCOMPAT_VA_ARGS_4, a5
#define MELYCOMPAT_VA_ARGS_6 MELYCOMPAT_VA_ARGS_5, a6
#define MELYCOMPAT_VA_ARGS_7 MELYCOMPAT_VA_ARGS_6, a7
#define MELYCOMPAT_VA_ARGS_8 MELYCOMPAT_VA_ARGS_7, a8
#define MELYCOMPAT_VA_ARGS_9 MELYCOMPAT_VA_ARGS_8, a9

#define MELYCOMPAT_VA(n, decl, pass, body) \
	template <MELYCOMPAT_VA_CLASSES_##n> decl(MELYCOMPAT_VA_PARAMS_##n) \
	    pass(MELYCOMPAT_VA_ARGS_##n) body

/** `decl` with the arguments, then `pass` with them, then the body: see above. */
#define VA_TEMPLATE(decl, pass, body) \
	decl() pass() body \
	MELYCOMPAT_VA(1, decl, pass, body) \
	MELYCOMPAT_VA(2, decl, pass, body) \
	MELYCOMPAT_VA(3, decl, pass, body) \
	MELYCOMPAT_VA(4, decl, pass, body) \
	MELYCOMPAT_VA(5, decl, pass, body) \
	MELYCOMPAT_VA(6, decl, pass, body) \
	MELYCOMPAT_VA(7, decl, pass, body) \
	MELYCOMPAT_VA(8, decl, pass, body) \
	MELYCOMPAT_VA(9, decl, pass, body)

#endif
