/* SPDX-License-Identifier: MIT */
/*
 * mely/mely.hpp: the interface for C++17. Header only, over <mely/mely.h>.
 *
 * What it adds to the C interface
 *   ownership   runtimes, colors, events and watchers end with their objects and are not copied
 *   lambdas     any callable with no arguments is an event: a closure that fits a pointer travels
 *               in the event itself; a larger one costs one allocation from a pool of the thread
 *   types       handlers know the type of their argument
 *   errors      constructors and post() throw std::system_error; try_post() returns the code
 *
 * Rules
 *   Exceptions must not leave a handler: std::terminate ends the program there.
 *   A runtime outlives its colors and watchers, and a color outlives its watchers: declare them in
 *   this order. Threads and colors from which a call may come are those of the C call it is named
 *   after.
 */
#ifndef MELY_MELY_HPP
#define MELY_MELY_HPP

#if __cplusplus < 201703L
#error "<mely/mely.hpp> needs C++17"
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <mely/mely.h>

namespace mely {

/* ---- errors -------------------------------------------------------------------------------- */

namespace detail {

/** Out of line, so that a caller saves no registers for it. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
fail(int result, const char *what)
{
	throw std::system_error(-result, std::generic_category(), what);
}

/** Throw what a C call returned, unless it is 0 or a count. */
inline int
must(int result, const char *what)
{
	if (result < 0)
		fail(result, what);
	return result;
}

/** A rule of this header was broken, where nothing can be thrown. */
[[noreturn]] inline void
misuse(const char *what) noexcept
{
	std::fprintf(stderr, "mely: misuse: %s\n", what);
	std::abort();
}

/* ---- memory for closures --------------------------------------------------------------------- */

/*
 * Spare blocks of this thread, in sizes of 64, 128, 192 and 256 bytes; larger ones are the
 * allocator's. A block goes to the thread that frees it, that is, where its event has run. Zero
 * initialized, so that an access has no guard.
 */
class pool {
public:
	static void *take(std::size_t size)
	{
		if (size > LARGEST)
			return ::operator new(size);
		lane &l = lanes[(size - 1) / STEP];
		if (l.first == nullptr)
			return ::operator new(rounded(size));
		block *b = l.first;
		l.first = b->next;
		l.count--;
		return b;
	}

	static void give(void *memory, std::size_t size) noexcept
	{
		if (size > LARGEST) {
			::operator delete(memory);
			return;
		}
		lane &l = lanes[(size - 1) / STEP];
		if (l.count >= KEPT || !kept_until_exit()) {
			::operator delete(memory);
			return;
		}
		l.first = new (memory) block{l.first};
		l.count++;
	}

private:
	struct block {
		block *next;
	};
	struct lane {
		block *first;
		unsigned count;
	};
	enum : std::size_t { STEP = 64, LARGEST = 256, KEPT = 256 };
	enum state : unsigned char { FRESH = 0, IN_USE, ENDED };

	static std::size_t rounded(std::size_t size)
	{
		return (size + STEP - 1) / STEP * STEP;
	}

	/** Frees the blocks when the thread ends. */
	struct keeper {
		~keeper()
		{
			life = ENDED;
			for (lane &l : lanes) {
				while (l.first != nullptr) {
					block *b = l.first;
					l.first = b->next;
					::operator delete(b);
				}
			}
		}
	};

	/** False in a thread that is about to end. */
	static bool kept_until_exit() noexcept
	{
		if (__builtin_expect(life == FRESH, 0)) {
			static thread_local keeper k;
			(void)k;
			life = IN_USE;
		}
		return life == IN_USE;
	}

	static inline thread_local lane lanes[LARGEST / STEP];
	static inline thread_local state life;
};

/* ---- closures -------------------------------------------------------------------------------- */

/** Does a callable travel in the word that a handler gets as its argument? */
template <class F>
inline constexpr bool fits_word = sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *) &&
    std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;

template <class F>
struct closure {
	static_assert(std::is_invocable_v<F &>, "a callable without arguments");

