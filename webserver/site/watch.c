/* SPDX-License-Identifier: MIT */
/*
 * watch.c: a watch is a directory of a site: its path there, and the kernel's number, which two of
 * them share if they are the same directory. An event names a file in it. All pages whose keys can
 * be of that file are removed: the file itself, the one that it is a coding of, and the directory
 * if it is an index. When the kernel has lost events, all pages are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/assertion.h"
#include "http/parse.h"
#include "site/rules.h"
#include "site/watch.h"

#define BUCKETS 1024
#define EVENTS (IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MODIFY \
	| IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR)
/* Bytes of events that are read at once. */
#define READ_ROOM 16384

struct sws_watch {
	struct sws_watch *next_path, *next_wd;
	uint64_t hash;
	uint32_t site;
	int wd;
	size_t len;
	char path[];              /* with a slash at both ends */
};

int
sws_watches_init(struct sws_watches *w)
{
	w->count = 0;
	w->by_path = calloc(BUCKETS, sizeof w->by_path[0]);
	w->by_wd = calloc(BUCKETS, sizeof w->by_wd[0]);
	pthread_mutex_init(&w->lock, NULL);
	w->fd = w->by_path != NULL && w->by_wd != NULL
	    ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;
	return w->fd >= 0 ? 0 : -errno;
}

/* Take a watch out of the tables, and free it. With the lock held. */
static void
drop(struct sws_watches *w, struct sws_watch *watch)
{
	struct sws_watch **link = &w->by_path[watch->hash % BUCKETS];

	while (*link != watch)
		link = &(*link)->next_path;
	*link = watch->next_path;
	for (link = &w->by_wd[(unsigned)watch->wd % BUCKETS]; *link != watch;)
		link = &(*link)->next_wd;
	*link = watch->next_wd;
	w->count--;
	free(watch);
}

