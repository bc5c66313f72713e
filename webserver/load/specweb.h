/* SPDX-License-Identifier: MIT */
/*
 * specweb.h: files as in SPECweb99: directories of four classes of nine files. Class 0 has files of
 * 0.1 to 0.9 KB, and each further class is ten times as large. 35, 50, 14 and 1 percent of the
 * requests are for the classes; popularity in a class, and of the directories, follows Zipf's law.
 */
#ifndef LOAD_SPECWEB_H
#define LOAD_SPECWEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_SPECWEB_CLASSES 4
#define LOAD_SPECWEB_FILES 9 /* in a class */
#define LOAD_SPECWEB_IN_DIR (LOAD_SPECWEB_CLASSES * LOAD_SPECWEB_FILES)
/* More than all disks hold: 5 MB each. */
#define LOAD_SPECWEB_DIRS_MAX 100000

/** The path of a file, "/file_set/dir00000/class0_0" and so on; number counts all files. */
void load_specweb_path(uint32_t number, char *path, size_t size);

/** The size of a file in bytes. */
uint32_t load_specweb_size(uint32_t number);

/** The popularity of a file among others. */
double load_specweb_weight(uint32_t number);

/**
 * Write the files of dirs directories beneath root, with contents of their own each. Prints what
 * went wrong and returns false.
 */
bool load_specweb_make(const char *root, uint32_t dirs);

#endif
