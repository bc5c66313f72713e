/* SPDX-License-Identifier: MIT */
/*
 * listing.c: a directory as HTML and JSON: order, escapes, what is left out, and pieces.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define realloc(p, size) (out_of_memory() ? NULL : realloc(p, size))
#define calloc failing_calloc
#define malloc failing_malloc
#include "../../webserver/site/listing.h"
#undef SWS_LISTING_SORTED_MAX
#undef SWS_LISTING_PIECE
#define SWS_LISTING_SORTED_MAX 40
#define SWS_LISTING_PIECE 2000
#include "../../webserver/site/listing.c"
#include "../../webserver/site/listing_text.c"
#undef realloc
#undef calloc
#undef malloc

static char dir[] = "/tmp/mely-listing-XXXXXX";
static struct sws_root root = {.fd = -1, .index = "index.html"};

/* Links are those of this test: what one stands for is a file. */
bool
sws_file_stat(const struct sws_root *r, const char *path, const char *name, struct stat *st)
{
	assert_ptr_equal(r, &root);
	assert_int_equal(path[strlen(path) - 1], '/');
	if (strcmp(name, "out") == 0)
		return false;
	memset(st, 0, sizeof *st);
	st->st_mode = S_IFREG;
	st->st_size = 77;
	return true;
}

static void
put(const char *name, size_t size, time_t when)
{
	char path[512];
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void
clear(void)
{
	char command[600];

	snprintf(command, sizeof command, "rm -rf %s; mkdir %s", dir, dir);
	assert_int_equal(system(command), 0);
}

/* The whole listing; the caller frees it. */
static char *
list(const struct sws_listing_form *form, const char *path, int *pieces)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct sws_listing *l = sws_listing_new(&root, fd, path, strlen(path), form);
	char *all = NULL;
	size_t len = 0;

	assert_non_null(l);
	for (*pieces = 0; !l->ended; ++*pieces) {
		sws_text_clear(&l->text);
		assert_int_equal(sws_listing_more(l), 0);
		/* At most an entry more than a piece, and what precedes and follows all. */
		assert_true(l->text.len < SWS_LISTING_PIECE + 4000);
		all = realloc(all, len + l->text.len + 1);
		memcpy(all + len, l->text.bytes, l->text.len);
		len += l->text.len;
		all[len] = '\0';
	}
	sws_listing_free(l);
	return all;
}

/* Do these texts occur in this order? */
static void
in_order(const char *all, const char *const *texts)
{
	for (const char *at = all; *texts != NULL; texts++) {
		at = strstr(at, *texts);
		if (at == NULL)
			fail_msg("'%s' is not there, or too early, in %s", *texts, all);
	}
}

static void
order(void **state)
{
	static const struct {
		struct sws_listing_form form;
		const char *names[8];
	} table[] = {
		{{.json = true}, {"\"sub\"", "\"a\"", "\"B\"", "\"c\"", NULL}},
		{{.json = true, .descending = true}, {"\"sub\"", "\"c\"", "\"B\"", "\"a\"", NULL}},
		{{.json = true, .sort = SWS_LISTING_SIZE},
		    {"\"sub\"", "\"c\"", "\"a\"", "\"B\"", NULL}},
		{{.json = true, .sort = SWS_LISTING_SIZE, .descending = true},
		    {"\"sub\"", "\"a\"", "\"B\"", "\"c\"", NULL}},
		{{.json = true, .sort = SWS_LISTING_TIME},
		    {"\"sub\"", "\"B\"", "\"c\"", "\"a\"", NULL}},
		{{.json = true, .sort = SWS_LISTING_TIME, .descending = true},
		    {"\"sub\"", "\"a\"", "\"c\"", "\"B\"", NULL}},
		{{.json = false}, {">sub/<", ">a<", ">B<", ">c<", NULL}},
	};
	char path[512];

	(void)state;
	clear();
	put("c", 1, 2000);
	put("a", 5, 3000);
	put("B", 5, 1000);
	snprintf(path, sizeof path, "%s/sub", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		int pieces;
		char *all = list(&table[i].form, "/", &pieces);

		in_order(all, table[i].names);
		free(all);
	}
}

static void
escapes(void **state)
{
	static const char *const html[] = {
		"<title>/x&lt;y/&quot;&amp;/</title>", "<a href=\"./../../\">/</a>",
		"<a href=\"./../\">x&lt;y</a>", "&quot;&amp;<span>/</span></h1>",
		"<a href=\"%22%3E%3Cscript%3E\">&quot;&gt;&lt;script&gt;</a>",
		"<a href=\"a%3Ab\">a:b</a>",
		"<a href=\"c%0Ad\">c\xef\xbf\xbd" "d</a>",
		"<a href=\"e%FF%C3\">e\xef\xbf\xbd\xef\xbf\xbd</a>",
		"<a href=\"%C3%A9\">\xc3\xa9</a>", NULL
	};
	static const char *const json[] = {
		"{\"name\":\"\\u0022>\\u003cscript>\",\"type\":\"file\",\"size\":0,"
		"\"mtime\":\"1970-01-01T00:00:09Z\",\"url\":\"%22%3E%3Cscript%3E\"},\n",
		"\"name\":\"c\\u000ad\"", "\"name\":\"e\\ufffd\\ufffd\"",
		"\"name\":\"\xc3\xa9\"", "}\n]\n", NULL
	};
	char *all;
	int pieces;

	(void)state;
	clear();
	put("\"><script>", 0, 9);
	put("a:b", 0, 9);
	put("c\nd", 0, 9);
	put("e\xff\xc3", 0, 9);
	put("\xc3\xa9", 0, 9);
	all = list(&(struct sws_listing_form){.json = false}, "/x<y/\"&/", &pieces);
	in_order(all, html);
	assert_null(strstr(all, "<script"));
	free(all);
	all = list(&(struct sws_listing_form){.json = true}, "/x/", &pieces);
	in_order(all, json);
	free(all);
}

