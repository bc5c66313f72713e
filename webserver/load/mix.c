/* SPDX-License-Identifier: MIT */
/*
 * mix.c: the targets, and how they are drawn.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/mix.h"
#include "load/specweb.h"

static bool
out_of_memory(void)
{
	fputs("sws-load: out of memory\n", stderr);
	return false;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* True if the user's fields have one of this name. */
static bool
has_field(const char *fields, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = fields; *line != '\0'; line = strstr(line, "\r\n") + 2)
		if (strncasecmp(line, name, len) == 0 && line[len] == ':')
			return true;
	return false;
}

static bool
make_request(struct load_target *t, const struct load_options *o, const char *path)
{
	bool host = has_field(o->fields, "Host");
	char *copy, *request;
	int len;

	copy = strdup(path);
	t->path = copy;
	len = asprintf(&request, "%s %s HTTP/1.1\r\n%s%s%s%s\r\n", o->head ? "HEAD" : "GET", path,
	    host ? "" : "Host: ", host ? "" : o->url.authority, host ? "" : "\r\n", o->fields);
	if (len < 0)
		request = NULL;
	t->request = request;
	t->request_len = len > 0 ? (uint32_t)len : 0;
	return copy != NULL && request != NULL;
}

/* ---- files to compare bodies with ---------------------------------------------------------- */

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The name of the file that a path means: without its query, and decoded. */
static char *
file_name(const char *root, const char *path)
{
	size_t path_len = strcspn(path, "?");
	char *name = malloc(strlen(root) + path_len + sizeof "index.html"), *to;

	if (name == NULL)
		return NULL;
	to = stpcpy(name, root);
	for (size_t i = 0; i < path_len; i++) {
		if (path[i] == '%' && i + 2 < path_len && hex(path[i + 1]) >= 0
		    && hex(path[i + 2]) >= 0) {
			*to++ = (char)(hex(path[i + 1]) * 16 + hex(path[i + 2]));
			i += 2;
		} else
			*to++ = path[i];
	}
	*to = '\0';
	if (path_len > 0 && path[path_len - 1] == '/')
		strcpy(to, "index.html");
	return name;
}

/* Read a whole file; NULL and errno. */
static char *
read_file(const char *name, size_t *size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text = NULL;
	size_t at = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0)
		goto fail;
	text = malloc((size_t)st.st_size + 1);
	if (text == NULL)
		goto fail;
	while ((n = read(fd, text + at, (size_t)st.st_size - at)) > 0)
		at += (size_t)n;
	if (n < 0)
		goto fail;
	close(fd);
	*size = at;
	return text;

fail:
	free(text);
	close(fd);
	return NULL;
}

static bool
read_expected(struct load_target *t, const char *root)
{
	char *name = file_name(root, t->path);

	if (name == NULL)
		return out_of_memory();
	t->file = read_file(name, &t->file_size);
	if (t->file == NULL)
		fprintf(stderr, "sws-load: --verify: %s: %s\n", name, strerror(errno));
	free(name);
	return t->file != NULL;
}

/* ---- the targets --------------------------------------------------------------------------- */

static bool
add(struct load_mix *mix, const struct load_options *o, const char *path)
{
	struct load_target *t;

	/* Room doubles at each power of two. */
	if ((mix->count & (mix->count - 1)) == 0) {
		size_t size = mix->count > 0 ? (size_t)mix->count * 2 : 1;
		struct load_target *grown = realloc(mix->targets, size * sizeof *grown);

		if (grown == NULL)
			return out_of_memory();
		mix->targets = grown;
	}
	t = &mix->targets[mix->count++];
	*t = (struct load_target){0};
	if (!make_request(t, o, path))
		return out_of_memory();
	if (t->request_len > mix->request_len_max)
		mix->request_len_max = t->request_len;
	return o->verify == NULL || read_expected(t, o->verify);
}

static bool
add_list(struct load_mix *mix, const struct load_options *o, const char *list)
{
	char path[sizeof o->url.path];
	unsigned number = 1;

	for (const char *line = list; *line != '\0'; number++) {
		size_t len = strcspn(line, "\n");
		size_t text_len = len > 0 && line[len - 1] == '\r' ? len - 1 : len;

		if (text_len > 0 && line[0] != '#') {
			snprintf(path, sizeof path, "%.*s", (int)text_len, line);
			if (text_len >= sizeof path || !load_path_ok(path)) {
				fprintf(stderr, "sws-load: %s:%u: this is not a path\n", o->list,
				    number);
				return false;
			}
			if (!add(mix, o, path))
				return false;
		}
		line += len + (line[len] == '\n');
	}
	if (mix->count == 0)
		fprintf(stderr, "sws-load: %s: no path in it\n", o->list);
	return mix->count > 0;
}

static bool
add_specweb(struct load_mix *mix, const struct load_options *o)
{
	char path[64];

	for (uint32_t i = 0; i < o->specweb_dirs * LOAD_SPECWEB_IN_DIR; i++) {
		load_specweb_path(i, path, sizeof path);
		if (!add(mix, o, path))
			return false;
	}
	return true;
}

static bool
weigh(struct load_mix *mix, const struct load_options *o)
{
	double *weights = malloc(mix->count * sizeof *weights);
	bool ok;

	if (weights == NULL)
		return out_of_memory();
	for (uint32_t i = 0; i < mix->count; i++)
		weights[i] = o->specweb_dirs > 0 ? load_specweb_weight(i)
		    : load_zipf_weight(i, o->zipf);
	ok = load_draw_init(&mix->draw, weights, mix->count);
	free(weights);
	mix->drawn = true;
	return ok || out_of_memory();
}

bool
load_mix_init(struct load_mix *mix, const struct load_options *o, const char *list)
{
	bool ok;

	*mix = (struct load_mix){0};
	SWS_ASSERT(list == NULL || o->list != NULL);
	if (list != NULL)
		ok = add_list(mix, o, list);
	else if (o->specweb_dirs > 0)
		ok = add_specweb(mix, o);
	else
		ok = add(mix, o, o->url.path);
	return ok && ((o->zipf <= 0 && o->specweb_dirs == 0) || weigh(mix, o));
}

void
load_mix_fini(struct load_mix *mix)
{
	for (uint32_t i = 0; i < mix->count; i++) {
		free((char *)mix->targets[i].path);
		free((char *)mix->targets[i].request);
		free((char *)mix->targets[i].file);
	}
	free(mix->targets);
	load_draw_fini(&mix->draw);
	*mix = (struct load_mix){0};
}

void
load_cursor_init(struct load_cursor *c, const struct load_mix *mix, uint64_t seed, uint32_t index,
    uint32_t count)
{
	SWS_ASSERT(index < count);
	c->state = seed;
	/* Cores with neighbouring numbers begin far from each other. */
	for (uint32_t i = 0; i <= index; i++)
		c->state = load_random(&c->state);
	c->next = (uint32_t)((uint64_t)mix->count * index / count);
}
