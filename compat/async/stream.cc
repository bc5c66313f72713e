/* SPDX-License-Identifier: MIT */
/*
 * stream.cc: reads lines and bytes from a descriptor, and buffers output to it. Color 0.
 *
 * NOTE(references)
 *   Every caller of a stream holds a reference to it: an aios, a watched descriptor, a timer. So
 *   when an aios with pending output is dropped, the watched descriptor keeps the stream alive
 *   until it has been closed, which ends all watching.
 */
#include "stream.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

#include "../include/async/rwfd.h"

namespace melycompat {

namespace {

/* Streams with pending output. Used by color 0 and by the thread that calls exit. */
std::set<stream *> &
writers()
{
	static std::set<stream *> &all = *new std::set<stream *>;

	return all;
}

uint64_t
now_ns()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

bool
try_again(int code)
{
	return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}

void
set_blocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

stream::stream(int descriptor, size_t line_max)
    : fd(descriptor), error(0), size(line_max > 1 ? line_max : 1), room(size),
      buffer(new char[room]), start(0), end(0), given(0), at_end(false), by_line(false),
      reading(false), depth(0), writing(false), end_wanted(false), end_sent(false),
      orphaned(false), owned(true), sent(0), seconds(0), progress_ns(0), timer(nullptr)
{
	set_blocking(fd, false);
}

stream::~stream()
{
	close_now();
}

/* ---- input ---- */

void
stream::read(bool line, aios::rcb_t cb)
{
	if (reader)
		panic("aios: a read while another is pending\n");
	begin_wait();
	reader = cb;
	by_line = line;
	deliver();
}

void
stream::cancel()
{
	reader = nullptr;
	watch_input();
}

void
stream::unread(size_t n)
{
	if (n > start)
		panic("aios: unread of more than has been read\n");
	start -= n;
	given -= n < given ? n : given;
	if (reader && depth == 0)
		deliver();
}

/* A line without its end. A line that is only "\r\n" keeps the "\r", as in the original. */
bool
stream::next_line(str *text)
{
	const char *from = buffer.get() + start;
	const void *found = std::memchr(from, '\n', end - start);

	if (found == nullptr)
		return false;
	size_t length = static_cast<size_t>(static_cast<const char *>(found) - from);
	given = length + 1;
	start += given;
	if (length > 1 && from[length - 1] == '\r')
		length--;
	*text = str(from, length);
	return true;
}

/* What the reader gets now. False: the reader has to wait. */
bool
stream::next(str *text, int *result)
{
	*text = nullptr;
	*result = 0;
	if (by_line && next_line(text))
		return true;
	if (!by_line && start < end) {
		given = end - start;
		*text = str(buffer.get() + start, given);
		start = end;
		return true;
	}
	if (error == 0 && end - start >= size) {
		end = start;
		fail(EFBIG); /* does not call the reader: see deliver */
	}
	*result = error;
	return error != 0 || at_end;
}

/*
 * Call the reader while there is input for it. A reader that reads again is called inside its own
 * readline, as programs expect, but only up to DEPTH_MAX levels; beyond that the outermost loop
 * calls it.
 */
void
stream::deliver()
{
	ptr<stream> self = mkref(this);
	str text;
	int result;

	if (depth == DEPTH_MAX)
		return;
	depth++;
	while (reader && next(&text, &result)) {
		callback<void, str, int>::ptr cb = reader;
		reader = nullptr;
		(*cb)(text, result);
	}
	depth--;
	watch_input();
}

void
stream::watch_input()
{
	bool wanted = reader && fd >= 0 && !at_end && error == 0;

	if (wanted == reading)
		return;
	reading = wanted;
	if (wanted)
		fdcb(fd, selread, wrap(mkref(this), &stream::readable));
	else if (fd >= 0)
		fdcb(fd, selread, nullptr);
}

/* Make room for at least one byte. Keep the bytes that can be unread, besides a line of maximum
 * length. */
void
stream::make_room()
{
	size_t gone = start - given;

	if (end < room)
		return;
	end -= gone;
	start -= gone;
	if (gone > 0) {
		std::memmove(buffer.get(), buffer.get() + gone, end);
		return;
	}
	room = given + size;
	std::unique_ptr<char[]> larger(new char[room]);
	std::memcpy(larger.get(), buffer.get(), end);
	buffer.swap(larger);
}

void
stream::readable()
{
	ptr<stream> self = mkref(this);
	size_t most;
	ssize_t n;

	make_room();
	most = size - (end - start); /* not 0: next fails with EFBIG instead */
	n = ::read(fd, buffer.get() + end, most < room - end ? most : room - end);
	if (n < 0 && try_again(errno))
		return;
	if (n < 0) {
		fail(errno);
	} else if (n == 0) {
		at_end = true;
	} else {
		show(" <== ", buffer.get() + end, static_cast<size_t>(n));
		end += static_cast<size_t>(n);
		progress_ns = now_ns();
	}
	deliver();
}

/* ---- output ---- */

void
stream::watch_output(bool on)
{
	if (on == writing)
		return;
	writing = on;
	if (on) {
		writers().insert(this);
		fdcb(fd, selwrite, wrap(mkref(this), &stream::writable));
	} else {
		writers().erase(this);
		fdcb(fd, selwrite, nullptr);
	}
}

void
stream::output()
{
	if (error != 0 || end_wanted)
		out.clear();
	for (const iovec *v = out.iov(); v < out.tosuio()->iovlim(); v++)
		show(" ==> ", static_cast<const char *>(v->iov_base), v->iov_len);
	if (out.len() > 0)
		begin_wait();
	going.take(out.tosuio());
	if (going.resid() > 0)
		watch_output(true);
}

/* 1: progress; 0: would block; -1: error in errno. */
int
stream::send_some()
{
	size_t before = going.resid();
	int result = 1;

	if (descriptors.empty()) {
		result = going.output(fd);
	} else {
		size_t count = going.iovcnt() < IOV_MAX ? going.iovcnt() : IOV_MAX;
		ssize_t n = writevfd(fd, going.iov(), static_cast<int>(count),
		    descriptors.front());
		if (n < 0)
			return try_again(errno) ? 0 : -1;
		going.rembytes(static_cast<size_t>(n));
		::close(descriptors.front());
		descriptors.pop_front();
	}
	sent += before - going.resid();
	if (before != going.resid())
		progress_ns = now_ns();
	return result;
}

void
stream::writable()
{
	ptr<stream> self = mkref(this);

	if (send_some() < 0)
		fail(errno);
	after_output();
}

void
stream::after_output()
{
	if (fd >= 0 && going.resid() == 0) {
		watch_output(false);
		if (end_wanted && !end_sent && error == 0) {
			end_sent = true;
			(void)shutdown(fd, SHUT_WR);
		}
	}
	tell_waiters();
	if (orphaned && going.resid() == 0)
		close_now();
}

/* Waiters may write, wait again, or abort. */
void
stream::tell_waiters()
{
	while (!waiters.empty() && (error != 0 || waiters.front().mark <= sent)) {
		aios::wcb_t cb = waiters.front().cb;
		waiters.pop_front();
		(*cb)(error);
	}
}

void
stream::when_sent(aios::wcb_t cb)
{
	if (error != 0 || going.resid() == 0)
		(*cb)(error);
	else
		waiters.push_back(waiter{queued(), cb});
}

void
stream::send_descriptor(int passed)
{
	if (error != 0 || fd < 0 || end_wanted)
		::close(passed);
	else
		descriptors.push_back(passed);
}

void
stream::send_end()
{
	ptr<stream> self = mkref(this);

	end_wanted = true;
	if (error == 0 && fd >= 0)
		after_output();
}

int
stream::flush()
{
	ptr<stream> self = mkref(this);

	if (fd < 0 || going.resid() == 0)
		return error;
	set_blocking(fd, true);
	while (error == 0 && going.resid() != 0)
		if (send_some() < 0)
			fail(errno);
	set_blocking(fd, false);
	after_output();
	return error;
}

void
stream::last_words()
{
	std::set<stream *> all = writers();

	for (stream *s : all)
		while (s->going.resid() != 0 && s->send_some() > 0)
			;
}

/* ---- end and errors ---- */

/* Never calls the reader: deliver does, in next. */
void
stream::fail(int code)
{
	ptr<stream> self = mkref(this);

	if (error != 0)
		return;
	error = code;
	going.clear();
	if (fd >= 0) {
		watch_output(false);
		watch_input();
	}
	tell_waiters();
}

void
stream::orphan()
{
	ptr<stream> self = mkref(this);

	orphaned = true;
	cancel();
	if (going.resid() == 0 || error != 0)
		close_now();
}

void
stream::disown()
{
	owned = false;
}

void
stream::close_now()
{
	/* Unless the destructor runs this, the reader may hold the last reference to the stream. */
	callback<void, str, int>::ptr dropped = reader;
	std::deque<waiter> dropped_waiters;

	if (fd < 0)
		return;
	reader = nullptr;
	dropped_waiters.swap(waiters);
	if (error == 0)
		error = EBADF;
	going.clear();
	watch_input();
	watch_output(false);
	if (timer != nullptr)
		timecb_remove(timer);
	timer = nullptr;
	if (owned)
		::close(fd);
	fd = -1;
	for (int passed : descriptors)
		::close(passed);
	descriptors.clear();
}

/* ---- the timeout ---- */

void
stream::limit(time_t wanted)
{
	seconds = wanted > 0 ? wanted : 0;
	if (timer != nullptr)
		timecb_remove(timer);
	timer = nullptr;
	progress_ns = now_ns();
	if (waits())
		begin_wait();
}

/* The stream is about to wait: start the clock, unless it waits already. The timer of an earlier
 * wait may still be armed. */
void
stream::begin_wait()
{
	if (seconds == 0 || fd < 0 || error != 0)
		return;
	if (!waits())
		progress_ns = now_ns();
	if (timer == nullptr)
		arm(static_cast<uint64_t>(seconds) * 1000000000u);
}

void
stream::arm(uint64_t after_ns)
{
	timer = delaycb(static_cast<time_t>(after_ns / 1000000000u),
	    static_cast<u_int32_t>(after_ns % 1000000000u), wrap(mkref(this), &stream::timed_out));
}

/* One timer serves all waits: it checks how long there has been no progress. */
void
stream::timed_out()
{
	uint64_t limit_ns = static_cast<uint64_t>(seconds) * 1000000000u;
	uint64_t idle_ns = now_ns() - progress_ns;
	ptr<stream> self = mkref(this);

	timer = nullptr;
	if (!waits())
		return;
	if (idle_ns < limit_ns) {
		arm(limit_ns - idle_ns);
		return;
	}
	fail(ETIMEDOUT);
	if (orphaned)
		close_now();
	else
		deliver();
}

/* ---- debugging output ---- */

void
stream::show_as(str wanted)
{
	name = wanted;
}

void
stream::show(const char *arrow, const char *bytes, size_t n)
{
	while (name && n > 0) {
		const void *found = std::memchr(bytes, '\n', n);
		size_t length = found == nullptr ? n :
		    static_cast<size_t>(static_cast<const char *>(found) - bytes);
		strbuf line;

		line << name << arrow;
		for (size_t i = 0; i < length; i++) {
			unsigned char c = static_cast<unsigned char>(bytes[i]);
			if (c >= ' ' && c != 0x7f)
				line.tosuio()->copy(bytes + i, 1);
			else if (c != '\r' || i + 1 != length)
				line.fmt("\\x%02x", c);
		}
		warnx << str(line) << "\n";
		if (found != nullptr)
			length++;
		bytes += length;
		n -= length;
	}
}

}