	/** Into the argument of a handler. */
	template <class G>
	static void *
	pack(G &&f)
	{
		if constexpr (fits_word<F>) {
			void *word = nullptr;
			F copy(std::forward<G>(f));
			std::memcpy(&word, &copy, sizeof copy);
			return word;
		} else {
			static_assert(alignof(F) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
			    "over-aligned callables are not supported");
			void *memory = pool::take(sizeof(F));
			try {
				return new (memory) F(std::forward<G>(f));
			} catch (...) {
				pool::give(memory, sizeof(F));
				throw;
			}
		}
	}

	static void
	drop(void *arg) noexcept
	{
		if constexpr (!fits_word<F>) {
			static_cast<F *>(arg)->~F();
			pool::give(arg, sizeof(F));
		} else {
			(void)arg;
		}
	}

	static void
	run(void *arg) noexcept
	{
		if constexpr (fits_word<F>) {
			alignas(F) unsigned char memory[sizeof(F)];
			std::memcpy(memory, &arg, sizeof(F));
			(*std::launder(reinterpret_cast<F *>(memory)))();
		} else {
			/* The callable may end its own color or runtime, not its own memory. */
			(*static_cast<F *>(arg))();
			drop(arg);
		}
	}

	/** One for each type of callable: times and penalties are measured per handler. */
	static inline mely_handler handler = {run, nullptr, 0, 0, 0, 0, 0, 0, {}, nullptr,
	    drop};
};

} // namespace detail

/* ---- handlers ------------------------------------------------------------------------------- */

/** What the program knows of a handler; 0: the runtime finds out (mely_handler). */
struct annotations {
	std::uint32_t time_ns = 0;
	std::uint32_t penalty = 0;
	std::int32_t priority = 0;
};

namespace detail {

/** How a function or a member function is entered with the argument of a handler. */
template <auto Fn, class Signature = decltype(Fn)>
struct entry;

template <auto Fn>
struct entry<Fn, void (*)()> {
	using object = void;
	static void run(void *) noexcept { Fn(); }
};
template <auto Fn>
struct entry<Fn, void (*)() noexcept> : entry<Fn, void (*)()> {};

template <auto Fn, class T>
struct entry<Fn, void (*)(T &)> {
	using object = T;
	static void run(void *arg) noexcept { Fn(*static_cast<T *>(arg)); }
};
template <auto Fn, class T>
struct entry<Fn, void (*)(T &) noexcept> : entry<Fn, void (*)(T &)> {};

template <auto Fn, class T>
struct entry<Fn, void (*)(T *)> {
	using object = T;
	static void run(void *arg) noexcept { Fn(static_cast<T *>(arg)); }
};
template <auto Fn, class T>
struct entry<Fn, void (*)(T *) noexcept> : entry<Fn, void (*)(T *)> {};

template <auto Fn, class T>
struct entry<Fn, void (T::*)()> {
	using object = T;
	static void run(void *arg) noexcept { (static_cast<T *>(arg)->*Fn)(); }
};
template <auto Fn, class T>
struct entry<Fn, void (T::*)() noexcept> : entry<Fn, void (T::*)()> {};

} // namespace detail

/**
 * A handler with a name and annotations, for a function of T &, T * or nothing, or a member
 * function of T. It outlives its events: static in most programs.
 *
 *     static mely::handler<&connection::on_page> page("page", {50000, 2});
 *     color.post(page, connection);
 */
template <auto Fn>
class handler {
public:
	using object = typename detail::entry<Fn>::object;

	explicit constexpr handler(const char *name, annotations a = {}) noexcept
	    : handler_{detail::entry<Fn>::run, name, a.time_ns, a.penalty, a.priority, 0, 0, 0, {},
		nullptr, nullptr}
	{
	}

	handler(const handler &) = delete;
	handler &operator=(const handler &) = delete;

	mely_handler *get() noexcept { return &handler_; }

private:
	mely_handler handler_;
};

/* ---- events --------------------------------------------------------------------------------- */

/**
 * An event that is a member of the program's object: posting it allocates nothing. It is the
 * program's again when its handler is entered. It must not be queued when it is destroyed.
 */
