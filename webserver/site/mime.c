/* SPDX-License-Identifier: MIT */
/*
 * mime.c: a hash table of suffixes in lower case. Text types get a charset; without one browsers
 * do not assume UTF-8.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "site/mime.h"

#define BUCKETS 1024
#define SUFFIX_MAX 31

struct type {
	struct type *next;
	char suffix[SUFFIX_MAX + 1];
	char value[];
};

struct mime_table {
	struct type *buckets[BUCKETS];
};

static const char *const built_in[][2] = {
	{"html", "text/html"}, {"htm", "text/html"}, {"css", "text/css"},
	{"js", "text/javascript"}, {"mjs", "text/javascript"}, {"json", "application/json"},
	{"map", "application/json"}, {"txt", "text/plain"}, {"md", "text/markdown"},
	{"csv", "text/csv"}, {"xml", "text/xml"}, {"svg", "image/svg+xml"},
	{"png", "image/png"}, {"jpg", "image/jpeg"}, {"jpeg", "image/jpeg"},
	{"gif", "image/gif"}, {"webp", "image/webp"}, {"avif", "image/avif"},
	{"ico", "image/vnd.microsoft.icon"}, {"pdf", "application/pdf"},
	{"wasm", "application/wasm"}, {"woff", "font/woff"}, {"woff2", "font/woff2"},
	{"ttf", "font/ttf"}, {"otf", "font/otf"}, {"mp4", "video/mp4"},
	{"webm", "video/webm"}, {"mp3", "audio/mpeg"}, {"ogg", "audio/ogg"},
	{"zip", "application/zip"}, {"gz", "application/gzip"}, {"xz", "application/x-xz"},
	{"tar", "application/x-tar"}, {"webmanifest", "application/manifest+json"},
};

/* Convert to lower case; the length, or 0 if the suffix is empty or too long for the table. */
static size_t
fold(const char *suffix, size_t len, char out[SUFFIX_MAX + 1])
{
	if (len == 0 || len > SUFFIX_MAX)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char c = suffix[i];

		out[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
	}
	out[len] = '\0';
	return len;
}

static size_t
bucket(const char *folded)
{
	uint32_t hash = 2166136261u;

	for (; *folded != '\0'; folded++)
		hash = (hash ^ (unsigned char)*folded) * 16777619u;
	return (hash ^ hash >> 15) % BUCKETS;
}

static struct type *
find(const struct mime_table *table, const char *folded)
{
	struct type *t = table->buckets[bucket(folded)];

	SWS_ASSERT(folded[0] != '\0');
	while (t != NULL && strcmp(t->suffix, folded) != 0)
		t = t->next;
	return t;
}

static bool
is_text(const char *type)
{
	return strncmp(type, "text/", 5) == 0 || strcmp(type, "application/javascript") == 0
	    || strcmp(type, "application/json") == 0 || strcmp(type, "application/xml") == 0;
}

/* May the type stand in a field: visible characters only, and a slash? */
static bool
is_sound(const char *type)
{
	const char *p = type;

	while (*p > ' ' && *p < 0x7f)
		p++;
	return *p == '\0' && p > type && strchr(type, '/') != NULL;
}

static int
add(struct mime_table *table, const char *suffix, const char *type)
{
	char folded[SUFFIX_MAX + 1];
	struct type *t, **link;
	size_t size;
	int written;

	if (fold(suffix, strlen(suffix), folded) == 0 || !is_sound(type))
		return 0;
	size = strlen(type) + sizeof "; charset=utf-8";
	t = malloc(sizeof *t + size);
	if (t == NULL)
		return -ENOMEM;
	strcpy(t->suffix, folded);
	written = snprintf(t->value, size, "%s%s", type, is_text(type) ? "; charset=utf-8" : "");
	SWS_ASSERT(written > 0 && (size_t)written < size);
	link = &table->buckets[bucket(folded)];
	/* In front, where it hides an earlier type of the suffix: the file takes precedence. */
	t->next = *link;
	*link = t;
	return 0;
}

static int
add_built_in(struct mime_table *table, const char *suffix, const char *type)
{
	int status = add(table, suffix, type);

	/* In a file, what is not a suffix or a type is skipped; here it is a mistake. */
	SWS_ASSERT(status != 0 || find(table, suffix) != NULL);
	return status;
}

static int
read_file(struct mime_table *table, FILE *f)
{
	static const char space[] = " \t\r\n";
	char line[1024];
	int status = 0;

	while (status == 0 && fgets(line, sizeof line, f) != NULL) {
		char *save, *type = strtok_r(line, space, &save), *suffix;

		if (type == NULL || type[0] == '#')
			continue;
		while (status == 0 && (suffix = strtok_r(NULL, space, &save)) != NULL)
			status = add(table, suffix, type);
	}
	return status;
}

int
mime_new(struct mime_table **out, const char *file)
{
	struct mime_table *table = calloc(1, sizeof *table);
	int status = table == NULL ? -ENOMEM : 0;
	FILE *f;

	for (size_t i = 0; status == 0 && i < sizeof built_in / sizeof built_in[0]; i++)
		status = add_built_in(table, built_in[i][0], built_in[i][1]);
	f = status == 0 ? fopen(file, "re") : NULL;
	if (f != NULL) {
		status = read_file(table, f);
		fclose(f);
	}
	if (status != 0) {
		mime_free(table);
		return status;
	}
	*out = table;
	return 0;
}

void
mime_free(struct mime_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (table->buckets[i] != NULL) {
			struct type *t = table->buckets[i];

			table->buckets[i] = t->next;
			free(t);
		}
	free(table);
}

/* The type of a path, or NULL. */
static const struct type *
type_of(const struct mime_table *table, const char *path, size_t len)
{
	char folded[SUFFIX_MAX + 1];
	size_t dot = len;

	while (dot > 0 && path[dot - 1] != '.' && path[dot - 1] != '/')
		dot--;
	if (dot == 0 || path[dot - 1] != '.' || fold(path + dot, len - dot, folded) == 0)
		return NULL;
	return find(table, folded);
}

const char *
mime_type(const struct mime_table *table, const char *path, size_t len)
{
	const struct type *t = type_of(table, path, len);

	/* It becomes part of a head: a line break would begin another field. */
	SWS_ASSERT(t == NULL || strpbrk(t->value, "\r\n") == NULL);
	return t != NULL ? t->value : "application/octet-stream";
}

bool
mime_is_known(const struct mime_table *table, const char *path, size_t len)
{
	return type_of(table, path, len) != NULL;
}
