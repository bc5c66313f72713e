/* SPDX-License-Identifier: MIT */
/*
 * hpp.cc: the C++ interface: closures run and are destroyed exactly once, whatever becomes of their
 * events; handlers get their type; objects end with what they own; errors are exceptions.
 */
#include <mely/mely.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "test.h"

static_assert(!std::is_copy_constructible_v<mely::color>);
static_assert(!std::is_move_constructible_v<mely::color>);
static_assert(!std::is_copy_constructible_v<mely::event>);
static_assert(!std::is_move_constructible_v<mely::event>);
static_assert(!std::is_copy_constructible_v<mely::runtime>);
static_assert(!std::is_copy_constructible_v<mely::timer>);
static_assert(std::is_move_constructible_v<mely::timer>);
static_assert(alignof(mely::color) == 64);

namespace {

int cores; /* of the case that runs */

struct settings : mely::config {
	settings() { mely_config::cores = ::cores; }
};

/* Counts its live instances: copies and moves add, destructors take away. */
struct token {
	static std::atomic<int> live;

	token() { live++; }
	token(const token &) { live++; }
	token(token &&) noexcept { live++; }
	~token() { live--; }
};
std::atomic<int> token::live;

/* A closure of SIZE bytes that owns a token. */
template <std::size_t SIZE>
struct sized {
	token t;
	std::array<char, SIZE> room;
	std::atomic<int> *ran;

	void operator()() { *ran += room[SIZE - 1]; }
};

/* ---- closures ------------------------------------------------------------------------------- */

void
closures_run_once()
{
	std::atomic<int> ran{0};
	{
		mely::runtime rt{settings()};
		mely::color color(rt);
		auto owned = std::make_unique<int>(7);
		std::string text(100, 'x');

		color.post([] {});
		color.post([&ran] { ran++; });
		color.post([&ran, owned = std::move(owned)] { ran += *owned; });
		color.post([&ran, text] { ran += static_cast<int>(text.size()); });
		for (int i = 0; i < 1000; i++) {
			color.post(sized<8>{{}, {0, 0, 0, 0, 0, 0, 0, 1}, &ran});
			rt.post(static_cast<std::uint32_t>(i), sized<100>{{}, {}, &ran});
			color.post(sized<300>{{}, {}, &ran});
		}
		rt.color_of(5).post([&rt] { rt.stop(); });
		rt.run();
	}
	TEST_EQ(ran.load(), 1 + 7 + 100 + 1000);
	TEST_EQ(token::live.load(), 0);
}

void
order_is_kept()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	std::vector<int> order;

	for (int i = 0; i < 500; i++)
		color.post([&order, i] { order.push_back(i); });
	color.post_head([&order] { order.push_back(-1); });
	color.post([&rt] { rt.stop(); });
	rt.run();
	TEST_EQ(order.size(), 501);
	for (int i = 0; i < 501; i++)
		TEST_EQ(order[static_cast<std::size_t>(i)], i - 1);
}

/* Each event posts two more from inside, on the thread that runs it: pools of all threads work. */
void
closures_across_threads()
{
	std::atomic<int> ran{0};
	{
		mely::runtime rt{settings()};
		struct tree {
			mely::runtime &rt;
			std::atomic<int> &ran;
			token t;
			unsigned depth, id;

			void
			operator()()
			{
				if (++ran == (1 << 13) - 1)
					rt.stop();
				if (depth == 0)
					return;
				for (unsigned i = 0; i < 2; i++)
					rt.post(id * 2 + i, tree{rt, ran, {}, depth - 1, id * 2 + i});
			}
		};

		rt.post(1, tree{rt, ran, {}, 12, 1});
		rt.run();
	}
	TEST_EQ(ran.load(), (1 << 13) - 1);
	TEST_EQ(token::live.load(), 0);
}

void
dropped_closures_are_destroyed()
{
	{
		mely::runtime rt{settings()};
		mely::color color(rt);
		std::atomic<int> ran{0};

		color.post([&rt] { rt.stop(MELY_STOP_DISCARD); });
		rt.run();
		for (int i = 0; i < 100; i++)
			rt.post(static_cast<std::uint32_t>(i), sized<100>{{}, {}, &ran});
		TEST_EQ(token::live.load(), 100);
	}
	TEST_EQ(token::live.load(), 0);
}

void
refused_closures_are_destroyed()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	std::atomic<int> ran{0};
	bool thrown = false;

	TEST_OK(mely_color_set_high_water(color.get(), 1, nullptr, nullptr));
	color.post(sized<100>{{}, {}, &ran});
	TEST_EQ(color.try_post(sized<100>{{}, {}, &ran}), -EAGAIN);
	TEST_EQ(token::live.load(), 1);
	try {
		color.post(sized<100>{{}, {}, &ran});
	} catch (const std::system_error &e) {
		thrown = e.code() == std::errc::resource_unavailable_try_again;
	}
	TEST_CHECK(thrown);
	TEST_EQ(token::live.load(), 1);
	TEST_OK(mely_color_set_high_water(color.get(), 0, nullptr, nullptr));
	color.post([&rt] { rt.stop(); });
	rt.run();
	TEST_EQ(token::live.load(), 0);
}

