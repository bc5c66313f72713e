/* SPDX-License-Identifier: MIT */
/*
 * embed.c: a runtime inside a loop of the program, on 1, 2 and 4 cores. The loop polls the backend
 * descriptor without a limit in time, so a wake-up that is lost hangs the test: whatever core 0 is
 * to do must make the descriptor readable. How late events run is printed, and decides nothing.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;
static int backend = -1, over_fd = -1;
static struct mely_color *color;    /* pinned to core 0 */
static _Atomic uint64_t ran;
static uint64_t worst_ns, sum_ns, measured;

/* ---- the program's loop ---------------------------------------------------------------------- */

static void
end_loop(void)
{
	uint64_t one = 1;

	TEST_CHECK(write(over_fd, &one, sizeof one) == sizeof one);
}

/* Poll and make passes until end_loop, or the run has ended. Returns what the last pass said. */
static int
loop(void)
{
	struct pollfd polled[] = {{.fd = backend, .events = POLLIN},
	    {.fd = over_fd, .events = POLLIN}};
	uint64_t count;
	int n;

	for (;;) {
		TEST_CHECK(poll(polled, 2, -1) > 0);
		if (polled[1].revents != 0) {
			TEST_CHECK(read(over_fd, &count, sizeof count) == sizeof count);
			return 0;
		}
		n = mely_run_once_for(rt, 0);
		if (n < 0)
			return n;
		TEST_EQ(mely_current_core(), -1);
	}
}

static void
make(int cores)
{
	atomic_store(&ran, 0);
	worst_ns = sum_ns = measured = 0;
	rt = test_runtime(cores);
	color = test_color_on(rt, 0);
	TEST_OK(mely_color_pin(color, 0));
}

static void
open_backend(void)
{
	TEST_EQ(mely_next_timeout(rt), 0);
	backend = mely_backend_fd(rt);
	TEST_CHECK(backend >= 0);
	TEST_EQ(mely_backend_fd(rt), backend);
	over_fd = eventfd(0, EFD_CLOEXEC);
	TEST_CHECK(over_fd >= 0);
}

static void
begin(int cores)
{
	make(cores);
	open_backend();
}

static void
end(void)
{
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	TEST_EQ(loop(), -ESHUTDOWN);
	TEST_OK(mely_runtime_free(rt));
	close(over_fd);
	free(color);
}

static void
on_cores(void (*fn)(int cores))
{
	fn(1);
	fn(2);
	fn(4);
}

static void
late(uint64_t due_ns)
{
	uint64_t ns = mely_now_ns() - due_ns;

	worst_ns = ns > worst_ns ? ns : worst_ns;
	sum_ns += ns;
	measured++;
}

static void
print_late(const char *what, int cores)
{
	printf("%s, %d cores: late by %.0f us, worst %.0f us\n", what, cores,
	    (double)sum_ns / (double)measured / 1e3, (double)worst_ns / 1e3);
}

/* ---- posts ----------------------------------------------------------------------------------- */

enum { ROUNDS = 2000 };

static _Atomic uint64_t posted_ns;

static void
on_post(void *arg)
{
	(void)arg;
	late(atomic_load(&posted_ns));
	test_add(&ran, 1);
}

static struct mely_handler post_handler = MELY_HANDLER(on_post);

static void *
post_in_turn(void *arg)
{
	uint64_t i, n = test_scale(ROUNDS);

	for (i = 0; i < n; i++) {
		atomic_store(&posted_ns, mely_now_ns());
		TEST_OK(mely_post(color, &post_handler, NULL));
		test_await(&ran, i + 1);
		if (i % 64 == 0)
			test_nap_us(2000); /* so that the loop is surely in its poll */
	}
	end_loop();
	return arg;
}

/* A thread that waits for each event before it posts the next one. */
static void
posts_on(int cores)
{
	pthread_t thread;

	begin(cores);
	thread = test_thread(post_in_turn, NULL);
	TEST_EQ(loop(), 0);
	test_thread_join(thread);
	print_late("posts", cores);
	end();
}

