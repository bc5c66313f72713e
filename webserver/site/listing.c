/* SPDX-License-Identifier: MIT */
/*
 * listing.c: reading a directory, and the order of its entries. Up to SWS_LISTING_SORTED_MAX of
 * them are held and sorted; of a larger one the memory holds a piece at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "site/listing.h"
#include "site/listing_text.h"

#define DENTS_ROOM 32768
/* Entries of a large directory that are read at once. */
#define BATCH 512

struct sws_listing *
sws_listing_new(const struct sws_root *root, int fd, const char *path, size_t len,
    const struct sws_listing_form *form)
{
	struct sws_listing *l = calloc(1, sizeof *l);

	SWS_ASSERT(fd >= 0 && len > 0 && path[0] == '/' && path[len - 1] == '/');
	if (l == NULL)
		return NULL;
	l->path = strndup(path, len);
	l->dents = malloc(DENTS_ROOM);
	if (l->path == NULL || l->dents == NULL) {
		free(l->path);
		free(l->dents);
		free(l);
		return NULL;
	}
	l->root = root;
	l->form = *form;
	l->fd = fd;
	return l;
}

void
sws_listing_free(struct sws_listing *l)
{
	if (l == NULL)
		return;
	close(l->fd);
	sws_text_free(&l->text);
	sws_text_free(&l->names);
	free(l->entries);
	free(l->dents);
	free(l->path);
	free(l);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The file that a name stands for, if it can be served. A link may lead where none may follow. */
static bool
status_of(struct sws_listing *l, const char *name, struct stat *st)
{
	int flags = l->root->symlinks == SWS_SYMLINKS_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;

	if (fstatat(l->fd, name, st, flags) != 0)
		return false;
	if (S_ISLNK(st->st_mode) && (l->root->symlinks != SWS_SYMLINKS_BENEATH
	    || !sws_file_stat(l->root, l->path, name, st)))
		return false;
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

/* Add an entry; false: no memory. */
static bool
add(struct sws_listing *l, const char *name, const struct stat *st)
{
	if (l->count == l->room) {
		size_t room = l->room > 0 ? 2 * l->room : BATCH;
		struct sws_listing_entry *more = realloc(l->entries, room * sizeof *more);

		if (more == NULL)
			return false;
		l->entries = more;
		l->room = room;
	}
	l->entries[l->count++] = (struct sws_listing_entry){(uint32_t)l->names.len,
		S_ISDIR(st->st_mode), (uint64_t)st->st_size, st->st_mtim.tv_sec};
	sws_text_add(&l->names, name, strlen(name) + 1);
	return !l->names.failed;
}

static bool
is_hidden(const struct sws_listing *l, const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0
	    || (name[0] == '.' && !l->form.dotfiles);
}

/* Read entries until there are max of them, or no more. 0 or a negative errno. */
static int
read_entries(struct sws_listing *l, size_t max)
{
	l->count = l->next = 0;
	sws_text_clear(&l->names);
	while (l->count < max) {
		const struct dirent64 *d = (const void *)(l->dents + l->dents_at);
		struct stat st;

		if (l->dents_at == l->dents_len) {
			long n = syscall(SYS_getdents64, l->fd, l->dents, DENTS_ROOM);

			if (n < 0)
				return -errno;
			l->read = n == 0;
			if (l->read)
				return 0;
			l->dents_at = 0;
			l->dents_len = (size_t)n;
			continue;
		}
		l->dents_at += d->d_reclen;
		SWS_ASSERT(d->d_reclen > 0 && l->dents_at <= l->dents_len);
		if (!is_hidden(l, d->d_name) && status_of(l, d->d_name, &st)
		    && !add(l, d->d_name, &st))
			return -ENOMEM;
	}
	return 0;
}

/* ---- order --------------------------------------------------------------------------------- */

static int
by_name(const struct sws_listing *l, const struct sws_listing_entry *a,
    const struct sws_listing_entry *b)
{
	const char *p = l->names.bytes + a->name, *q = l->names.bytes + b->name;
	int order = strcasecmp(p, q);

	return order != 0 ? order : strcmp(p, q);
}

/* Directories first; entries of the same size or time by their names. */
static int
compare(const void *a, const void *b, void *arg)
{
	const struct sws_listing_entry *p = a, *q = b;
	const struct sws_listing *l = arg;
	int order = 0;

	if (p->directory != q->directory)
		return p->directory ? -1 : 1;
	if (l->form.sort == SWS_LISTING_SIZE && !p->directory)
		order = (p->size > q->size) - (p->size < q->size);
	else if (l->form.sort == SWS_LISTING_TIME)
		order = (p->modified_s > q->modified_s) - (p->modified_s < q->modified_s);
	else if (l->form.sort == SWS_LISTING_NAME)
		order = by_name(l, p, q);
	if (order == 0)
		return by_name(l, p, q);
	return l->form.descending ? -order : order;
}

/* ---- pieces -------------------------------------------------------------------------------- */

static int
begin(struct sws_listing *l)
{
	int status = read_entries(l, SWS_LISTING_SORTED_MAX + 1);

	if (status != 0)
		return status;
	l->sorted = l->read;
	if (l->sorted && l->count > 0)
		qsort_r(l->entries, l->count, sizeof l->entries[0], compare, l);
	l->begun = true;
	sws_listing_text_begin(l);
	return 0;
}

int
sws_listing_more(struct sws_listing *l)
{
	size_t before = l->text.len;
	int status = 0;

	SWS_ASSERT(!l->ended);
	if (!l->begun)
		status = begin(l);
	while (status == 0 && l->text.len - before < SWS_LISTING_PIECE) {
		if (l->next < l->count) {
			const struct sws_listing_entry *e = &l->entries[l->next++];

			sws_listing_text_entry(l, e, l->names.bytes + e->name);
			l->listed++;
		} else if (!l->read) {
			status = read_entries(l, BATCH);
		} else {
			sws_listing_text_end(l);
			l->ended = true;
			break;
		}
	}
	return status == 0 && l->text.failed ? -ENOMEM : status;
}
