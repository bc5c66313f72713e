/* SPDX-License-Identifier: MIT */
/*
 * write.c: WriteResponse with a client that takes a few bytes at a time: whatever the pieces, all
 * answers arrive whole, in order, and each with one date. What write.c calls in other modules is
 * written down here instead of done.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pages.h"
#include "net/transport.h"
#include "site/mime.h"

static ssize_t limited_write(const struct sws_transport *t, struct iovec *pieces, size_t count,
    bool more);
static ssize_t limited_write_file(const struct sws_transport *t, int file, uint64_t at, size_t len);

#define sws_transport_write limited_write
#define sws_transport_write_file limited_write_file
#define malloc failing_malloc
#include "../../webserver/write.c"
#undef malloc
#include "../../webserver/piece.c"
#include "one_conn.h"

#define BIG 5000
#define ANSWERS 5

static struct sws_page *pages[3]; /* a small one, one with a long head, one with a large body */
static char dates[2][HTTP_DATE_LEN + 1] = {"Sun, 06 Nov 1994 08:49:37 GMT",
	"Mon, 07 Nov 1994 08:49:38 GMT"};

/* What the client has got, and how much it takes next. */
static char got[1 << 18];
static size_t got_len, room;
static bool more_follows;
static int continued, watched;
/* Bytes that were sent without a copy; and are those of files in memory? */
static ssize_t lent;
static bool cached;

static ssize_t
limited_write(const struct sws_transport *t, struct iovec *pieces, size_t count, bool more)
{
	size_t before = got_len;

	(void)t;
	more_follows = more;
	for (size_t i = 0; i < count && room > 0; i++) {
		size_t n = pieces[i].iov_len < room ? pieces[i].iov_len : room;

		assert_true(got_len + n <= sizeof got);
		memcpy(got + got_len, pieces[i].iov_base, n);
		got_len += n;
		room -= n;
	}
	errno = EAGAIN;
	return got_len > before ? (ssize_t)(got_len - before) : -1;
}

/* As sendfile, but through limited_write. */
static ssize_t
limited_write_file(const struct sws_transport *t, int file, uint64_t at, size_t len)
{
	char bytes[BIG];
	struct iovec piece = {bytes, 0};
	ssize_t n;

	assert_true(len <= sizeof bytes);
	n = pread(file, bytes, len, (off_t)at);
	lent += n;
	piece.iov_len = (size_t)n;
	return n <= 0 ? n : limited_write(t, &piece, 1, false);
}

/* The stage before requests. */
struct mely_handler sws_tls_handshake;

int
mely_event_pending(const struct mely_event *ev)
{
	(void)ev;
	return next_stage != NULL;
}

uint64_t
mely_now_ns(void)
{
	return 1;
}

int
mely_fd_watch(struct mely_color *color, int fd, unsigned flags, struct mely_handler *handler,
    void *arg, mely_watch *id)
{
	(void)color;
	(void)fd;
	(void)flags;
	assert_ptr_equal(handler, &writable);
	assert_ptr_equal(arg, &conn);
	watched++;
	*id = 1;
	return 0;
}

int
mely_watch_stop(struct mely_runtime *rt, mely_watch id, struct mely_color *done_color,
    struct mely_event *done)
{
	(void)rt;
	(void)done_color;
	(void)done;
	assert_int_equal(id, 1);
	watched--;
	return 0;
}

int
mely_timer_again(struct mely_runtime *rt, mely_watch id, uint64_t after_ns, uint64_t latest_ns)
{
	(void)rt;
	(void)id;
	(void)after_ns;
	(void)latest_ns;
	return 0;
}

/* What the connection may send at once, where the core limits it. */
static size_t allowance;
static int turns;

bool
sws_pace_begin_slow(struct sws_conn *c, struct sws_core *here)
{
	assert_ptr_equal(c, &conn);
	here->room = allowance;
	return allowance > 0;
}

void
sws_pace_end_slow(struct sws_conn *c, struct sws_core *here)
{
	assert_ptr_equal(c, &conn);
	assert_true(here->room <= allowance);
	turns++;
}

struct mely_handler sws_page_built;

void
sws_conn_stage(struct sws_conn *c, struct mely_handler *handler)
{
	assert_ptr_equal(c, &conn);
	next_stage = handler;
}

void
sws_conn_finish(struct sws_conn *c)
{
	(void)c;
	fail();
}

void
sws_conn_continue(struct sws_conn *c, struct sws_core *here)
{
	assert_ptr_equal(here, &core);
	c->state = SWS_CONN_IDLE;
	continued++;
}

bool
sws_disk_is_cached(int fd, uint64_t at, size_t len)
{
	(void)fd;
	(void)at;
	(void)len;
	assert_true(cached);
	return true;
}

bool
sws_disk_warm(struct sws_asker *asker, int fd, uint64_t at, size_t len)
{
	(void)asker;
	return sws_disk_is_cached(fd, at, len);
}

bool
sws_disk_more(struct sws_asker *asker, struct sws_stream *stream)
{
	(void)asker;
	return stream == NULL;
}

