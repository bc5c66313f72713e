/* SPDX-License-Identifier: MIT */
/*
 * corpus.h: runs a fuzz target without libFuzzer: main passes it the files of a corpus and the
 * variations that try_input makes of each. Also for C++.
 */
#ifndef MELY_TESTS_CORPUS_H
#define MELY_TESTS_CORPUS_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CORPUS_INPUT_MAX = 1 << 20 };

/* Run the target on an input and, at its choice, on variations of it. May change data. */
static void try_input(uint8_t *data, size_t size);

static inline int
corpus_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = (uint8_t *)malloc(CORPUS_INPUT_MAX);
	size_t n;

	if (f == NULL || data == NULL) {
		perror(path);
		exit(1);
	}
	n = fread(data, 1, CORPUS_INPUT_MAX, f);
	fclose(f);
	try_input(data, n);
	free(data);
	return 1;
}

static inline int
corpus_path(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[4096];
	int files = 0;

	if (dir == NULL)
		return corpus_file(path);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		files += corpus_file(name);
	}
	closedir(dir);
	return files;
}

/* Run the target on all files and directories on the command line. Fewer files than at_least are a
 * failure: a missing corpus must not count as a passed test. */
static inline int
corpus_main(int argc, char **argv, int at_least)
{
	int files = 0;
	int i;

	for (i = 1; i < argc; i++)
		files += corpus_path(argv[i]);
	printf("%d inputs\n", files);
	return files >= at_least ? 0 : 1;
}

#endif
