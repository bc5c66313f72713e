/* SPDX-License-Identifier: MIT */
/*
 * wmstr.h: strings whose memory is wiped when it is freed: for keys and passwords.
 */
#ifndef MELYCOMPAT_ASYNC_WMSTR_H
#define MELYCOMPAT_ASYNC_WMSTR_H

#include <stddef.h>

#include "str.h"

#pragma GCC system_header

/**
 * A buffer of `n` bytes to fill; a str made from it takes over the bytes, which are wiped when its
 * last copy is dropped.
 */
class wmstr : public mstr
{
public:
	explicit wmstr(size_t n);
};

/** A copy of `s` that is wiped when its last copy is dropped. A null str stays null. */
str str2wstr(const str &s);

/** File `path` as a string that is wiped; a null str with errno set if it cannot be read. */
str file2wstr(const str &path);

#endif
