/* SPDX-License-Identifier: MIT */
/*
 * ended.c: the end of answers: what is counted of each, whatever its kind and however far it got,
 * and that each is released once.
 */
#include <fcntl.h>
#include <unistd.h>

#include "pages.h"
#include "../../webserver/ended.c"

#define HERE 3

static struct sws_core core = {.number = HERE};

/* What was seen last, and how often. */
static struct sws_end seen;
static unsigned seen_count, seen_status;

void
sws_answer_see(struct sws_core *on, const struct sws_answer *a, const struct sws_end *end)
{
	assert_ptr_equal(on, &core);
	seen = *end;
	seen_status = sws_answer_status(a);
	seen_count++;
}

static uint64_t
answers(unsigned method, unsigned class)
{
	return atomic_load(&core.counters.answers[method][class]);
}

static uint64_t
sum_of_answers(void)
{
	uint64_t sum = 0;

	for (unsigned m = 0; m < SWS_COUNTED_METHODS; m++)
		for (unsigned c = 0; c < SWS_COUNTED_CLASSES; c++)
			sum += answers(m, c);
	return sum;
}

static int
begin(void **state)
{
	(void)state;
	memset(&core.counters, 0, sizeof core.counters);
	return 0;
}

/* A burst with n requests, and an answer to each but the last `open` ones. */
static struct sws_burst *
burst_of(struct sws_page *page, unsigned n, unsigned open)
{
	struct sws_burst *burst = sws_burst_get(&core);

	assert_non_null(burst);
	for (unsigned i = 0; i < n; i++) {
		burst->asked[i].request.method = (uint8_t)(i % 4);
		if (i >= n - open)
			continue;
		sws_page_ref(page);
		burst->answers[i] = sws_answer_of(page, 0);
		burst->answers[i].len = 100 + i;
	}
	burst->count = (uint8_t)n;
	burst->checked = (uint8_t)(n - open);
	return burst;
}

