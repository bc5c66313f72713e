/* SPDX-License-Identifier: MIT */
/*
 * page.c: prebuilt responses: the exact text of each kind, where its parts begin, what it counts
 * as size, when it matches its file, and files that change while they are read.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "../../webserver/http/parse.h"
#include "../../webserver/site/fields.h"
#define malloc failing_malloc
static ssize_t pieces_preadv2(int fd, const struct iovec *iov, int count, off_t at, int flags);
#define preadv2 pieces_preadv2
static int later_clock_gettime(clockid_t clock, struct timespec *t);
#define clock_gettime later_clock_gettime
#include "../../webserver/site/page.c"
#undef malloc
#undef preadv2
#undef clock_gettime

static char name[] = "/tmp/mely-page-XXXXXX";
static struct sws_page_style style = {.fields = "", .index = "index.html"};
static int changes;   /* how many times the file changes while it is read */
static int reads;

/* Not now, when every file of a test is new; or exactly at. */
static struct timespec at;

static int
later_clock_gettime(clockid_t clock, struct timespec *t)
{
	int status = clock_gettime(clock, t);

	if (at.tv_sec != 0)
		*t = at;
	else
		t->tv_sec += 10;
	return status;
}

/* Bytes that the page cache has; what a read without waiting says of the others. */
static size_t cached = SIZE_MAX;
static int cold_error = EAGAIN;

static ssize_t
pieces_preadv2(int fd, const struct iovec *iov, int count, off_t from, int flags)
{
	size_t size = iov->iov_len;

	assert_int_equal(count, 1);
	if (flags == RWF_NOWAIT && (size_t)from >= cached) {
		errno = cold_error;
		return -1;
	}
	reads++;
	if (changes > 0) {
		struct timespec times[2] = {{0, UTIME_OMIT}, {1000000 - changes--, 0}};

		assert_int_equal(futimens(fd, times), 0);
	}
	/* In small pieces, as a file system may. */
	return pread(fd, iov->iov_base, size < 4 ? size : 4, from);
}

