/* SPDX-License-Identifier: MIT */
/*
 * symbols.h: names of functions, also of those that are not exported: from the symbol table of the
 * file that the code is from, when it has one. Reads files and allocates: not for a core.
 */
#ifndef MELYINT_LOOK_WATCHDOG_SYMBOLS_H
#define MELYINT_LOOK_WATCHDOG_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct melyint_symbol {
	char name[80];     /* of the function; "" when it is not known. Longer ones are cut */
	uint64_t offset;   /* from its first byte */
	char module[48];   /* the file, without folders */
	uint64_t address;  /* in the file, as addr2line(1) wants it */
};

/* What is at pc. False: no code that was loaded from a file. */
bool melyint_symbol_at(uintptr_t pc, struct melyint_symbol *symbol);

#endif
