/* SPDX-License-Identifier: MIT */
/*
 * symbols.c: see symbols.h. The file is read, not mapped: it may be written to meanwhile. Nothing
 * in it is believed before its size is known to be there, and it counts only if its first bytes
 * are those in memory, for it may have been replaced since.
 */
#include "look/watchdog/symbols.h"

#ifndef MELYINT_SIM
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SECTIONS_MAX = 4096,
	TABLE_MAX = 1 << 26 /* bytes of symbols, or of their names; beyond that nobody waits */
};

/* Bytes of a file, for free(); NULL when they are not there or there is no memory. */
static void *
read_at(int fd, uint64_t offset, uint64_t size)
{
	struct stat st;
	char *data;

	if (size == 0 || size > TABLE_MAX || fstat(fd, &st) != 0 ||
	    offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset)
		return NULL;
	data = malloc(size);
	if (data != NULL && pread(fd, data, size, (off_t)offset) != (ssize_t)size) {
		free(data);
		data = NULL;
	}
	return data;
}

/* The name of the function that holds address, in a table and its strings. */
static void
find_name(const ElfW(Sym) *symbols, size_t count, const char *names, uint64_t names_size,
    struct melyint_symbol *found)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const ElfW(Sym) *s = &symbols[i];
		size_t length;

		if ((s->st_info & 0xf) != STT_FUNC || s->st_name >= names_size ||
		    found->address < s->st_value || found->address - s->st_value >= s->st_size)
			continue;
		length = strnlen(names + s->st_name, names_size - s->st_name);
		if (length > sizeof found->name - 1)
			length = sizeof found->name - 1;
		memcpy(found->name, names + s->st_name, length);
		found->name[length] = '\0';
		found->offset = found->address - s->st_value;
		return;
	}
}

static void
look_in_sections(int fd, const ElfW(Ehdr) *head, struct melyint_symbol *found)
{
	uint64_t size = (uint64_t)head->e_shnum * sizeof(ElfW(Shdr));
	ElfW(Shdr) *sections = read_at(fd, head->e_shoff, size);
	size_t i;

	for (i = 0; sections != NULL && i < head->e_shnum; i++) {
		const ElfW(Shdr) *table = &sections[i], *strings;
		ElfW(Sym) *symbols;
		char *names;

		if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum)
			continue;
		strings = &sections[table->sh_link];
		symbols = read_at(fd, table->sh_offset, table->sh_size);
		names = read_at(fd, strings->sh_offset, strings->sh_size);
		if (symbols != NULL && names != NULL)
			find_name(symbols, table->sh_size / sizeof symbols[0], names,
			    strings->sh_size, found);
		free(names);
		free(symbols);
		break;
	}
	free(sections);
}

/* In the file at path, whose first bytes are in memory at base. */
static void
look_in_file(const char *path, const void *base, struct melyint_symbol *found)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) *head;

	if (fd < 0)
		return;
	head = read_at(fd, 0, sizeof *head);
	if (head != NULL && memcmp(head, base, sizeof *head) == 0 &&
	    memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	    head->e_shentsize == sizeof(ElfW(Shdr)) && head->e_shnum <= SECTIONS_MAX)
		look_in_sections(fd, head, found);
	free(head);
	close(fd);
}

bool
melyint_symbol_at(uintptr_t pc, struct melyint_symbol *symbol)
{
	struct link_map *map;
	const char *module;
	void *extra = NULL;
	Dl_info info;

	memset(symbol, 0, sizeof *symbol);
	/* An address of code, as a pointer to data. */
	if (dladdr1((void *)pc, &info, &extra, RTLD_DL_LINKMAP) == 0 || info.dli_fname == NULL)
		return false;
	map = extra;
	module = strrchr(info.dli_fname, '/');
	module = module != NULL ? module + 1 : info.dli_fname;
	snprintf(symbol->module, sizeof symbol->module, "%.*s", (int)sizeof symbol->module - 1,
	    module);
	symbol->address = pc - (map != NULL ? map->l_addr : 0);
	if (info.dli_sname != NULL) {
		snprintf(symbol->name, sizeof symbol->name, "%.*s", (int)sizeof symbol->name - 1,
		    info.dli_sname);
		symbol->offset = pc - (uintptr_t)info.dli_saddr;
	} else {
		/* The program itself has no name there, or one that is relative. */
		look_in_file(map == NULL || map->l_name == NULL || map->l_name[0] == '\0' ?
		    "/proc/self/exe" : info.dli_fname, info.dli_fbase, symbol);
	}
	return true;
}
#endif
