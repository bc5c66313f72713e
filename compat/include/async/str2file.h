/* SPDX-License-Identifier: MIT */
/*
 * str2file.h: whole files as strings. Any color and thread may call these; they block.
 */
#ifndef MELYCOMPAT_ASYNC_STR2FILE_H
#define MELYCOMPAT_ASYNC_STR2FILE_H

#include <sys/stat.h>

#include "str.h"

#pragma GCC system_header

/**
 * Make file `file` of `s`: written beside it, synced and put in its place, so that nobody sees a
 * part of it. A newline is added where there is none at the end, unless `binary`. Its mode is
 * `perm` less the umask. With `excl` there must be none yet (EEXIST). What it is goes to `*sbp`.
 * False with errno set when it did not work.
 */
bool str2file(str file, str s, int perm = 0666, bool excl = false, struct stat *sbp = 0,
    bool binary = false);

/** What is in file `file`; a null str with errno set when it cannot be read. */
str file2str(str file);

#endif
