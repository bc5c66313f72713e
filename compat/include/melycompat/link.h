/* SPDX-License-Identifier: MIT */
/*
 * melycompat/link.h: maps the names of the old libraries to symbols of libmely-compat.
 *
 * Both dialects have functions with equal names and different meanings (amain, fdcb). They keep
 * their names in a program; the linker sees a separate name for each dialect, so a program that
 * mixes the headers of the two dialects does not link.
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