void
sws_watches_fini(struct sws_watches *w)
{
	for (size_t i = 0; w->by_path != NULL && i < BUCKETS; i++)
		while (w->by_path[i] != NULL)
			drop(w, w->by_path[i]);
	free(w->by_path);
	free(w->by_wd);
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

/* ---- adding -------------------------------------------------------------------------------- */

static struct sws_watch *
find(struct sws_watches *w, const struct sws_path *dir)
{
	struct sws_watch *watch = w->by_path[dir->hash % BUCKETS];

	while (watch != NULL && (watch->hash != dir->hash || watch->site != dir->site
	    || watch->len != dir->len || memcmp(watch->path, dir->text, dir->len) != 0))
		watch = watch->next_path;
	return watch;
}

/* Have the kernel watch an open directory. Its number, or a negative errno. */
static int
watch_fd(const struct sws_watches *w, int fd)
{
	char name[32];
	int wd;

	/* By the descriptor, since the name could lead elsewhere by now. */
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(w->fd, name, EVENTS);
	return wd >= 0 ? wd : -errno;
}

static void
insert(struct sws_watches *w, const struct sws_path *dir, int wd)
{
	struct sws_watch *watch = malloc(sizeof *watch + dir->len + 1);

	if (watch == NULL)
		return;
	watch->hash = dir->hash;
	watch->site = dir->site;
	watch->wd = wd;
	watch->len = dir->len;
	memcpy(watch->path, dir->text, dir->len);
	watch->path[dir->len] = '\0';
	watch->next_path = w->by_path[dir->hash % BUCKETS];
	w->by_path[dir->hash % BUCKETS] = watch;
	watch->next_wd = w->by_wd[(unsigned)wd % BUCKETS];
	w->by_wd[(unsigned)wd % BUCKETS] = watch;
	w->count++;
}

void
sws_watches_add(struct sws_watches *w, const struct sws_site *site, const struct sws_page *page)
{
	struct sws_path dir = {.text = page->key};
	size_t len = sws_key_parts(page->key, page->key_len).path_len;
	bool known;
	int fd, wd;

	if (w->fd < 0)
		return;
	while (page->key[len - 1] != '/')
		len--;
	dir.len = len;
	sws_site_hash(site, &dir);
	pthread_mutex_lock(&w->lock);
	known = find(w, &dir) != NULL || w->count >= SWS_WATCHES_MAX;
	pthread_mutex_unlock(&w->lock);
	if (known)
		return;
	fd = sws_directory_open(&site->root, dir.text, dir.len);
	if (fd < 0)
		return;
	wd = watch_fd(w, fd);
	close(fd);
	pthread_mutex_lock(&w->lock);
	if (wd >= 0 && find(w, &dir) == NULL)
		insert(w, &dir, wd);
	pthread_mutex_unlock(&w->lock);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Remove the pages of a path: in each coding, and in each role that it has. */
static void
forget_path(struct sws_site *site, const char *path, size_t len)
{
	const struct sws_texts *errors = &site->options.error_pages;
	const char *fallback = site->options.fallback;
	bool is_fallback = fallback != NULL && strlen(fallback) == len
	    && memcmp(fallback, path, len) == 0;

	for (int c = HTTP_IDENTITY; c < HTTP_CODINGS; c++) {
		sws_site_forget(site, path, len, (enum http_coding)c, SWS_ROLE_ITSELF);
		if (is_fallback)
			sws_site_forget(site, path, len, (enum http_coding)c, SWS_ROLE_FALLBACK);
		for (int i = 0; i < errors->count; i++) {
			int status = atoi(errors->text[i]);
			const char *own = sws_error_page_find(errors, status);

			if (own != NULL && strlen(own) == len && memcmp(own, path, len) == 0)
				sws_site_forget(site, path, len, (enum http_coding)c,
				    SWS_ROLE_OF(status));
		}
	}
}

/* A file of a directory has changed. */
static void
forget_file(struct sws_site *site, const char *dir, size_t dir_len, const char *name)
{
	char path[HTTP_TARGET_MAX + NAME_MAX + 2];
	size_t len = dir_len + strlen(name);

	if (len > HTTP_TARGET_MAX)
		return;
	memcpy(path, dir, dir_len);
	memcpy(path + dir_len, name, len - dir_len);
	forget_path(site, path, len);
	for (int c = HTTP_ZSTD; c < HTTP_CODINGS; c++) {
		const char *suffix = http_coding_suffix((enum http_coding)c);
		size_t n = strlen(suffix);

		if (len - dir_len > n && memcmp(path + len - n, suffix, n) == 0)
			forget_path(site, path, len - n);
	}
	/* Of an index, or of what could be one, or beside one. */
	forget_path(site, path, dir_len);
}

static struct sws_site *
site_of(struct sws_site *sites, int count, uint32_t number)
{
	for (int i = 0; i < count; i++)
		if (sites[i].number == number)
			return &sites[i];
	return NULL;
}

/* The directory is no longer at its path, or what is there is another one. */
static void
forget_directory(struct sws_watches *w, struct sws_site *sites, int count, int wd)
{
	struct sws_watch *watch, *next;

	for (watch = w->by_wd[(unsigned)wd % BUCKETS]; watch != NULL; watch = next) {
		struct sws_site *site = site_of(sites, count, watch->site);

		next = watch->next_wd;
		if (watch->wd != wd)
			continue;
		if (site != NULL)
			sws_store_remove_beneath(site->store, site->number, watch->path,
			    watch->len);
		drop(w, watch);
	}
}

static void
handle(struct sws_watches *w, struct sws_site *sites, int count, const struct inotify_event *e)
{
	struct sws_watch *next;

	if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) {
		forget_directory(w, sites, count, e->wd);
		if (e->mask & IN_MOVE_SELF)
			inotify_rm_watch(w->fd, e->wd);
		return;
	}
	for (struct sws_watch *x = w->by_wd[(unsigned)e->wd % BUCKETS]; x != NULL; x = next) {
		struct sws_site *site = site_of(sites, count, x->site);

		next = x->next_wd;
		if (x->wd != e->wd)
			continue;
		if (site == NULL)
			drop(w, x); /* of a site before a reload */
		else if (e->len > 0)
			forget_file(site, x->path, x->len, e->name);
	}
}

bool
sws_watches_read(struct sws_watches *w, struct sws_site *sites, int count)
{
	_Alignas(struct inotify_event) char bytes[READ_ROOM];
	ssize_t n = read(w->fd, bytes, sizeof bytes);

	if (n <= 0)
		return false;
	pthread_mutex_lock(&w->lock);
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(bytes + at);

		at += (ssize_t)(sizeof *e + e->len);
		SWS_ASSERT(at <= n);
		if (e->mask & IN_Q_OVERFLOW) {
			for (int i = 0; i < count; i++)
				sws_store_remove_site(sites[i].store, sites[i].number);
		} else {
			handle(w, sites, count, e);
		}
	}
	pthread_mutex_unlock(&w->lock);
	return true;
}
