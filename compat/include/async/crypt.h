/* SPDX-License-Identifier: MIT */
/*
 * crypt.h: the parts of the old library's cryptography that ordinary programs use: random numbers,
 * wiped strings, SHA-1. Arbitrary-precision numbers (bigint) and RPC are not included.
 */
#ifndef MELYCOMPAT_ASYNC_CRYPT_H
#define MELYCOMPAT_ASYNC_CRYPT_H

#include "async.h"
#include "crypthash.h"
#include "prng.h"
#include "serial.h"
#include "sha1.h"
#include "str.h"
#include "wmstr.h"

#pragma GCC system_header

/* The system has a header of this name, too: include crypt(3). */
#ifdef __has_include_next
#if __has_include_next(<crypt.h>)
#include_next <crypt.h>
#endif
#endif

#endif