class event {
public:
	/** For a handler of an object. */
	template <auto Fn>
	event(handler<Fn> &h, typename handler<Fn>::object &object) noexcept
	{
		mely_event_init(&event_, h.get(), const_cast<void *>(
		    static_cast<const volatile void *>(&object)));
	}

	event(const event &) = delete;
	event &operator=(const event &) = delete;

	~event()
	{
		if (mely_event_pending(&event_))
			detail::misuse("an event that is queued is destroyed");
	}

	/** mely_event_set_time */
	void set_time(std::uint32_t time_ns) noexcept { mely_event_set_time(&event_, time_ns); }
	/** mely_event_pending */
	bool pending() const noexcept { return mely_event_pending(&event_) != 0; }
	/** mely_event_cancel without a completion: 0, -ENOENT or -EINPROGRESS. */
	int cancel() noexcept { return mely_event_cancel(&event_, nullptr, nullptr); }

	mely_event *get() noexcept { return &event_; }

private:
	mely_event event_;
};

/* ---- colors --------------------------------------------------------------------------------- */

namespace detail {

/** The calls that colors and references to colors share. */
template <class Color>
class color_calls {
public:
	/** Post an object to a handler: no allocation (mely_post). Throws. */
	template <auto Fn>
	void
	post(handler<Fn> &h, typename handler<Fn>::object &object) const
	{
		must(try_post(h, object), "mely_post");
	}

	/** 0 or the negative error of mely_post. */
	template <auto Fn>
	int
	try_post(handler<Fn> &h, typename handler<Fn>::object &object) const noexcept
	{
		return mely_post(self(), h.get(), &object);
	}

	/** Post a callable (mely_post). It is moved or copied into the event and destroyed after its
	 *  call, or when a stop drops the event. Throws; also std::bad_alloc. */
	template <class F, std::enable_if_t<std::is_invocable_v<std::decay_t<F> &>, int> = 0>
	void
	post(F &&f) const
	{
		must(try_post(std::forward<F>(f)), "mely_post");
	}

	template <class F, std::enable_if_t<std::is_invocable_v<std::decay_t<F> &>, int> = 0>
	int
	try_post(F &&f) const
	{
		using closure = closure<std::decay_t<F>>;
		void *arg = closure::pack(std::forward<F>(f));
		int result = mely_post(self(), &closure::handler, arg);

		if (__builtin_expect(result < 0, 0))
			closure::drop(arg);
		return result;
	}

	/** The same before everything that was posted at the tail (mely_post_head). */
	template <class F, std::enable_if_t<std::is_invocable_v<std::decay_t<F> &>, int> = 0>
	void
	post_head(F &&f) const
	{
		using closure = closure<std::decay_t<F>>;
		void *arg = closure::pack(std::forward<F>(f));
		int result = mely_post_head(self(), &closure::handler, arg);

		if (__builtin_expect(result < 0, 0)) {
			closure::drop(arg);
			must(result, "mely_post_head");
		}
	}

	template <auto Fn>
	void
	post_head(handler<Fn> &h, typename handler<Fn>::object &object) const
	{
		must(mely_post_head(self(), h.get(), &object), "mely_post_head");
	}

	/** Post an embedded event (mely_event_post): 0, -EALREADY, -EAGAIN, -ESHUTDOWN. */
	int post(event &ev) const noexcept { return mely_event_post(self(), ev.get()); }
	int post_head(event &ev) const noexcept { return mely_event_post_head(self(), ev.get()); }

	/** mely_color_set_name */
	void
	set_name(const char *name) const
	{
		must(mely_color_set_name(self(), name), "mely_color_set_name");
	}

	/** mely_color_pin; MELY_ANY_CORE lets it go. */
	void pin(int core) const { must(mely_color_pin(self(), core), "mely_color_pin"); }
	/** mely_color_core: a hint. */
	int core() const noexcept { return mely_color_core(self()); }
	/** Does an event of this color run on this thread? */
	bool is_current() const noexcept { return mely_current_color() == self(); }

private:
	mely_color *self() const noexcept { return static_cast<const Color *>(this)->get(); }
};

} // namespace detail

