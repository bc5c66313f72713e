/* SPDX-License-Identifier: MIT */
/*
 * order.c: invariant 2 exactly, one small scenario a case: heads go before tails, in the order
 * posted among themselves, also before tails that a core has already taken out as a batch;
 * priorities never reorder inside a color.
 */
#include "test.h"

/* The order in which events ran; handlers of one color append. */
static struct {
	char text[256];
	size_t length;
} trace;

static struct mely_runtime *rt;
static struct mely_color *color;

static void
note(char c)
{
	TEST_CHECK(trace.length + 1 < sizeof trace.text);
	trace.text[trace.length++] = c;
	trace.text[trace.length] = '\0';
}

static void
on_letter(void *arg)
{
	note((char)(intptr_t)arg);
}

static struct mely_handler letter = MELY_HANDLER(on_letter);
static struct mely_handler urgent = MELY_HANDLER_WITH(on_letter, 0, 0, 15);
static struct mely_handler lazy = MELY_HANDLER_WITH(on_letter, 0, 0, -16);

static void *
c(char character)
{
	return (void *)(intptr_t)character;
}

static void
begin(int cores)
{
	trace.length = 0;
	trace.text[0] = '\0';
	rt = test_runtime(cores);
	color = test_color(rt);
}

static void
end(const char *expected)
{
	test_run_dry(rt);
	if (strcmp(trace.text, expected) != 0)
		test_fail(__FILE__, __LINE__, "ran %s, not %s", trace.text, expected);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

static void
tails_in_order(void)
{
	char i;

	begin(1);
	for (i = 'a'; i <= 'z'; i++)
		TEST_OK(mely_post(color, &letter, c(i)));
	end("abcdefghijklmnopqrstuvwxyz");
}

static void
heads_before_tails(void)
{
	begin(2);
	TEST_OK(mely_post(color, &letter, c('a')));
	TEST_OK(mely_post(color, &letter, c('b')));
	TEST_OK(mely_post_head(color, &letter, c('1')));
	TEST_OK(mely_post_head(color, &letter, c('2')));
	TEST_OK(mely_post(color, &letter, c('c')));
	TEST_OK(mely_post_head(color, &letter, c('3')));
	end("123abc");
}

static void
heads_alone(void)
{
	begin(2);
	TEST_OK(mely_post_head(color, &letter, c('1')));
	TEST_OK(mely_post_head(color, &letter, c('2')));
	end("12");
}

static void
priorities_do_not_reorder(void)
{
	begin(1);
	TEST_OK(mely_post(color, &lazy, c('a')));
	TEST_OK(mely_post(color, &urgent, c('b')));
	TEST_OK(mely_post(color, &letter, c('c')));
	TEST_OK(mely_post(color, &urgent, c('d')));
	TEST_OK(mely_post_head(color, &lazy, c('1')));
	TEST_OK(mely_post_head(color, &urgent, c('2')));
	end("12abcd");
}

/* A handler posts heads and tails to its own color, whose batch its core has taken. */
static void
on_own_posts(void *arg)
{
	note((char)(intptr_t)arg);
	TEST_OK(mely_post(color, &letter, c('x')));
	TEST_OK(mely_post_head(color, &letter, c('1')));
	TEST_OK(mely_post_head(color, &letter, c('2')));
	TEST_OK(mely_post(color, &letter, c('y')));
}

static struct mely_handler own_posts = MELY_HANDLER(on_own_posts);

static void
heads_into_taken_batch(void)
{
	begin(2);
	TEST_OK(mely_post(color, &own_posts, c('A')));
	TEST_OK(mely_post(color, &letter, c('b')));
	TEST_OK(mely_post(color, &letter, c('c')));
	end("A12bcxy");
}

/* A head posts a head, which goes behind the waiting heads. */
static void
on_head(void *arg)
{
	note((char)(intptr_t)arg);
	TEST_OK(mely_post_head(color, &letter, c('3')));
}

static struct mely_handler head_posts_head = MELY_HANDLER(on_head);

static void
head_posts_a_head(void)
{
	begin(2);
	TEST_OK(mely_post(color, &letter, c('a')));
	TEST_OK(mely_post_head(color, &head_posts_head, c('1')));
	TEST_OK(mely_post_head(color, &letter, c('2')));
	end("123a");
}

/*
 * An outside thread posts heads to a color while its handler runs and its core has taken the rest
 * of the batch: the heads run before that rest.
 */
static _Atomic uint64_t blocked, released;

static void
on_block(void *arg)
{
	note((char)(intptr_t)arg);
	test_add(&blocked, 1);
	test_await(&released, 1);
}

static struct mely_handler block = MELY_HANDLER(on_block);

static void
run_blocked(int cores, bool by_id)
{
	struct test_runner runner;
	uint32_t id = 0xfffffff0u;

	atomic_store(&blocked, 0);
	atomic_store(&released, 0);
	begin(cores);
	if (by_id) {
		free(color);
		TEST_OK(mely_color_of_id(rt, id, &color));
	}
	TEST_OK(mely_post(color, &block, c('A')));
	TEST_OK(mely_post(color, &letter, c('b')));
	TEST_OK(mely_post(color, &letter, c('c')));
	test_run_start(&runner, rt);
	test_await(&blocked, 1);
	TEST_OK(mely_post(color, &letter, c('d')));
	TEST_OK(mely_post_head(color, &letter, c('1')));
	TEST_OK(mely_post_head(color, &letter, c('2')));
	if (by_id)
		TEST_OK(mely_post_head_id(rt, id, &letter, c('3')));
	else
		TEST_OK(mely_post_head(color, &letter, c('3')));
	test_add(&released, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	if (strcmp(trace.text, "A123bcd") != 0)
		test_fail(__FILE__, __LINE__, "ran %s, not A123bcd", trace.text);
	TEST_OK(mely_runtime_free(rt));
	if (!by_id)
		free(color);
}

static void
heads_from_outside_into_taken_batch(void)
{
	run_blocked(2, false);
	run_blocked(2, true);
	run_blocked(8, false);
}

/* Color ids at the edges of the range never share a queue. */
static void
on_other(void *arg)
{
	test_add(arg, 1);
	test_await(arg, 2);
}

static struct mely_handler other = MELY_HANDLER(on_other);

/*
 * Two ids that a hash or a mask could fold together run at the same time: each handler waits for
 * the other one. If they shared a queue this would hang.
 */
static void
ids_are_exact(void)
{
	static const uint32_t pairs[][2] = {{0, 0x80000000u}, {1, 0x10001u}, {0, 0xffffffffu},
	    {0x7fffffffu, 0xffffffffu}, {5, 5 + (1u << 20)}, {63, 64}};
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct test_runner runner;
		_Atomic uint64_t met;

		atomic_init(&met, 0);
		rt = test_runtime(2);
		test_run_start(&runner, rt);
		TEST_OK(mely_post_id(rt, pairs[i][0], &other, &met));
		TEST_OK(mely_post_id(rt, pairs[i][1], &other, &met));
		test_await(&met, 2);
		test_run_stop(&runner, MELY_STOP_DRAIN);
		TEST_OK(mely_runtime_free(rt));
	}
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(tails_in_order);
	TEST_CASE(heads_before_tails);
	TEST_CASE(heads_alone);
	TEST_CASE(priorities_do_not_reorder);
	TEST_CASE(heads_into_taken_batch);
	TEST_CASE(head_posts_a_head);
	TEST_CASE(heads_from_outside_into_taken_batch);
	TEST_CASE(ids_are_exact);
	return test_done();
}