static void
utf8(void **state)
{
	/* Characters, and what looks like one: too long, a surrogate, too large, cut. */
	static const char *const good[] = {"a", "\xc2\x80", "\xe0\xa0\x80", "\xef\xbf\xbf",
		"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		const unsigned char *p = (const unsigned char *)good[i];

		assert_int_equal(character(p, p + strlen(good[i])), strlen(good[i]));
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const unsigned char *p = (const unsigned char *)bad[i];

		assert_int_equal(character(p, p + strlen(bad[i])), 0);
	}
}

static void
sizes(void **state)
{
	static const struct {
		uint64_t size;
		const char *text;
	} table[] = {
		{0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KB"}, {1536, "1.5 KB"},
		{102399, "99.9 KB"}, {102400, "100 KB"}, {1048575, "1023 KB"},
		{1048576, "1.0 MB"}, {UINT64_C(5) << 30, "5.0 GB"}, {UINT64_C(1) << 40, "1.0 TB"},
		{UINT64_MAX, "1.5 EB"},
	};
	struct sws_text t = {.len = 0};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		sws_text_clear(&t);
		add_size(&t, table[i].size);
		sws_text_add(&t, "", 1);
		assert_string_equal(t.bytes, table[i].text);
	}
	sws_text_free(&t);
}

/* Dot names, devices, and links that lead out are left out. */
static void
hidden(void **state)
{
	struct sws_listing_form form = {.json = true};
	static const char *const with_dots[] = {"\".dot\"", "\"in\"", "77", "\"plain\"", NULL};
	char path[512], *all;
	int pieces;

	(void)state;
	clear();
	put(".dot", 1, 1);
	put("plain", 1, 1);
	snprintf(path, sizeof path, "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof path, "%s/in", dir);
	assert_int_equal(symlink("plain", path), 0);
	snprintf(path, sizeof path, "%s/out", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	all = list(&form, "/", &pieces);
	assert_null(strstr(all, "fifo"));
	assert_null(strstr(all, "out"));
	assert_null(strstr(all, ".dot"));
	assert_non_null(strstr(all, "\"in\""));
	free(all);
	form.dotfiles = true;
	all = list(&form, "/", &pieces);
	in_order(all, with_dots);
	assert_null(strstr(all, "\"..\""));
	free(all);
	root.symlinks = SWS_SYMLINKS_NONE;
	all = list(&form, "/", &pieces);
	assert_null(strstr(all, "\"in\""));
	free(all);
	root.symlinks = SWS_SYMLINKS_BENEATH;
}

/* Each entry once, in pieces; sorted up to the limit. */
static void
many(void **state)
{
	static const int counts[] = {0, 1, 39, 40, 41, 1200};

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		struct sws_listing_form form = {.json = false};
		int pieces, n = counts[i];
		char *all, footer[64];

		clear();
		for (int k = 0; k < n; k++) {
			char name[32];

			snprintf(name, sizeof name, "f%04d", k);
			put(name, 1, 1);
		}
		all = list(&form, "/a/", &pieces);
		for (int k = 0; k < n; k++) {
			char link[32], *at;

			snprintf(link, sizeof link, "\"f%04d\"", k);
			at = strstr(all, link);
			assert_non_null(at);
			assert_null(strstr(at + 1, link));
		}
		snprintf(footer, sizeof footer, "<footer>%d entr%s</footer>", n, n == 1 ? "y"
		    : "ies");
		assert_non_null(strstr(all, footer));
		assert_int_equal(strstr(all, "not sorted") != NULL, n > SWS_LISTING_SORTED_MAX);
		assert_int_equal(strstr(all, "?sort=") == NULL, n > SWS_LISTING_SORTED_MAX);
		assert_true(n < 1200 || pieces > 20);
		free(all);
		form.json = true;
		all = list(&form, "/a/", &pieces);
		assert_int_equal(all[0], '[');
		for (char *p = all; (p = strchr(p, '{')) != NULL; p++)
			n--;
		assert_int_equal(n, 0);
		free(all);
	}
}

/* Whichever allocation fails: an error, and nothing is lost. */
static void
no_memory(void **state)
{
	struct sws_listing_form form = {.json = false};

	(void)state;
	clear();
	for (int k = 0; k < 3; k++)
		put(&"abc"[k], 1, 1);
	for (int i = 0; i < 5; i++) {
		int fd = open(dir, O_RDONLY | O_DIRECTORY), status = -ENOMEM;
		struct sws_listing *l;

		allocations_left = i;
		l = sws_listing_new(&root, fd, "/", 1, &form);
		if (l == NULL)
			close(fd);
		else
			status = sws_listing_more(l);
		assert_int_equal(status, allocations_left == NEVER ? -ENOMEM : 0);
		allocations_left = NEVER;
		sws_listing_free(l);
	}
}

static int
make(void **state)
{
	(void)state;
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
destroy(void **state)
{
	(void)state;
	clear();
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order), cmocka_unit_test(escapes), cmocka_unit_test(utf8),
		cmocka_unit_test(sizes), cmocka_unit_test(hidden), cmocka_unit_test(many),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, make, destroy);
}
