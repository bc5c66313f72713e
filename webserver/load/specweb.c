/* SPDX-License-Identifier: MIT */
/*
 * specweb.c: files as in SPECweb99.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/random.h"
#include "load/specweb.h"

static uint32_t
class_of(uint32_t number)
{
	return number % LOAD_SPECWEB_IN_DIR / LOAD_SPECWEB_FILES;
}

void
load_specweb_path(uint32_t number, char *path, size_t size)
{
	int n = snprintf(path, size, "/file_set/dir%05u/class%u_%u", number / LOAD_SPECWEB_IN_DIR,
	    class_of(number), number % LOAD_SPECWEB_FILES);

	SWS_ASSERT(n > 0 && (size_t)n < size);
}

uint32_t
load_specweb_size(uint32_t number)
{
	static const uint32_t largest[LOAD_SPECWEB_CLASSES] = {1024, 10240, 102400, 1024000};

	return (number % LOAD_SPECWEB_FILES + 1) * largest[class_of(number)] / 10;
}

double
load_specweb_weight(uint32_t number)
{
	static const double classes[LOAD_SPECWEB_CLASSES] = {0.35, 0.50, 0.14, 0.01};
	/* The rank of each file in its class: those of middle size are popular. */
	static const uint32_t ranks[LOAD_SPECWEB_FILES] = {8, 5, 3, 1, 0, 2, 4, 6, 7};

	return classes[class_of(number)] * load_zipf_weight(ranks[number % LOAD_SPECWEB_FILES], 1)
	    * load_zipf_weight(number / LOAD_SPECWEB_IN_DIR, 1);
}

static bool
make_dir(const char *path)
{
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return true;
	fprintf(stderr, "sws-load: %s: %s\n", path, strerror(errno));
	return false;
}

/* Letters, which differ from file to file and from place to place. */
static void
fill(char *text, uint32_t size, uint32_t number)
{
	uint64_t state = number;

	for (uint32_t i = 0; i < size; i++)
		text[i] = i % 64 == 63 ? '\n' : (char)('a' + load_random(&state) % 26);
}

static bool
make_file(const char *path, const char *text, uint32_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0;

	for (uint32_t at = 0; ok && at < size;) {
		ssize_t n = write(fd, text + at, size - at);

		ok = n > 0;
		at += ok ? (uint32_t)n : 0;
	}
	if (!ok)
		fprintf(stderr, "sws-load: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool
load_specweb_make(const char *root, uint32_t dirs)
{
	size_t size = strlen(root) + 64;
	char *path = malloc(size), *text = malloc(1024000);
	bool ok = path != NULL && text != NULL;

	SWS_ASSERT(dirs > 0 && dirs <= LOAD_SPECWEB_DIRS_MAX);
	if (ok) {
		snprintf(path, size, "%s/file_set", root);
		ok = make_dir(root) && make_dir(path);
	}
	for (uint32_t i = 0; ok && i < dirs * LOAD_SPECWEB_IN_DIR; i++) {
		snprintf(path, size, "%s/file_set/dir%05u", root, i / LOAD_SPECWEB_IN_DIR);
		if (i % LOAD_SPECWEB_IN_DIR == 0 && !make_dir(path)) {
			ok = false;
			break;
		}
		strcpy(path, root);
		load_specweb_path(i, path + strlen(root), size - strlen(root));
		fill(text, load_specweb_size(i), i);
		ok = make_file(path, text, load_specweb_size(i));
	}
	free(path);
	free(text);
	return ok;
}