/* ---- handlers and events -------------------------------------------------------------------- */

struct counter {
	int members = 0, references = 0, pointers = 0;

	void on_member() { members++; }
};

void on_reference(counter &c) { c.references++; }
void on_pointer(counter *c) noexcept { c->pointers++; }

mely::handler<&counter::on_member> member("member", {100, 2, 1});
mely::handler<on_reference> reference("reference");
mely::handler<on_pointer> pointer("pointer");

void
handlers_know_their_type()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	counter c;

	color.post(member, c);
	color.post_head(reference, c);
	rt.color_of(9).post([&] { color.post(pointer, c); rt.stop(); });
	rt.run();
	TEST_EQ(c.members, 1);
	TEST_EQ(c.references, 1);
	TEST_EQ(c.pointers, 1);
	TEST_EQ(member.get()->penalty, 2);
}

void
embedded_events()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	counter c;
	mely::event ev(member, c);

	TEST_EQ(color.post(ev), 0);
	TEST_EQ(color.post(ev), -EALREADY);
	TEST_CHECK(ev.pending());
	TEST_EQ(ev.cancel(), 0);
	TEST_EQ(color.post(ev), 0);
	color.post([&rt] { rt.stop(); });
	rt.run();
	TEST_CHECK(!ev.pending());
	TEST_EQ(c.members, 1);
}

/* ---- colors --------------------------------------------------------------------------------- */

std::atomic<int> sessions;

struct session {
	mely::color color;
	std::array<char, 100> room{};

	explicit session(mely::runtime &rt) : color(rt) { sessions++; }
	~session() { sessions--; }

	void on_close() { color.release([this] { delete this; }); }
};

void
objects_release_themselves()
{
	mely::runtime rt{settings()};
	static mely::handler<&session::on_close> close("close");

	for (int i = 0; i < 100; i++) {
		session *s = new session(rt);

		s->color.post(close, *s);
	}
	TEST_EQ(sessions.load(), 100);
	test_run_dry(rt.get());
	TEST_EQ(sessions.load(), 0);
}

/* ---- watchers ------------------------------------------------------------------------------- */

void
descriptors()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	std::string got;
	int fds[2];

	TEST_OK(pipe2(fds, O_NONBLOCK | O_CLOEXEC));
	{
		mely::fd_watcher first(color, fds[0], MELY_FD_READ, [&, t = token()] {
			char buffer[8];
			ssize_t n = read(fds[0], buffer, sizeof buffer);

			if (n > 0)
				got.append(buffer, static_cast<std::size_t>(n));
			if (n == 0)
				rt.stop();
		});
		mely::fd_watcher moved(std::move(first));
		TEST_CHECK(!first && moved);
		TEST_EQ(write(fds[1], "hello, world", 12), 12);
		close(fds[1]);
		rt.run();
	}
	close(fds[0]);
	TEST_EQ(got.compare("hello, world"), 0);
	rt.post(1, [&rt] { rt.stop(); });
	rt.run();
	TEST_EQ(token::live.load(), 0);
}

/* A watcher ends in its own handler, by assignment and with its owner. */
void
watchers_end_in_their_handlers()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	struct owner {
		mely::timer repeated, once;
		token t;
	};
	auto o = std::make_unique<owner>();
	mely::timer alone;
	int ran = 0;

	alone = mely::timer(color, 1000, 0, [&, t = token()] {
		ran++;
		alone = mely::timer();
		TEST_CHECK(token::live > 0); /* the captures live until the handler returns */
	});
	o->once = mely::timer(color, 1000, 0, [&, t = token()] { ran++; });
	o->repeated = mely::timer(color, 100000, 100000, [&, t = token()] {
		ran++;
		if (ran >= 4 && o != nullptr && !alone) {
			o.reset();
			rt.stop();
		}
	});
	rt.run();
	TEST_CHECK(ran >= 4);
	rt.post(1, [&rt] { rt.stop(); });
	rt.run(); /* what posts its own end from elsewhere has ended now */
	TEST_EQ(token::live.load(), 0);
}

/* Watchers are destroyed on another thread, in the middle of their calls. */
void
watchers_end_elsewhere()
{
	{
		mely::runtime rt{settings()};
		mely::color color(rt);
		std::atomic<int> ran{0};
		struct test_runner runner;

		test_run_start(&runner, rt.get());
		for (unsigned i = 0; i < test_scale(200); i++) {
			int before = ran;
			mely::timer t(color, 0, 1000, [&, k = token()] { ran++; });

			while (ran == before)
				test_nap_us(10);
		}
		test_run_stop(&runner, MELY_STOP_DRAIN);
	}
	TEST_EQ(token::live.load(), 0);
}