/** A color that something else owns: one by id, or a mely::color. Copied freely. */
class color_ref : public detail::color_calls<color_ref> {
public:
	color_ref(mely_color *color) noexcept : color_(color) {}

	mely_color *get() const noexcept { return color_; }

	/** The color that runs on this thread; only in a handler. How long one by id is valid:
	 *  mely_current_color. */
	static color_ref
	current()
	{
		mely_color *color = mely_current_color();

		if (color == nullptr)
			detail::must(-EINVAL, "no handler runs on this thread");
		return color;
	}

private:
	mely_color *color_;
};

class runtime;

/**
 * A color object, aligned to 64 bytes. When it is destroyed no event of it may be queued or running,
 * and its watchers must have been stopped; an object that ends in its own handler uses release().
 */
class color : public detail::color_calls<color> {
public:
	explicit inline color(runtime &rt);
	inline color(runtime &rt, int core);

	color(const color &) = delete;
	color &operator=(const color &) = delete;

	~color()
	{
		bool idle = false;

		if (released_)
			return;
		if (mely_color_release(&color_, [](void *arg) { *static_cast<bool *>(arg) = true; },
			&idle) != 0 || !idle)
			detail::misuse("a color that has events is destroyed; use release()");
	}

	/** mely_color_release: call f after the last event has ended; f may delete the object that
	 *  this color is a member of. */
	template <class F>
	void
	release(F &&f)
	{
		using closure = detail::closure<std::decay_t<F>>;
		void *arg = closure::pack(std::forward<F>(f));
		int result;

		released_ = true;
		result = mely_color_release(&color_, closure::run, arg);
		if (result < 0) {
			closure::drop(arg);
			detail::must(result, "mely_color_release");
		}
	}

	operator color_ref() const noexcept { return color_ref(get()); }
	mely_color *get() const noexcept { return const_cast<mely_color *>(&color_); }

private:
	mely_color color_;
	bool released_ = false;
};

/* ---- the runtime ---------------------------------------------------------------------------- */

/** Settings: mely_config with the defaults and the environment. Throws on a bad variable. */
struct config : mely_config {
	config() { detail::must(mely_config_init(this), "mely_config_init"); }
};

/** A runtime. It must not run when it is destroyed. */
class runtime {
public:
	runtime() : runtime(nullptr) {}
	explicit runtime(const mely_config &c) : runtime(&c) {}

	runtime(const runtime &) = delete;
	runtime &operator=(const runtime &) = delete;

	~runtime()
	{
		if (mely_runtime_free(rt_) != 0)
			detail::misuse("a runtime that runs is destroyed");
	}

	/** mely_run: until stop(). Throws. */
	void run() { detail::must(mely_run(rt_), "mely_run"); }
	/** mely_stop: 0 or -EALREADY. */
	int stop(mely_stop_mode mode = MELY_STOP_DRAIN) noexcept { return mely_stop(rt_, mode); }
	/** mely_cores */
	int cores() const noexcept { return mely_cores(rt_); }

	/** A color by id, made on first use (mely_color_of_id). */
	color_ref
	color_of(std::uint32_t id)
	{
		mely_color *color;

		detail::must(mely_color_of_id(rt_, id, &color), "mely_color_of_id");
		return color;
	}

	/** Post to a color by id, without a reference to it (mely_post_id). Throws. */
	template <class F, std::enable_if_t<std::is_invocable_v<std::decay_t<F> &>, int> = 0>
	void
	post(std::uint32_t id, F &&f)
	{
		using closure = detail::closure<std::decay_t<F>>;
		void *arg = closure::pack(std::forward<F>(f));
		int result = mely_post_id(rt_, id, &closure::handler, arg);

		if (__builtin_expect(result < 0, 0)) {
			closure::drop(arg);
			detail::must(result, "mely_post_id");
		}
	}

	template <auto Fn>
	void
	post(std::uint32_t id, handler<Fn> &h, typename handler<Fn>::object &object)
	{
		detail::must(mely_post_id(rt_, id, h.get(), &object), "mely_post_id");
	}

