/* SPDX-License-Identifier: MIT */
/*
 * stream.h: what is behind an aios: a descriptor with a buffer to read lines from and one of what
 * is to be written. It outlives its aios until everything has been sent. Color 0.
 */
#ifndef MELYCOMPAT_STREAM_H
#define MELYCOMPAT_STREAM_H

#include <cstdint>
#include <deque>
#include <memory>

#define MELYCOMPAT_IN_AIOS
#include "../include/async/aios.h"

namespace melycompat {

/** An error is ignored: there may be no such descriptor. */
void set_blocking(int fd, bool on);

class stream : public virtual refcount
{
public:
	/** What is being appended. */
	const strbuf out;

	stream(int fd, size_t line_max);
	~stream();

	int descriptor() const { return fd; }
	void read(bool line, aios::rcb_t cb);
	void cancel();
	void unread(size_t n);
	/** What has been appended to out is complete. */
	void output();
	void send_descriptor(int sent);
	void send_end();
	void when_sent(aios::wcb_t cb);
	int flush();
	void limit(time_t seconds);
	void show_as(str name);
	void close_now();
	/** Its aios has been deleted: send the rest, then close. */
	void orphan();
	/** Its descriptor is not to be closed. */
	void disown();

	/** What can be sent without waiting is, by every stream. At exit. */
	static void last_words();

private:
	enum { DEPTH_MAX = 32 };

	struct waiter {
		uint64_t mark; /* of sent: called then */
		aios::wcb_t cb;
	};

	int fd;
	int error;
	/* the input: bytes [start, end) of buffer */
	const size_t size;      /* of the longest line */
	size_t room;            /* of the buffer */
	std::unique_ptr<char[]> buffer;
	size_t start, end;
	size_t given;           /* before start: what the last reader has got, for unread */
	bool at_end;
	callback<void, str, int>::ptr reader;
	bool by_line;
	bool reading;           /* fdcb has been asked */
	int depth;              /* of calls of readers in each other */
	/* the output */
	suio going;             /* waits to be sent */
	bool writing;           /* fdcb has been asked */
	bool end_wanted, end_sent;
	bool orphaned, owned;
	uint64_t sent;          /* bytes, ever */
	std::deque<waiter> waiters;
	std::deque<int> descriptors;
	/* the timeout */
	time_t seconds;
	uint64_t progress_ns;   /* when there was some, or the wait began */
	timecb_t *timer;
	str name;

	uint64_t queued() const { return sent + going.resid(); }
	bool waits() const { return reader || going.resid() != 0; }
	bool next(str *text, int *result);
	bool next_line(str *text);
	void deliver();
	void watch_input();
	void watch_output(bool on);
	void make_room();
	void readable();
	void writable();
	int send_some();
	void after_output();
	void tell_waiters();
	void fail(int code);
	void begin_wait();
	void arm(uint64_t after_ns);
	void timed_out();
	void show(const char *arrow, const char *bytes, size_t n);
};

}

#endif