void
signals_and_children()
{
	mely::runtime rt{settings()};
	mely::color color(rt);
	int got = 0, status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(3);
	mely::signal_watcher usr1(color, SIGUSR1, [&] { got++; });
	mely::child_watcher end(color, child, [&] {
		status = mely_child_status();
		kill(getpid(), SIGUSR1);
	});
	mely::timer look(color, 1000000, 1000000, [&] {
		if (got > 0 && status != -1)
			rt.stop();
	});
	rt.run();
	TEST_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	TEST_EQ(got, 1);
}

void
blocking_work()
{
	{
		mely::runtime rt{settings()};
		mely::color color(rt);
		int result = 0, seen = 0;

		mely::work(color, MELY_WORK_USER, [&, t = token()] { result = 42; },
		    [&, t = token()] {
			    seen = result;
			    rt.stop();
		    });
		rt.run();
		TEST_EQ(seen, 42);
	}
	TEST_EQ(token::live.load(), 0);
}

/* ---- errors --------------------------------------------------------------------------------- */

template <class F>
int
thrown_by(F f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return -e.code().value();
	}
	return 0;
}

void
errors_are_thrown()
{
	settings bad;
	mely::runtime rt{settings()};
	mely::color color(rt);

	bad.mely_config::cores = MELY_CORES_MAX + 1;
	TEST_EQ(thrown_by([&] { mely::runtime never(bad); }), -EINVAL);
	TEST_EQ(thrown_by([&] { mely::color never(rt, cores); }), -EINVAL);
	TEST_EQ(thrown_by([&] { mely::signal_watcher never(color, -1, [t = token()] {}); }), -EINVAL);
	TEST_EQ(thrown_by([&] { mely::fd_watcher never(color, 0, 0, [t = token()] {}); }), -EINVAL);
	TEST_EQ(thrown_by([&] { mely::color_ref::current(); }), -EINVAL);
	TEST_EQ(token::live.load(), 0);
}

/* The child must be killed by SIGABRT after this text on stderr. */
template <class F>
void
aborts(const char *text, F f)
{
	char buffer[4096] = "";
	std::size_t length = 0;
	int fds[2], status;
	ssize_t n;
	pid_t child;

	TEST_OK(pipe(fds));
	child = fork();
	if (child == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		f();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], buffer + length, sizeof buffer - 1 - length)) > 0)
		length += static_cast<std::size_t>(n);
	close(fds[0]);
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	if (strstr(buffer, text) == nullptr)
		test_fail(__FILE__, __LINE__, "no '%s' in: %s", text, buffer);
}

void
misuse_aborts()
{
	if (TEST_TSAN)
		return; /* it ends forked children in its own way */
	aborts("a color that has events is destroyed", [] {
		mely::runtime rt{settings()};
		mely::color color(rt);

		color.post([] {});
	});
	aborts("an event that is queued is destroyed", [] {
		mely::runtime rt{settings()};
		mely::color color(rt);
		counter c;
		mely::event ev(member, c);

		(void)color.post(ev);
	});
	aborts("", [] {
		mely::runtime rt{settings()};

		rt.post(1, [] { throw 1; });
		rt.run();
	});
}

void
throws_out(void *)
{
	throw 1;
}

/* A handler in C++ of the C interface, on core 0, whose thread could catch what it throws. */
void
exceptions_end_the_program()
{
	aborts("throws_out was left by an exception", [] {
		mely_handler handler;
		mely_config config;
		mely_runtime *rt;

		(void)mely_config_init(&config);
		config.cores = 1;
		mely_handler_init(&handler, throws_out, "throws_out");
		if (mely_runtime_new(&rt, &config) != 0 ||
		    mely_post_id(rt, 1, &handler, nullptr) != 0)
			_exit(1);
		try {
			_exit(mely_run(rt) == 0 ? 3 : 4);
		} catch (...) {
			_exit(2);
		}
	});
}

void
all_cases()
{
	TEST_CASE(closures_run_once);
	TEST_CASE(order_is_kept);
	TEST_CASE(closures_across_threads);
	TEST_CASE(dropped_closures_are_destroyed);
	TEST_CASE(refused_closures_are_destroyed);
	TEST_CASE(handlers_know_their_type);
	TEST_CASE(embedded_events);
	TEST_CASE(objects_release_themselves);
	TEST_CASE(descriptors);
	TEST_CASE(watchers_end_in_their_handlers);
	TEST_CASE(watchers_end_elsewhere);
	TEST_CASE(signals_and_children);
	TEST_CASE(blocking_work);
	TEST_CASE(errors_are_thrown);
	TEST_CASE(misuse_aborts);
	TEST_CASE(exceptions_end_the_program);
}

} // namespace

int
main(int argc, char **argv)
{
	test_init(argc, argv, 240);
	for (int n : {1, 2, 4}) {
		cores = n;
		all_cases();
	}
	return test_done();
}