static void
posts(void)
{
	on_cores(posts_on);
}

static void
on_again(void *arg)
{
	test_add(&ran, 1);
	if (test_get(&ran) < ROUNDS)
		TEST_OK(mely_post(color, arg, arg));
	else
		end_loop();
}

static struct mely_handler again = MELY_HANDLER(on_again);

/* What is left at the end of a pass makes the descriptor readable at once. */
static void
leftovers_on(int cores)
{
	begin(cores);
	TEST_OK(mely_post(color, &again, &again));
	TEST_EQ(loop(), 0);
	TEST_EQ(test_get(&ran), ROUNDS);
	end();
}

static void
leftovers(void)
{
	on_cores(leftovers_on);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static uint64_t due_ns;
static mely_watch timer;

static void on_timer(void *arg);
static struct mely_handler timer_handler = MELY_HANDLER(on_timer);

static void
start_timer(uint64_t after_ns)
{
	due_ns = mely_now_ns() + after_ns;
	TEST_OK(mely_timer_start(color, after_ns, 0, 0, &timer_handler, NULL, &timer));
}

static void
on_timer(void *arg)
{
	(void)arg;
	TEST_CHECK(mely_now_ns() >= due_ns);
	late(due_ns);
	test_add(&ran, 1);
	if (test_get(&ran) < test_scale(200))
		start_timer(100000 * (1 + test_get(&ran) % 30));
	else
		end_loop();
}

static void
timers_on(int cores)
{
	mely_watch far;

	begin(cores);
	TEST_OK(mely_timer_start(color, 3600 * UINT64_C(1000000000), 0, 0, &timer_handler, NULL,
	    &far));
	start_timer(1000000);
	TEST_EQ(loop(), 0);
	TEST_CHECK(mely_next_timeout(rt) > 0);
	print_late("timers", cores);
	end();
}

static void
timers(void)
{
	on_cores(timers_on);
}

static void
on_outside_timer(void *arg)
{
	(void)arg;
	late(due_ns);
	test_add(&ran, 1);
}

static struct mely_handler outside_timer = MELY_HANDLER(on_outside_timer);

static void *
start_from_outside(void *arg)
{
	uint64_t i, n = test_scale(200);

	for (i = 0; i < n; i++) {
		test_nap_us(500);
		due_ns = mely_now_ns() + 300000;
		TEST_OK(mely_timer_start(color, 300000, 0, 0, &outside_timer, NULL, &timer));
		test_await(&ran, i + 1);
	}
	end_loop();
	return arg;
}

/* A thread arms timers that are due before those that the loop waits for. */
static void
timers_of_threads_on(int cores)
{
	pthread_t thread;
	mely_watch far;

	begin(cores);
	TEST_OK(mely_timer_start(color, 3600 * UINT64_C(1000000000), 0, 0, &outside_timer, NULL,
	    &far));
	thread = test_thread(start_from_outside, NULL);
	TEST_EQ(loop(), 0);
	test_thread_join(thread);
	print_late("timers of a thread", cores);
	end();
}

static void
timers_of_threads(void)
{
	on_cores(timers_of_threads_on);
}

enum { MANY = 300 };

/* When a timer is due: the clock is read before and after the start, which reads it between. */
static struct due { uint64_t earliest; _Atomic uint64_t latest; } many_due[MANY];
static uint64_t last_due;

static void
on_one_of_many(void *arg)
{
	struct due *due = arg;

	TEST_CHECK(mely_now_ns() >= due->earliest);
	/* libev's times are doubles: timers less than 1 ms apart may change places. */
	TEST_CHECK(atomic_load(&due->latest) + 1000000 >= last_due);
	last_due = due->earliest;
	late(due->earliest);
	test_add(&ran, 1);
	if (test_get(&ran) == MANY / 2)
		end_loop();
}

static struct mely_handler one_of_many = MELY_HANDLER(on_one_of_many);

/* Timers in any order, half of them stopped; some are armed before the descriptor is opened. */
static void
many_timers_on(int cores)
{
	mely_watch watch[MANY];
	uint64_t state = test_seed;
	int i;

	make(cores);
	last_due = 0;
	TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
	for (i = 0; i < MANY; i++) {
		uint64_t after_ns = 2000000 + test_random(&state) % 40000000;

		if (i == MANY / 3)
			open_backend();
		many_due[i].earliest = mely_now_ns() + after_ns;
		TEST_OK(mely_timer_start(color, after_ns, 0, 0, &one_of_many, &many_due[i],
		    &watch[i]));
		atomic_store(&many_due[i].latest, mely_now_ns() + after_ns);
	}
	/* No pass has been made since, so none has run. */
	for (i = 0; i < MANY; i += 2)
		TEST_OK(mely_watch_stop(rt, watch[i], NULL, NULL));
	TEST_EQ(loop(), 0);
	TEST_EQ(test_get(&ran), MANY / 2);
	print_late("many timers", cores);
	end();
}

static void
many_timers(void)
{
	on_cores(many_timers_on);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static int pipe_fds[2];

static void
on_readable(void *arg)
{
	uint64_t written_ns;

	(void)arg;
	TEST_CHECK(read(pipe_fds[0], &written_ns, sizeof written_ns) == sizeof written_ns);
	late(written_ns);
	test_add(&ran, 1);
}

static struct mely_handler readable = MELY_HANDLER(on_readable);

static void *
write_in_turn(void *arg)
{
	uint64_t i, n = test_scale(ROUNDS);

	for (i = 0; i < n; i++) {
		uint64_t now_ns = mely_now_ns();

		TEST_CHECK(write(pipe_fds[1], &now_ns, sizeof now_ns) == sizeof now_ns);
		test_await(&ran, i + 1);
	}
	end_loop();
	return arg;
}

static void
descriptors_on(int cores)
{
	mely_watch watch;
	pthread_t thread;

	begin(cores);
	TEST_OK(pipe(pipe_fds));
	TEST_OK(mely_fd_watch(color, pipe_fds[0], MELY_FD_READ, &readable, NULL, &watch));
	thread = test_thread(write_in_turn, NULL);
	TEST_EQ(loop(), 0);
	test_thread_join(thread);
	print_late("descriptors", cores);
	end();
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void
descriptors(void)
{
	on_cores(descriptors_on);
}

/* ---- other cores ----------------------------------------------------------------------------- */

static struct mely_color *busy_color, *behind_color;

static void
on_behind(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler behind = MELY_HANDLER(on_behind);

static uint64_t rounds;

/* Holds its core until what it has posted has run elsewhere, which only core 0 can do. */
static void
on_busy(void *arg)
{
	struct mely_handler *handler = arg;

	TEST_EQ(mely_current_core(), 1);
	TEST_OK(mely_post(behind_color, &behind, NULL));
	test_await(&ran, ++rounds);
	if (rounds < test_scale(50))
		TEST_OK(mely_post(busy_color, handler, handler));
	else
		end_loop();
}

static struct mely_handler busy = MELY_HANDLER(on_busy);

/* What waits behind a busy core is stolen by core 0, though it is in the program's poll. */
static void
steals(void)
{
	begin(2);
	rounds = 0;
	busy_color = test_color_on(rt, 1);
	behind_color = test_color_on(rt, 1);
	TEST_OK(mely_color_pin(busy_color, 1));
	TEST_OK(mely_post(busy_color, &busy, &busy));
	TEST_EQ(loop(), 0);
	end();
	free(busy_color);
	free(behind_color);
}

/* The program computes and makes no pass: other cores run what was posted to core 0. */
static void
program_is_busy(void)
{
	struct mely_color *here;
	uint64_t i;

	begin(2);
	here = test_color_on(rt, 0);
	for (i = 1; i <= 50; i++) {
		while (mely_next_timeout(rt) == 0)
			TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
		TEST_OK(mely_post(here, &behind, NULL));
		test_await(&ran, i);
	}
	end();
	free(here);
}

/* ---- stops ----------------------------------------------------------------------------------- */

static void *
stop_soon(void *mode)
{
	test_nap_us(3000);
	TEST_OK(mely_stop(rt, *(enum mely_stop_mode *)mode));
	return NULL;
}

/* A stop of another thread is seen in the poll, said once, and the next pass begins a new run. */
static void
stops_on(int cores)
{
	enum mely_stop_mode modes[] = {MELY_STOP_DRAIN, MELY_STOP_DISCARD};
	mely_watch far;
	pthread_t thread;
	int i;

	begin(cores);
	for (i = 0; i < 10; i++) {
		TEST_OK(mely_timer_start(color, 3600 * UINT64_C(1000000000), 0, 0,
		    &timer_handler, NULL, &far));
		TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
		thread = test_thread(stop_soon, &modes[i % 2]);
		TEST_EQ(loop(), -ESHUTDOWN);
		test_thread_join(thread);
		TEST_EQ(mely_stop(rt, MELY_STOP_DISCARD), -EALREADY);
		TEST_OK(mely_post(color, &behind, NULL));
		while (test_get(&ran) < (uint64_t)i + 1)
			TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
	}
	end();
}

static void
stops(void)
{
	on_cores(stops_on);
}

/* ---- everything at once ---------------------------------------------------------------------- */

enum { COLORS = 16, POSTERS = 3 };

static struct mely_color *colors[COLORS];
static uint64_t counts[COLORS]; /* plain: each of its color */
static uint64_t wanted;

static void
on_mix(void *arg)
{
	uint64_t *count = arg;

	++*count;
	if (*count % 7 == 0)
		test_spin_ns(20000);
	test_add(&ran, 1);
	if (test_get(&ran) == wanted)
		end_loop();
}

static struct mely_handler mix = MELY_HANDLER(on_mix);

static void *
post_at_random(void *arg)
{
	uint64_t state = test_seed + (uintptr_t)arg, i;

	for (i = 0; i < wanted / POSTERS; i++) {
		uint64_t c = test_random(&state) % COLORS;

		TEST_OK(mely_post(colors[c], &mix, &counts[c]));
		if (test_random(&state) % 100 == 0)
			test_nap_us((unsigned)(test_random(&state) % 2000));
	}
	return NULL;
}

static void
mixed_on(int cores)
{
	pthread_t threads[POSTERS];
	uint64_t sum = 0;
	int i;

	begin(cores);
	wanted = test_scale(30000) / POSTERS * POSTERS;
	for (i = 0; i < COLORS; i++) {
		colors[i] = test_color_on(rt, i % cores);
		counts[i] = 0;
	}
	for (i = 0; i < POSTERS; i++)
		threads[i] = test_thread(post_at_random, (void *)(uintptr_t)(i + 1));
	TEST_EQ(loop(), 0);
	for (i = 0; i < POSTERS; i++)
		test_thread_join(threads[i]);
	end();
	for (i = 0; i < COLORS; i++) {
		sum += counts[i];
		free(colors[i]);
	}
	TEST_EQ(sum, wanted);
}

static void
mixed(void)
{
	on_cores(mixed_on);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(posts);
	TEST_CASE(leftovers);
	TEST_CASE(timers);
	TEST_CASE(timers_of_threads);
	TEST_CASE(many_timers);
	TEST_CASE(descriptors);
	TEST_CASE(steals);
	TEST_CASE(program_is_busy);
	TEST_CASE(stops);
	TEST_CASE(mixed);
	return test_done();
}