/* A file with this text, changed at second; its descriptor. */
static int
file_of(const char *text, time_t second, struct stat *st)
{
	struct timespec times[2] = {{second, 0}, {second, 123456789}};
	int fd = open(name, O_RDWR | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(fstat(fd, st), 0);
	reads = 0;
	return fd;
}

/* The fields for HTTP/2 are the lines of the head, all but the date. */
static void
expect_fields(const struct sws_page *page)
{
	char text[8192];
	size_t n, rest = page->date_at + HTTP_DATE_LEN + 2U;

	for (unsigned i = 0; i < page->fields->count; i++) {
		const struct sws_field *f = &page->fields->field[i];

		assert_int_equal(f->at, rest);
		for (unsigned k = 0; k < f->name_len; k++)
			assert_int_equal(f->name[k], tolower((unsigned char)page->head[f->at + k]));
		n = (size_t)snprintf(text, sizeof text, "%.*s: %.*s\r\n", (int)f->name_len,
		    page->head + f->at, (int)f->value_len, f->value);
		assert_memory_equal(page->head + f->at, text, n);
		rest += n;
	}
	assert_int_equal(rest + 2, page->head_len);
}

static void
expect_head(const struct sws_page *page, const char *expected)
{
	assert_int_equal(page->head_len, strlen(expected));
	assert_memory_equal(page->head, expected, page->head_len);
	assert_memory_equal(page->head + page->date_at, "Ddd, 00 Mmm 0000 00:00:00 GMT\r\n",
	    HTTP_DATE_LEN + 2);
	assert_memory_equal(page->head + page->date_at - 6, "Date: ", 6);
	assert_int_equal(page->size, sizeof *page + page->key_len + 1 + page->head_len
	    + page->body_len + page->fields->size);
	expect_fields(page);
}

/* A file in a coding, and one that is there in others, too: what a 304 repeats has Vary. */
static void
codings(void **state)
{
	static const char lines[] = "text/plain; charset=utf-8\r\nContent-Encoding: gzip\r\n"
	    "Content-Length: 5\r\n";
	struct sws_page *plain, *coded;
	char key[16];
	struct stat st;
	int fd = file_of("hello", 784111777, &st);
	size_t len = sws_key_make(key, "/a.txt", 6, HTTP_GZIP, SWS_ROLE_ITSELF);
	struct sws_key parts = sws_key_parts(key, len), whole = sws_key_parts("/a.txt", 6);

	(void)state;
	assert_int_equal(parts.coding, HTTP_GZIP);
	assert_int_equal(parts.path_len, 6);
	assert_int_equal(parts.role, SWS_ROLE_ITSELF);
	assert_int_equal(whole.coding, HTTP_IDENTITY);
	assert_int_equal(whole.path_len, 6);
	assert_int_equal(sws_page_build(&plain, &style, "/a.txt", 6, 0, fd, &st, 1 << HTTP_GZIP,
	    SWS_BODY_NONE), 0);
	assert_int_equal(sws_page_build(&coded, &style, key, len, 0, fd, &st, 0, SWS_BODY_NONE), 0);
	close(fd);
	assert_int_equal(plain->codings, 1 << HTTP_GZIP);
	assert_int_equal(plain->coding, HTTP_IDENTITY);
	assert_int_equal(coded->coding, HTTP_GZIP);
	assert_memory_equal(plain->head + plain->validators_at, "Vary: Accept-Encoding\r\n", 23);
	assert_memory_equal(coded->head + coded->validators_at, "Vary: Accept-Encoding\r\n", 23);
	assert_null(memmem(plain->head, plain->head_len, "Content-Encoding", 16));
	assert_non_null(memmem(coded->head, coded->head_len, lines, sizeof lines - 1));
	assert_memory_not_equal(plain->head + plain->etag_at, coded->head + coded->etag_at,
	    HTTP_ETAG_LEN);
	sws_page_unref(plain);
	sws_page_unref(coded);
}

static void
file_in_memory(void **state)
{
	char expected[512], etag[HTTP_ETAG_LEN + 1] = "";
	struct sws_page *page;
	struct stat st;
	int fd = file_of("hello, world\n", 784111777, &st);

	(void)state;
	http_etag(&st, HTTP_IDENTITY, etag);
	assert_int_equal(sws_page_build(&page, &style, "/a.txt", 6, 99, fd, &st,
	    0, SWS_BODY_READ), 0);
	snprintf(expected, sizeof expected, "HTTP/1.1 200 OK\r\n"
	    "Date: Ddd, 00 Mmm 0000 00:00:00 GMT\r\nServer: sws\r\n"
	    "Accept-Ranges: bytes\r\nContent-Type: text/plain; charset=utf-8\r\n"
	    "Content-Length: 13\r\n"
	    "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: %s\r\n\r\n", etag);
	expect_head(page, expected);
	assert_int_equal(page->body_len, 13);
	assert_memory_equal(page->body, "hello, world\n", 13);
	assert_int_equal(page->file_size, 13);
	assert_int_equal(page->modified_s, 784111777);
	assert_string_equal(page->key, "/a.txt");
	assert_int_equal(page->key_len, 6);
	assert_int_equal(page->hash, 99);
	/* What a 206 replaces, and a 304 repeats. */
	assert_memory_equal(page->head + page->length_at, "Content-Length: ", 16);
	assert_memory_equal(page->head + page->validators_at, "Last-Modified: ", 15);
	assert_int_equal(page->etag_len, strlen(etag));
	assert_memory_equal(page->head + page->etag_at, etag, page->etag_len);
	assert_int_equal(atomic_load(&page->refs), 1);
	assert_false(atomic_load(&page->dead));
	assert_false(atomic_load(&page->used));
	assert_null(page->account);
	sws_page_unref(page);
	close(fd);
}

static void
empty_file(void **state)
{
	struct sws_page *page;
	struct stat st;
	int fd = file_of("", 1, &st);

	(void)state;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_READ), 0);
	assert_int_equal(page->body_len, 0);
	assert_int_equal(reads, 0);
	sws_page_unref(page);
	close(fd);
}

/* The type is that of the file that the path names; a directory's file is index.html. */
static void
types_of_paths(void **state)
{
	static const char *const cases[][2] = {
		{"/", "text/html; charset=utf-8"}, {"/a.png/", "text/html; charset=utf-8"},
		{"/a.png", "image/png"}, {"/a.png.x", "application/octet-stream"},
	};
	struct sws_page *page;
	struct stat st;
	int fd = file_of("x", 1, &st);
	char expected[80];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(sws_page_build(&page, &style, cases[i][0], strlen(cases[i][0]), 0,
		    fd, &st, 0, SWS_BODY_READ), 0);
		snprintf(expected, sizeof expected, "\r\nContent-Type: %s\r\n", cases[i][1]);
		assert_non_null(memmem(page->head, page->head_len, expected, strlen(expected)));
		sws_page_unref(page);
	}
	close(fd);
}

