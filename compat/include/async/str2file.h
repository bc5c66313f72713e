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
 * Write `s` to file `file`: a temporary file is written, synced and renamed, so no reader sees a
 * part of it. Adds a missing newline at the end, unless `binary`. Its mode is
 * `perm` less the umask. With `excl` there must be none yet (EEXIST). What it is goes to `*sbp`.
 * False with errno set when it did not work.
 */
bool str2file(str file, str s, int perm = 0666, bool excl = false, struct stat *sbp = 0,
    bool binary = false);

/** What is in file `file`; a null str with errno set when it cannot be read. */
str file2str(str file);

#endif