int
sws_disk_finish(struct sws_asker *asker, struct sws_page **page, int *body_fd)
{
	(void)asker;
	*page = NULL;
	*body_fd = -1;
	fail();
	return 0;
}

/* ---- helpers ------------------------------------------------------------------------------- */

/* One answer of each page, a 206 and a 304. */
static void
begin(void)
{
	static const uint8_t flags[ANSWERS] = {0, SWS_SAY_KEEP, 0, SWS_PARTIAL | SWS_SAY_KEEP,
		SWS_NOT_MODIFIED};
	struct sws_burst *burst;

	memset(&conn, 0, sizeof conn);
	conn.server = &server;
	conn.state = SWS_CONN_BUSY;
	conn.burst = burst = sws_burst_get(&core);
	assert_non_null(burst);
	got_len = 0;
	closed = continued = watched = 0;
	memcpy(core.date, dates[0], HTTP_DATE_LEN);
	for (int i = 0; i < ANSWERS; i++) {
		struct sws_page *page = pages[i < 3 ? i : 2];

		sws_page_ref(page);
		burst->answers[i] = sws_answer_of(page, flags[i]);
		if (flags[i] & SWS_PARTIAL) {
			burst->answers[i].from = 123;
			burst->answers[i].to = BIG - 45;
		}
	}
	burst->count = burst->checked = ANSWERS;
}

static void
end(void)
{
	sws_burst_give_up(conn.burst, &core, 0);
	sws_burst_put(&core, conn.burst);
	conn.burst = NULL;
	for (int i = 0; i < 3; i++)
		assert_int_equal(test_refs(pages[i]), 1);
}

/* The dates in what the client got, replaced by blanks; each is one of the two, and none is older
 * than the one before. */
static void
check_dates(char *text, size_t len)
{
	int newest = 0, found = 0;

	for (size_t i = 0; i + 6 + HTTP_DATE_LEN <= len; i++) {
		int is;

		if (memcmp(text + i, "\r\nDate: ", 8) != 0)
			continue;
		is = memcmp(text + i + 8, dates[1], HTTP_DATE_LEN) == 0;
		assert_true(is || memcmp(text + i + 8, dates[0], HTTP_DATE_LEN) == 0);
		assert_true(is >= newest);
		newest = is;
		memset(text + i + 8, ' ', HTTP_DATE_LEN);
		found++;
	}
	assert_int_equal(found, ANSWERS);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* The client takes some bytes, then a second passes, then it takes as much again and again. */
static void
any_pieces(void **state)
{
	static char whole[sizeof got];
	size_t whole_len;

	(void)state;
	begin();
	room = sizeof got;
	write_response_fn(&conn);
	assert_int_equal(continued, 1);
	end();
	whole_len = got_len;
	memcpy(whole, got, whole_len);
	check_dates(whole, whole_len);
	for (size_t first = 1; first < whole_len; first++) {
		size_t more = first % 97 + 1;

		begin();
		room = first;
		write_response_fn(&conn);
		assert_int_equal(conn.state, SWS_CONN_BLOCKED);
		assert_int_equal(watched, 1);
		memcpy(core.date, dates[1], HTTP_DATE_LEN);
		while (continued == 0) {
			assert_true(got_len < whole_len);
			room = more;
			more += more / 4;
			writable_fn(&conn);
		}
		assert_int_equal(closed + watched, 0);
		end();
		check_dates(got, got_len);
		assert_int_equal(got_len, whole_len);
		assert_memory_equal(got, whole, whole_len);
	}
}

/* A turn of the connection may send a number of bytes; the last turn takes less. */
static void
any_allowance(void **state)
{
	static char whole[sizeof got];
	size_t whole_len;

	(void)state;
	begin();
	room = sizeof got;
	write_response_fn(&conn);
	end();
	whole_len = got_len;
	memcpy(whole, got, whole_len);
	core.paced = true;
	for (allowance = 1; allowance <= whole_len; allowance += 1 + allowance / 50) {
		begin();
		room = sizeof got;
		turns = 0;
		while (continued == 0) {
			size_t before = got_len;

			next_stage = NULL;
			write_response_fn(&conn);
			assert_true(continued == 1 || next_stage == &sws_write_response);
			assert_true(got_len - before <= allowance);
			assert_true(continued == 1 || got_len - before == allowance);
			/* Nothing follows at once, so the kernel holds nothing back. */
			assert_true(continued == 1 || !more_follows);
		}
		next_stage = NULL;
		assert_int_equal(closed + watched, 0);
		end();
		assert_int_equal(turns, (whole_len + allowance - 1) / allowance);
		assert_int_equal(got_len, whole_len);
		assert_memory_equal(got, whole, whole_len);
	}
	/* Not yet: nothing is sent, and nothing else happens. */
	allowance = 0;
	begin();
	write_response_fn(&conn);
	assert_int_equal(got_len, 0);
	assert_int_equal(closed + continued + watched, 0);
	core.paced = false;
	end();
}

/* The kernel must not hold back the head of an empty file that is sent from its descriptor. */
static void
empty_file(void **state)
{
	struct sws_page_style style = {.fields = ""};
	struct sws_page *page;
	struct stat st;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(mime_new(&style.mime, "/nonexistent"), 0);
	assert_int_equal(sws_page_build(&page, &style, "/empty", 6, 0, fd, &st, 0, SWS_BODY_NONE),
	    0);
	mime_free(style.mime);
	begin();
	sws_burst_give_up(conn.burst, &core, 0);
	conn.burst->out = 0;
	conn.burst->count = conn.burst->checked = 1;
	conn.burst->answers[0] = sws_answer_of(page, 0);
	conn.burst->answers[0].fd = fd;
	room = sizeof got;
	more_follows = true;
	write_response_fn(&conn);
	assert_false(more_follows);
	assert_int_equal(continued, 1);
	end();
}

enum change {
	NOTHING, RENAMED, REWRITTEN, LONGER, SHORTER, CHANGES
};

static void
change_file(int fd, enum change change)
{
	switch (change) {
	case RENAMED:
		assert_int_equal(fchmod(fd, 0600), 0); /* a time of change as well */
		break;
	case REWRITTEN:
		assert_int_equal(pwrite(fd, "x", 1, 0), 1);
		break;
	case LONGER:
		assert_int_equal(pwrite(fd, "x", 1, BIG), 1);
		break;
	case SHORTER:
		assert_int_equal(ftruncate(fd, BIG - 1), 0);
		break;
	default:
		break;
	}
}

/* The only answer is a file, or its end, that changes when some of its bytes are sent. */
static void
send_changing(enum change change, bool copy, uint64_t from)
{
	struct timespec old[2] = {{1, 0}, {1, 0}};
	struct sws_page_style style = {.fields = "", .copy = copy};
	struct sws_page *page;
	struct sws_answer *a;
	struct stat st;
	int fd = memfd_create("changing", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BIG), 0);
	assert_int_equal(futimens(fd, old), 0);
	assert_int_equal(fstat(fd, &st), 0);
	st.st_ctim = old[0];
	assert_int_equal(mime_new(&style.mime, "/nonexistent"), 0);
	assert_int_equal(sws_page_build(&page, &style, "/f", 2, 0, fd, &st, 0, SWS_BODY_NONE), 0);
	mime_free(style.mime);
	begin();
	sws_burst_give_up(conn.burst, &core, 0);
	conn.burst->out = 0;
	conn.burst->count = conn.burst->checked = 1;
	a = &conn.burst->answers[0];
	*a = sws_answer_of(page, 0);
	sws_page_ref(page);
	a->fd = fd;
	a->from = from;
	a->to = BIG;
	lent = 0;
	room = page->head_len + 500;
	write_response_fn(&conn);
	assert_int_equal(conn.state, SWS_CONN_BLOCKED);
	assert_int_equal(got_len, page->head_len + 500);
	change_file(fd, change);
	room = sizeof got;
	writable_fn(&conn);
	assert_int_equal(closed, change > RENAMED);
	assert_int_equal(continued, change <= RENAMED);
	/* A client that has all bytes would take them for the file. */
	if (change > RENAMED)
		assert_true(got_len < page->head_len + BIG - from);
	else
		assert_int_equal(got_len, page->head_len + BIG - from);
	/* Without a reason to copy, only the last bytes are copied. */
	assert_int_equal(lent > 0, !copy && BIG - from > LAST_BYTES);
	end();
	sws_page_unref(page);
}