/* Even with the longest type of a table the head fits and ends as it must. */
static void
long_type(void **state)
{
	char table[] = "/tmp/mely-types-XXXXXX";
	static struct sws_page_style long_types = {.fields = ""};
	struct sws_page *page;
	struct stat st;
	int fd = mkstemp(table);
	FILE *f = fdopen(fd, "w");

	(void)state;
	fprintf(f, "text/%0900d long\n", 0);
	fclose(f);
	assert_int_equal(mime_new(&long_types.mime, table), 0);
	unlink(table);
	fd = file_of("x", 1, &st);
	assert_int_equal(sws_page_build(&page, &long_types, "/a.long", 7, 0, fd, &st,
	    0, SWS_BODY_READ), 0);
	assert_true(page->head_len < HEAD_ROOM);
	assert_memory_equal(page->head + page->head_len - 4, "\r\n\r\n", 4);
	assert_memory_equal(page->head + page->validators_at, "Last-Modified: ", 15);
	sws_page_unref(page);
	mime_free(long_types.mime);
	close(fd);
}

/* A page that is sent from its file holds the head only, whatever the size. */
static void
file_on_disk(void **state)
{
	struct sws_page *page;
	struct stat st;
	int fd = file_of("", 1, &st);

	(void)state;
	st.st_size = INT64_C(5) << 30;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_NONE), 0);
	assert_int_equal(page->body_len, 0);
	assert_int_equal(page->file_size, INT64_C(5) << 30);
	assert_int_equal(page->size, sizeof *page + 3 + page->head_len + page->fields->size);
	assert_non_null(memmem(page->head, page->head_len, "Content-Length: 5368709120\r\n", 28));
	assert_int_equal(reads, 0);
	sws_page_unref(page);
	close(fd);
}

static void
matching(void **state)
{
	struct sws_page *page;
	struct stat st, other;
	int fd = file_of("x", 1, &st);

	(void)state;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_READ), 0);
	assert_true(sws_page_matches(page, &st));
#define DIFFERS(field) \
	do { \
		other = st; \
		other.field++; \
		assert_false(sws_page_matches(page, &other)); \
		assert_false(same_file(&st, &other)); \
	} while (0)
	DIFFERS(st_dev);
	DIFFERS(st_ino);
	DIFFERS(st_size);
	DIFFERS(st_mtim.tv_sec);
	DIFFERS(st_mtim.tv_nsec);
	DIFFERS(st_ctim.tv_sec);
	DIFFERS(st_ctim.tv_nsec);
#undef DIFFERS
	/* What reading changes does not count. */
	other = st;
	other.st_atim.tv_sec++;
	assert_true(sws_page_matches(page, &other));
	assert_true(same_file(&st, &other));
	sws_page_unref(page);
	close(fd);
}

