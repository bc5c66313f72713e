/* SPDX-License-Identifier: MIT */
/*
 * watch.c: which pages are removed when a file changes, by what the kernel really reports. Without
 * inotify, or /proc, it is skipped.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../../webserver/site/watch.c"

static char top[] = "/tmp/mely-watch-XXXXXX";
static struct sws_site site;
static struct sws_store store;
static struct sws_watches watches;
static const char *error_texts[] = {"404 /d/404.html"};

/* What has been forgotten: keys, with a blank after each. */
static char forgotten[65536];

void
sws_site_hash(const struct sws_site *s, struct sws_path *path)
{
	path->hash = 7;
	for (size_t i = 0; i < path->len; i++)
		path->hash = path->hash * 31 + (unsigned char)path->text[i];
	path->site = s->number;
}

void
sws_site_forget(struct sws_site *s, const char *path, size_t len, enum http_coding coding, int role)
{
	size_t n = strlen(forgotten);

	assert_ptr_equal(s, &site);
	snprintf(forgotten + n, sizeof forgotten - n, "%.*s:%d:%d ", (int)len, path, (int)coding,
	    role);
}

int
sws_directory_open(const struct sws_root *root, const char *path, size_t len)
{
	char name[512];

	assert_ptr_equal(root, &site.root);
	snprintf(name, sizeof name, "%s%.*s", top, (int)len, path);
	return open(name, O_RDONLY | O_DIRECTORY);
}

static void
run(const char *format)
{
	char command[1024];

	snprintf(command, sizeof command, format, top, top);
	assert_int_equal(system(command), 0);
}

/* Read until this is forgotten; the kernel reports in order, and at once. */
static void
wait_for(const char *what)
{
	struct pollfd p = {.fd = watches.fd, .events = POLLIN};

	while (strstr(forgotten, what) == NULL) {
		assert_int_equal(poll(&p, 1, 60000), 1);
		sws_watches_read(&watches, &site, 1);
	}
	forgotten[0] = '\0';
}

static struct sws_page *
page_of(const char *key)
{
	struct sws_page *page = calloc(1, sizeof *page + strlen(key) + 1);
	struct sws_path path = {.text = key, .len = strlen(key)};
	bool crowded;

	assert_non_null(page);
	sws_site_hash(&site, &path);
	strcpy(page->bytes, key);
	page->key = page->bytes;
	page->key_len = (uint32_t)path.len;
	page->hash = path.hash;
	page->site = site.number;
	page->size = 100;
	atomic_init(&page->refs, 1);
	assert_true(sws_store_put(&store, page, &crowded));
	sws_watches_add(&watches, &site, page);
	return page;
}

static void
files(void **state)
{
	struct sws_page *page = page_of("/d/a.html"), *other = page_of("/d/b.html");

	(void)state;
	/* One watch for both. */
	assert_int_equal(watches.count, 1);
	run("echo 1 >%s/d/a.html");
	wait_for("/d/a.html:0:0 ");
	run("echo 2 >>%s/d/a.html");
	wait_for("/d/a.html:1:0 ");
	run("touch %s/d/a.html");
	wait_for("/d/a.html:2:0 ");
	run("chmod 600 %s/d/a.html");
	wait_for("/d/a.html:3:0 ");
	/* Each file may be an index. */
	run("mv %s/d/a.html %s/d/index.html");
	wait_for("/d/:0:0 ");
	run("echo 1 >%s/d/a.html.gz");
	wait_for("/d/a.html:3:0 ");
	run("rm %s/d/a.html.gz");
	wait_for("/d/a.html.gz:0:0 ");
	run("echo 1 >%s/d/404.html");
	wait_for("/d/404.html:0:6 ");
	run("echo 1 >%s/d/app.html");
	wait_for("/d/app.html:0:1 ");
	sws_page_unref(page);
	sws_page_unref(other);
}

static void
directories(void **state)
{
	struct sws_page *page = page_of("/d/e/a.html"), *other = page_of("/d/b.html");

	(void)state;
	assert_int_equal(watches.count, 2);
	run("mv %s/d/e %s/d/f");
	while (!atomic_load(&page->dead)) {
		struct pollfd p = {.fd = watches.fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, 60000), 1);
		sws_watches_read(&watches, &site, 1);
	}
	assert_false(atomic_load(&other->dead));
	assert_int_equal(watches.count, 1);
	run("rm -r %s/d");
	while (!atomic_load(&other->dead)) {
		struct pollfd p = {.fd = watches.fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, 60000), 1);
		sws_watches_read(&watches, &site, 1);
	}
	assert_int_equal(watches.count, 0);
	sws_page_unref(page);
	sws_page_unref(other);
}

/* A site that a reload has ended is watched no longer. */
static void
reloads(void **state)
{
	struct sws_page *page = page_of("/d/a.html");

	(void)state;
	assert_int_equal(watches.count, 1);
	run("echo 1 >%s/d/a.html");
	while (watches.count > 0) {
		struct pollfd p = {.fd = watches.fd, .events = POLLIN};

		assert_int_equal(poll(&p, 1, 60000), 1);
		sws_watches_read(&watches, NULL, 0);
	}
	assert_string_equal(forgotten, "");
	sws_page_unref(page);
}

/* The kernel has lost events: no page is kept. */
static void
overflow(void **state)
{
	struct sws_page *page = page_of("/d/a.html");
	struct inotify_event e = {.wd = -1, .mask = IN_Q_OVERFLOW};
	int pipes[2], kept = watches.fd;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], &e, sizeof e), sizeof e);
	watches.fd = pipes[0];
	assert_true(sws_watches_read(&watches, &site, 1));
	watches.fd = kept;
	close(pipes[0]);
	close(pipes[1]);
	assert_true(atomic_load(&page->dead));
	sws_page_unref(page);
}

static int
setup(void **state)
{
	(void)state;
	site = (struct sws_site){.number = 3, .root = {.fd = -1}, .store = &store};
	site.options.fallback = "/d/app.html";
	site.options.error_pages = (struct sws_texts){.text = error_texts, .count = 1};
	forgotten[0] = '\0';
	run("mkdir -p %s/d/e");
	return sws_store_init(&store, 1 << 20) | sws_watches_init(&watches);
}

static int
teardown(void **state)
{
	(void)state;
	sws_watches_fini(&watches);
	assert_int_equal(watches.count, 0);
	sws_store_fini(&store);
	run("rm -rf %s/d");
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files, setup, teardown),
		cmocka_unit_test_setup_teardown(directories, setup, teardown),
		cmocka_unit_test_setup_teardown(reloads, setup, teardown),
		cmocka_unit_test_setup_teardown(overflow, setup, teardown),
	};
	int fd = inotify_init1(IN_CLOEXEC), failed;

	if (fd < 0 || access("/proc/self/fd", X_OK) != 0) {
		fprintf(stderr, "no inotify or /proc here\n");
		return 77;
	}
	close(fd);
	if (mkdtemp(top) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(top);
	return failed;
}
