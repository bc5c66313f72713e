/* SPDX-License-Identifier: MIT */
/*
 * melycompat/link.h: how the names of the old libraries become symbols of libmely-compat.
 *
 * Both dialects have functions of the same name that mean different things (amain, fdcb). In a
 * program they keep their names; for the linker each has one of its own, by which a program that
 * mixes the headers of one dialect with those of the other is found out, too.
 */
#ifndef MELYCOMPAT_LINK_H
#define MELYCOMPAT_LINK_H

#ifndef __cplusplus
#error "the compat headers are for C++"
#endif
#if !defined(__GNUC__) && !defined(__clang__)
#error "the compat headers need g++ or clang++"
#endif

#define MELYCOMPAT_API __attribute__((visibility("default")))
/** Declarator suffix: the symbol of a function of dialect "mely". */
#define MELYCOMPAT_MELY(name) __asm__("melycompat_mely_" #name)

#endif
