/* SPDX-License-Identifier: MIT */
/*
 * wmstr.h: strings whose memory is overwritten when it is given back: for keys and passwords.
 */
#ifndef MELYCOMPAT_ASYNC_WMSTR_H
#define MELYCOMPAT_ASYNC_WMSTR_H

#include <stddef.h>

#include "str.h"

#pragma GCC system_header

/**
 * A buffer of `n` bytes to fill; a str made from it takes the bytes over, and is overwritten when
 * its last copy goes.
 */
class wmstr : public mstr
{
public:
	explicit wmstr(size_t n);
};

/** A copy of `s` that is overwritten when its last copy goes. A null str stays one. */
str str2wstr(const str &s);

/** What is in file `path`, such a string; a null str with errno set when it cannot be read. */
str file2wstr(const str &path);

#endif