static void
changing_file(void **state)
{
	(void)state;
	cached = true;
	for (enum change change = NOTHING; change < CHANGES; change++) {
		for (int copy = 0; copy < 2; copy++) {
			send_changing(change, copy, 0);
			send_changing(change, copy, 3000);
		}
	}
	cached = false;
}

/* Without memory for the rest of a head the connection is closed. */
static void
no_memory(void **state)
{
	(void)state;
	begin();
	room = 5;
	allocations_left = 0;
	write_response_fn(&conn);
	allocations_left = NEVER;
	assert_int_equal(closed, 1);
	end();
}

static void
make_big_page(void)
{
	char body[BIG];
	struct sws_page_style style = {.fields = ""};
	struct stat st;
	int fd = memfd_create("big", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < BIG; i++)
		body[i] = (char)('a' + i % 23);
	assert_int_equal(write(fd, body, BIG), BIG);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(mime_new(&style.mime, "/nonexistent"), 0);
	assert_int_equal(sws_page_build(&pages[2], &style, "/big", 4, 0, fd, &st, 0,
	    SWS_BODY_READ), 0);
	mime_free(style.mime);
	close(fd);
}

static int
prepare(void **state)
{
	(void)state;
	assert_int_equal(sws_page_error(&pages[0], 404), 0);
	assert_int_equal(sws_page_redirect(&pages[1], "/a/long/path", 12, "?q", 2), 0);
	make_big_page();
	return 0;
}

static int
clean_up(void **state)
{
	(void)state;
	free_bursts();
	for (int i = 0; i < 3; i++)
		sws_page_unref(pages[i]);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_pieces),
		cmocka_unit_test(any_allowance),
		cmocka_unit_test(empty_file),
		cmocka_unit_test(changing_file),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, prepare, clean_up);
}