static int
open_file(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
statuses(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_answer a = sws_answer_of(page, 0);

	(void)state;
	page->status = 200;
	assert_int_equal(sws_answer_status(&a), 200);
	a.flags = SWS_PARTIAL | SWS_SAY_CLOSE;
	assert_int_equal(sws_answer_status(&a), 206);
	a.flags = SWS_NOT_MODIFIED | SWS_HEAD_ONLY;
	assert_int_equal(sws_answer_status(&a), 304);
	a.flags = 0;
	page->status = 416;
	assert_int_equal(sws_answer_status(&a), 416);
	sws_page_unref(page);
}

/* Each sent answer counts under its method and its class, with all its bytes. */
static void
sent(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_burst *burst = burst_of(page, 8, 0);

	(void)state;
	page->status = 404;
	burst->answers[5].sent = 100000;
	burst->answers[6].flags = SWS_NOT_MODIFIED;
	while (burst->out < burst->count)
		sws_burst_end_answer(burst, &core);
	assert_int_equal(answers(0, 4), 2);
	assert_int_equal(answers(1, 4), 2);
	assert_int_equal(answers(2, 4), 3);
	assert_int_equal(answers(2, 3), 1);
	assert_int_equal(sum_of_answers(), 8);
	assert_int_equal(atomic_load(&core.counters.sent_bytes), 8 * 100 + 28 + 100000);
	assert_int_equal(atomic_load(&core.counters.aborted), 0);
	assert_int_equal(test_refs(page), 1);
	sws_page_unref(page);
	free(burst);
}

/* What is not a request has no method, whatever the parser made of its beginning. */
static void
no_request(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_burst *burst = burst_of(page, 1, 0);

	(void)state;
	page->status = 400;
	burst->bad = 400;
	sws_burst_end_answer(burst, &core);
	assert_int_equal(answers(2, 4), 1);
	assert_int_equal(sum_of_answers(), 1);
	sws_page_unref(page);
	free(burst);
}

/* Only answers that exist and are not sent are given up, once. The first one is sent in part. */
static void
given_up(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_burst *burst = burst_of(page, 4, 1);
	int fds[3];

	(void)state;
	page->status = 200;
	for (int i = 0; i < 3; i++)
		burst->answers[i].fd = fds[i] = open_file();
	burst->out = 1;
	burst->out_at = 101;
	burst->answers[1].sent = 7;
	sws_burst_give_up(burst, &core, HERE);
	assert_true(is_open(fds[0]));
	assert_false(is_open(fds[1]) || is_open(fds[2]));
	assert_int_equal(burst->out, 3);
	assert_int_equal(test_refs(page), 2);
	sws_burst_give_up(burst, &core, HERE);
	assert_int_equal(test_refs(page), 2);
	assert_int_equal(answers(1, 2), 1);
	assert_int_equal(answers(2, 2), 1);
	assert_int_equal(sum_of_answers(), 2);
	assert_int_equal(atomic_load(&core.counters.sent_bytes), 108);
	assert_int_equal(atomic_load(&core.counters.aborted), 2);
	sws_answer_release(&burst->answers[0], HERE);
	sws_page_unref(page);
	free(burst);
}

/* An answer that is in no burst. */
static void
alone(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_answer a = sws_answer_of(page, 0);
	struct http_request req = {.method = HTTP_HEAD};
	struct sws_end end = {.conn = (struct sws_conn *)&a, .req = &req, .head_sent = 5,
		.body_sent = 6, .complete = true};

	(void)state;
	page->status = 200;
	sws_page_ref(page);
	sws_page_ref(page);
	sws_answer_end(&core, &a, &end);
	end.complete = false;
	end.req = NULL;
	sws_answer_end(&core, &a, &end);
	assert_int_equal(answers(1, 2), 1);
	assert_int_equal(answers(2, 2), 1);
	assert_int_equal(atomic_load(&core.counters.sent_bytes), 22);
	assert_int_equal(atomic_load(&core.counters.aborted), 1);
	assert_int_equal(test_refs(page), 1);
	sws_page_unref(page);
}

/* A core that sees the ends of answers sees each, with its bytes and those of the request. */
static void
watched(void **state)
{
	struct sws_page *page = test_page("/a", 1, 0);
	struct sws_burst *burst = burst_of(page, 3, 0);
	static struct sws_conn conn = {.head_ns = 77};

	(void)state;
	core.sees = true;
	page->status = 200;
	burst->asker.conn = &conn;
	burst->in_len = 200;
	burst->in_at = 150;
	burst->bad = 400;
	for (unsigned i = 0; i < 3; i++) {
		burst->asked[i].base = (uint16_t)(50 * i);
		burst->answers[i].head_len = 60;
	}
	burst->answers[0].sent = 1000;
	sws_burst_end_answer(burst, &core);
	assert_ptr_equal(seen.conn, &conn);
	assert_ptr_equal(seen.head, burst->in);
	assert_ptr_equal(seen.req, &burst->asked[0].request);
	assert_int_equal(seen.since_ns, 77);
	assert_int_equal(seen.head_sent, 60);
	assert_int_equal(seen.body_sent, 1040);
	assert_true(seen.complete);
	burst->out_at = 50;
	sws_burst_give_up(burst, &core, HERE);
	assert_int_equal(seen_count, 3);
	/* The last one answers no request: its input stands behind all that was parsed. */
	assert_null(seen.req);
	assert_ptr_equal(seen.head, burst->in + 150);
	assert_int_equal(seen.head_room, 50);
	assert_int_equal(seen.head_sent + seen.body_sent, 0);
	assert_false(seen.complete);
	core.sees = false;
	assert_int_equal(test_refs(page), 1);
	sws_page_unref(page);
	free(burst);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(statuses, begin),
		cmocka_unit_test_setup(sent, begin),
		cmocka_unit_test_setup(no_request, begin),
		cmocka_unit_test_setup(given_up, begin),
		cmocka_unit_test_setup(alone, begin),
		cmocka_unit_test_setup(watched, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
