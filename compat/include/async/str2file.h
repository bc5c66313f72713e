/* SPDX-License-Identifier: MIT */
/*
 * str2file.h: reads and writes whole files as strings. Any color and thread may call these
 * functions; they block.
 */
#ifndef MELYCOMPAT_ASYNC_STR2FILE_H
#define MELYCOMPAT_ASYNC_STR2FILE_H

#include <sys/stat.h>

#include "str.h"

#pragma GCC system_header

/**
 * Write `s` to file `file`: writes, syncs and renames a temporary file, so no reader sees a part of
 * it. Adds a missing newline at the end, unless `binary`. The mode is `perm` less the umask. With
 * `excl` the file must not exist yet (EEXIST). Stores the status of the new file in `*sbp`. False
 * with errno set on failure.
 */
bool str2file(str file, str s, int perm = 0666, bool excl = false, struct stat *sbp = 0,
    bool binary = false);

/** The contents of file `file`; a null str with errno set if it cannot be read. */
str file2str(str file);

#endif