/* A tag or a date that could name two versions of the file is left out, for now. */
static void
young_files(void **state)
{
	static const struct {
		struct timespec now, ctime;
		time_t mtime;
		bool tagged, dated, young;
	} cases[] = {
		{{1000, 0}, {990, 5}, 5, true, true, false},
		{{1000, 0}, {990, 5}, 990, true, true, false},
		/* Changed within this tick. */
		{{1000, 20000000}, {1000, 10000000}, 1000, false, false, true},
		{{1000, 20000000}, {1000, 10000000}, 5, false, true, true},
		{{1000, 900000000}, {1000, 10000000}, 5, true, true, true},
		{{1000, 0}, {999, 990000000}, 999, false, false, true},
		/* A tick before, but within the second of the date. */
		{{1000, 900000000}, {1000, 10000000}, 1000, true, false, true},
		{{1001, 900000000}, {1000, 10000000}, 1000, true, false, true},
		{{1002, 0}, {1000, 10000000}, 1000, true, true, true},
		{{1003, 0}, {1000, 10000000}, 1000, true, true, false},
		/* A file system without fractions. */
		{{1001, 0}, {1000, 0}, 1000, false, false, true},
		{{1002, 0}, {1000, 0}, 1000, false, true, true},
		{{1003, 0}, {1000, 0}, 1000, true, true, false},
		/* Times that lie ahead, as far as they go. */
		{{1000, 0}, {1001, 5}, 1001, false, false, true},
		{{1000, 0}, {990, 5}, 5000, true, false, false},
		{{1000, 0}, {INT64_MAX / 2, 5}, INT64_MAX / 2, false, false, true},
		{{1000, 0}, {-INT64_MAX / 2, 5}, -62135596800, true, true, false},
	};
	struct sws_page *page;
	struct stat st;
	int fd = file_of("x", 1, &st);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		st.st_ctim = cases[i].ctime;
		st.st_mtim.tv_sec = cases[i].mtime;
		at = cases[i].now;
		assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0,
		    SWS_BODY_NONE), 0);
		assert_int_equal(page->young, cases[i].young);
		assert_int_equal(page->etag_len, cases[i].tagged ? HTTP_ETAG_LEN : 0);
		assert_int_equal(page->dated, cases[i].dated);
		assert_int_equal(memmem(page->head, page->head_len, "\r\nETag: \"", 9) != NULL,
		    cases[i].tagged);
		assert_int_equal(memmem(page->head, page->head_len, "\r\nLast-Modified: ", 17)
		    != NULL, cases[i].dated);
		assert_memory_equal(page->head + page->head_len - 4, "\r\n\r\n", 4);
		/* What a 304 repeats of it. */
		assert_memory_equal(page->head + page->validators_at - 2, "\r\n", 2);
		assert_int_equal(page->head_len - page->validators_at,
		    2 + cases[i].tagged * 26 + cases[i].dated * 46);
		sws_page_unref(page);
	}
	at.tv_sec = 0;
	close(fd);
}

/* The bytes, the times and the tag of a page are those of one version of the file. */
static void
changing_files(void **state)
{
	struct sws_page *page = NULL;
	struct stat st, now;
	int fd;

	(void)state;
	fd = file_of("abc", 1, &st);
	changes = READ_TRIES - 1;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_READ), 0);
	assert_int_equal(reads, READ_TRIES);
	assert_int_equal(fstat(fd, &now), 0);
	assert_true(sws_page_matches(page, &now));
	assert_false(sws_page_matches(page, &st));
	sws_page_unref(page);
	close(fd);

	page = NULL;
	fd = file_of("abc", 1, &st);
	changes = READ_TRIES;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st,
	    0, SWS_BODY_READ), -ESTALE);
	assert_null(page);
	assert_int_equal(reads, READ_TRIES);
	assert_int_equal(changes, 0);
	close(fd);

	/* Another size: the caller asked for memory for the old one. */
	fd = file_of("abcdef", 1, &st);
	assert_int_equal(ftruncate(fd, 5), 0);
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st,
	    0, SWS_BODY_READ), -ESTALE);
	assert_null(page);
	close(fd);
}

/* A caller that must not wait for the disk gets what the page cache has, or EAGAIN. */
static void
cold_files(void **state)
{
	struct sws_page *page = NULL;
	struct stat st;
	int fd = file_of("hello, world\n", 1, &st);

	(void)state;
	for (cached = 0; cached <= 12; cached += 4) {
		assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0,
		    SWS_BODY_CACHED), -EAGAIN);
		assert_null(page);
	}
	/* A file system that cannot tell. */
	cached = 4;
	cold_error = EOPNOTSUPP;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_CACHED), 0);
	assert_int_equal(page->body_len, 13);
	assert_memory_equal(page->body, "hello, world\n", 13);
	sws_page_unref(page);
	cold_error = EAGAIN;
	/* A caller that may wait. */
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_READ), 0);
	assert_memory_equal(page->body, "hello, world\n", 13);
	sws_page_unref(page);
	cached = SIZE_MAX;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st, 0, SWS_BODY_CACHED), 0);
	assert_memory_equal(page->body, "hello, world\n", 13);
	sws_page_unref(page);
	close(fd);
}

static void
unreadable_files(void **state)
{
	struct sws_page *page = NULL;
	struct stat st;
	int fd = file_of("abc", 1, &st);

	(void)state;
	close(fd);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st,
	    0, SWS_BODY_READ), -ESTALE);
	assert_int_equal(reads, READ_TRIES);
	close(fd);
	allocations_left = 0;
	assert_int_equal(sws_page_build(&page, &style, "/a", 2, 0, fd, &st,
	    0, SWS_BODY_READ), -ENOMEM);
	assert_null(page);
}