	mely_runtime *get() const noexcept { return rt_; }
	/** Give the runtime up, for mely_runtime_free. */
	mely_runtime *release() noexcept { return std::exchange(rt_, nullptr); }

private:
	explicit runtime(const mely_config *c)
	{
		detail::must(mely_runtime_new(&rt_, c), "mely_runtime_new");
	}

	mely_runtime *rt_ = nullptr;
};

inline
color::color(runtime &rt)
{
	detail::must(mely_color_init(&color_, rt.get()), "mely_color_init");
}

inline
color::color(runtime &rt, int core)
{
	detail::must(mely_color_init_on(&color_, rt.get(), core), "mely_color_init_on");
}

/* ---- watchers ------------------------------------------------------------------------------- */

namespace detail {

/*
 * What a watcher's handler works on. It outlives the watcher's object when the handler runs at the
 * time the object is destroyed: then the handler's color frees it.
 */
struct watched {
	watched(mely_color *c, void (*how)(watched *) noexcept) noexcept : color(c), destroy(how)
	{
		mely_event_init(&done, &last_handler, this);
	}

	mely_color *color;
	void (*destroy)(watched *) noexcept;
	mely_watch id = 0;
	mely_event done;
	bool running = false; /* in handlers of color */
	bool ended = false;   /* in handlers of color: the object is destroyed */

	static void
	last(void *arg) noexcept
	{
		watched *w = static_cast<watched *>(arg);

		w->destroy(w);
	}
	static inline mely_handler last_handler = {last, "watcher's end", 0, 0, 0, 0, 0, 0, {},
	    nullptr, last};
};

template <class F>
struct watched_by : watched {
	template <class G>
	watched_by(mely_color *c, G &&g) : watched(c, forget), f(std::forward<G>(g))
	{
	}

	F f;

	static void
	forget(watched *w) noexcept
	{
		delete static_cast<watched_by *>(w);
	}

	static void
	run(void *arg) noexcept
	{
		watched_by *w = static_cast<watched_by *>(arg);

		w->running = true;
		w->f();
		w->running = false;
		if (w->ended)
			delete w;
	}

	static inline mely_handler handler = {run, nullptr, 0, 0, 0, 0, 0, 0, {}, nullptr,
	    nullptr};
};

} // namespace detail

/**
 * The common part of watchers: movable, not copied. Destroyed in a handler of its color, also in its
 * own, its handler does not run again. Destroyed elsewhere, it may run once more at most, if it is
 * running or about to.
 */
class watcher {
public:
	watcher() noexcept = default;
	watcher(watcher &&other) noexcept : w_(std::exchange(other.w_, nullptr)) {}

	watcher &
	operator=(watcher &&other) noexcept
	{
		if (this != &other) {
			stop();
			w_ = std::exchange(other.w_, nullptr);
		}
		return *this;
	}

	watcher(const watcher &) = delete;
	watcher &operator=(const watcher &) = delete;
	~watcher() { stop(); }

	/** mely_watch_stop. After it this object watches nothing. */
	void
	stop() noexcept
	{
		detail::watched *w = std::exchange(w_, nullptr);
		int result;

		if (w == nullptr)
			return;
		result = mely_watch_stop(mely_color_runtime(w->color), w->id, w->color, &w->done);
		if (result == -EINPROGRESS)
			return; /* done is posted after the handler */
		/* Its handler does not run, unless this is its handler. */
		if (mely_current_color() == w->color && w->running)
			w->ended = true;
		else
			w->destroy(w);
	}

	/** Does it watch? One that runs once keeps its id after it has run. */
	explicit operator bool() const noexcept { return w_ != nullptr; }
	/** Its id for the C interface; 0 without a watcher. */
	mely_watch id() const noexcept { return w_ != nullptr ? w_->id : 0; }

protected:
	/** start(handler, arg, id) makes the watcher; a negative result is thrown. */
	template <class F, class Start>
	watcher(color_ref color, F &&f, const char *what, Start start)
	{
		using state = detail::watched_by<std::decay_t<F>>;
		static_assert(std::is_invocable_v<std::decay_t<F> &>,
		    "a callable without arguments");
		state *s = new state(color.get(), std::forward<F>(f));
		int result = start(&state::handler, static_cast<void *>(s), &s->id);

		if (result < 0) {
			delete s;
			detail::must(result, what);
		}
		w_ = s;
	}

	detail::watched *w_ = nullptr;
};

/** mely_fd_watch: one direction of a descriptor, which stays the program's. */
class fd_watcher : public watcher {
public:
	fd_watcher() noexcept = default;

	/** flags: MELY_FD_READ or MELY_FD_WRITE, MELY_FD_EDGE, MELY_FD_SUSPENDED. */
	template <class F>
	fd_watcher(color_ref color, int fd, unsigned flags, F &&f)
	    : watcher(color, std::forward<F>(f), "mely_fd_watch",
		  [&](mely_handler *h, void *arg, mely_watch *id) {
			  return mely_fd_watch(color.get(), fd, flags, h, arg, id);
		  })
	{
	}

	/** mely_watch_enable, in a handler of the color. */
	int
	enable(bool on) noexcept
	{
		return w_ == nullptr ? -ENOENT :
		    mely_watch_enable(mely_color_runtime(w_->color), w_->id, on);
	}
};

/** mely_timer_start. */
class timer : public watcher {
public:
	timer() noexcept = default;

	template <class F>
	timer(color_ref color, std::uint64_t when_ns, std::uint64_t repeat_ns, F &&f,
	    unsigned flags = 0)
	    : watcher(color, std::forward<F>(f), "mely_timer_start",
		  [&](mely_handler *h, void *arg, mely_watch *id) {
			  return mely_timer_start(color.get(), when_ns, repeat_ns, flags, h, arg,
			      id);
		  })
	{
	}

	/** mely_timer_again, in a handler of the color: 0 or -ENOENT. */
	int
	again(std::uint64_t when_ns, std::uint64_t repeat_ns = 0) noexcept
	{
		return w_ == nullptr ? -ENOENT :
		    mely_timer_again(mely_color_runtime(w_->color), w_->id, when_ns, repeat_ns);
	}
};

/** mely_signal_watch. */
class signal_watcher : public watcher {
public:
	signal_watcher() noexcept = default;

	template <class F>
	signal_watcher(color_ref color, int signum, F &&f)
	    : watcher(color, std::forward<F>(f), "mely_signal_watch",
		  [&](mely_handler *h, void *arg, mely_watch *id) {
			  return mely_signal_watch(color.get(), signum, h, arg, id);
		  })
	{
	}
};

/** mely_child_watch. */
class child_watcher : public watcher {
public:
	child_watcher() noexcept = default;

	template <class F>
	child_watcher(color_ref color, pid_t pid, F &&f)
	    : watcher(color, std::forward<F>(f), "mely_child_watch",
		  [&](mely_handler *h, void *arg, mely_watch *id) {
			  return mely_child_watch(color.get(), pid, h, arg, id);
		  })
	{
	}
};

/* ---- blocking work -------------------------------------------------------------------------- */

/**
 * mely_work: call f on a helper thread, then `then` as an event of color. f sees what the caller did,
 * `then` sees what f did. Both are destroyed after `then`, or when a stop drops it. Throws. Returns
 * the id for mely_watch_stop; work that is cancelled through it is not destroyed: use it only with
 * callables that own nothing.
 */
template <class F, class G>
mely_watch
work(color_ref color, mely_work_class work_class, F &&f, G &&then)
{
	struct job {
		std::decay_t<F> f;
		std::decay_t<G> then;

		static void work(void *arg) noexcept { static_cast<job *>(arg)->f(); }
		static void drop(void *arg) noexcept { delete static_cast<job *>(arg); }
		static void
		end(void *arg) noexcept
		{
			static_cast<job *>(arg)->then();
			drop(arg);
		}
	};
	static mely_handler handler = {job::end, nullptr, 0, 0, 0, 0, 0, 0, {}, nullptr,
	    job::drop};
	job *j = new job{std::forward<F>(f), std::forward<G>(then)};
	mely_watch id;
	int result = mely_work(color.get(), work_class, job::work, &handler, j, &id);

	if (result < 0) {
		delete j;
		detail::must(result, "mely_work");
	}
	return id;
}

} // namespace mely

#endif