static void
errors(void **state)
{
	static const struct { int status; const char *reason; } all[] = {
		{400, "Bad Request"}, {403, "Forbidden"}, {404, "Not Found"},
		{405, "Method Not Allowed"}, {408, "Request Timeout"}, {413, "Content Too Large"},
		{414, "URI Too Long"}, {431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"}, {501, "Not Implemented"},
		{503, "Service Unavailable"}, {505, "HTTP Version Not Supported"},
	};
	char head[512], body[256];
	struct sws_page *page = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		int status = all[i].status;
		int n = snprintf(body, sizeof body, "<!DOCTYPE html>\n<title>%d %s</title>\n"
		    "<h1>%d %s</h1>\n", status, all[i].reason, status, all[i].reason);

		assert_int_equal(sws_page_error(&page, status), 0);
		snprintf(head, sizeof head, "HTTP/1.1 %d %s\r\n"
		    "Date: Ddd, 00 Mmm 0000 00:00:00 GMT\r\nServer: sws\r\n%s"
		    "Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
		    status, all[i].reason, status == 405 ? "Allow: GET, HEAD\r\n" : "", n);
		expect_head(page, head);
		assert_int_equal(page->body_len, n);
		assert_memory_equal(page->body, body, n);
		/* Nothing to compare a condition with. */
		assert_int_equal(page->validators_at, 0);
		sws_page_unref(page);
	}
	page = NULL;
	for (int i = 0; i < 2; i++) {
		allocations_left = i;
		assert_int_equal(sws_page_error(&page, 404), -ENOMEM);
		assert_null(page);
	}
}

static void
redirections(void **state)
{
	static char path[HTTP_TARGET_MAX], query[HTTP_TARGET_MAX];
	char expected[512];
	struct sws_page *page = NULL;

	(void)state;
	assert_int_equal(sws_page_redirect(&page, "/a b", 4, "?q=1", 4), 0);
	snprintf(expected, sizeof expected, "HTTP/1.1 301 Moved Permanently\r\n"
	    "Date: Ddd, 00 Mmm 0000 00:00:00 GMT\r\nServer: sws\r\nLocation: /a%%20b/?q=1\r\n"
	    "Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
	    (int)page->body_len);
	expect_head(page, expected);
	assert_int_equal(page->validators_at, 0);
	sws_page_unref(page);
	/* The longest of all: every byte of the path is escaped. */
	memset(path, ' ', sizeof path);
	path[0] = '/';
	memset(query, 'q', sizeof query);
	query[0] = '?';
	assert_int_equal(sws_page_redirect(&page, path, sizeof path, query, sizeof query), 0);
	assert_true(page->head_len > 3 * (sizeof path - 1) + sizeof query);
	assert_memory_equal(page->head + page->head_len - 4, "\r\n\r\n", 4);
	sws_page_unref(page);
	page = NULL;
	for (int i = 0; i < 3; i++) {
		allocations_left = i;
		assert_int_equal(sws_page_redirect(&page, "/a", 2, "", 0), -ENOMEM);
		assert_null(page);
	}
}

static void
last_reference(void **state)
{
	_Atomic(size_t) account = 100000;
	struct sws_page *page;
	size_t size;

	(void)state;
	assert_int_equal(sws_page_error(&page, 404), 0);
	size = page->size;
	/* The store that took it has let go of it. */
	page->account = &account;
	atomic_store(&page->dead, true);
	sws_page_ref(page);
	sws_page_unref(page);
	assert_int_equal(atomic_load(&account), 100000);
	sws_page_unref(page);
	assert_int_equal(atomic_load(&account), 100000 - size);
}

static int
prepare(void **state)
{
	int fd = mkstemp(name);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : mime_new(&style.mime, "/nonexistent/mime.types");
}

static int
clean_up(void **state)
{
	(void)state;
	mime_free(style.mime);
	return unlink(name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_in_memory),
		cmocka_unit_test(codings),
		cmocka_unit_test(empty_file),
		cmocka_unit_test(types_of_paths),
		cmocka_unit_test(long_type),
		cmocka_unit_test(file_on_disk),
		cmocka_unit_test(matching),
		cmocka_unit_test(young_files),
		cmocka_unit_test(changing_files),
		cmocka_unit_test(cold_files),
		cmocka_unit_test(unreadable_files),
		cmocka_unit_test(errors),
		cmocka_unit_test(redirections),
		cmocka_unit_test(last_reference),
	};

	return cmocka_run_group_tests(tests, prepare, clean_up);
}
