/* SPDX-License-Identifier: MIT */
/*
 * aios.h: a descriptor that is read by lines or as data arrives, and written without waiting.
 *
 * Including this header makes standard input and output non-blocking, from before main until exit.
 */
#ifndef _ASYNC_AIOS_H_
#define _ASYNC_AIOS_H_ 1

#include "async.h"
#include "init.h"

#pragma GCC system_header

namespace melycompat {
struct aios_part;
}

/**
 * For color 0 only, where the callbacks run, too. A callback may drop the last reference to the
 * object that calls it.
 *
 * Errors: the first error (an errno code; ETIMEDOUT after settimeout, EFBIG for a line that does
 * not fit) ends the stream. All waiting and all later callbacks receive it, and output is
 * discarded.
 */
class aios : public virtual refcount
{
public:
	/** The text and 0; at the end of the input the null str and 0; on an error the null str and
	 * the error code. */
	typedef callback<void, str, int>::ref rcb_t;
	/** 0 or an error. */
	typedef callback<void, int>::ref wcb_t;
	enum { defrbufsize = 0x2000 };

	/**
	 * Take over fd and make it non-blocking. It is closed after the last reference has been
	 * dropped and all written bytes have been sent. line_max: the longest line with its end, in
	 * bytes.
	 */
	static ref<aios> alloc(int fd, size_t line_max = defrbufsize);

	/** The descriptor; -1 after abort. */
	int fdno() const;

	/**
	 * cb is called once with the next line, without its "\n" or "\r\n"; but "\r\n" alone is the
	 * line "\r". A last line without an end is dropped. cb may be called before readline
	 * returns. A second read while one is pending is a panic.
	 */
	void readline(rcb_t cb);
	/** Like readline, but with all available bytes, at least one. */
	void readany(rcb_t cb);
	/** Cancel the pending read, if any, and drop its callback. */
	void readcancel();
	/** Put back the last n bytes read, line ends included: at most the bytes of the last
	 * callback, even if more have arrived since; more is a panic. A pending read may get them
	 * before unread returns. */
	void unread(size_t n);

	/** Append a copy of the bytes to the output. Does not wait. */
	void write(const void *bytes, size_t n);
	void writev(const iovec *iov, int count);
	/** Pass the descriptor `sent` along with the next bytes written (Unix sockets only), then
	 * close it. */
	void sendfd(int sent);
	/** Shut the descriptor down for writing when all has been sent. */
	void sendeof();
	/** Call cb after the bytes written so far have been sent, or after an error. If nothing is
	 * pending, call it before setwcb returns. */
	void setwcb(wcb_t cb);
	/** Send all output now. Blocks. Returns 0 or the error of the stream. */
	int flush();

	/** Fail with ETIMEDOUT after this number of seconds without progress, while a read or
	 * output is pending. 0, the default: no limit. */
	void settimeout(time_t seconds);
	/** From now on print all input and output to standard error, line by line, prefixed with
	 * this name; the null str stops it. */
	void setdebug(str name);
	/** Close the descriptor now. Unsent output is lost; waiting callbacks are dropped. */
	void abort();

	/** For operator<<: the buffer to append to, and the notice that it has appended; for the
	 * exit: keep the descriptor open. */
	const strbuf &_output() const;
	void _started();
	void _disown();

protected:
	aios(int fd, size_t line_max);
	virtual ~aios();

private:
	melycompat::aios_part *const part;

	aios(const aios &);
	aios &operator=(const aios &);
};

typedef ref<aios> aios_t;

/** The target of `stream << x << y`; it is sent at the end of the expression. */
class aiosout : public strbuf
{
public:
	aiosout(const ref<aios> &a) : strbuf(a->_output()), stream(a) {}
	aiosout(const ptr<aios> &a) : strbuf(a->_output()), stream(a) {}
	aiosout(const aiosout &a) : strbuf(a), stream(a.stream) {}
	~aiosout() { stream->_started(); }

private:
	ref<aios> stream;

	aiosout &operator=(const aiosout &);
};

template <class T> inline const aiosout &
operator<<(const aiosout &to, const T &x)
{
	strbuf_cat(to, x);
	return to;
}

/** Standard input and output. At exit aout is flushed, and both are made blocking again. */
extern ptr<aios> ain;
extern ptr<aios> aout;

#ifndef MELYCOMPAT_IN_AIOS
INIT(aiosinit);
#else /* the library itself must not change standard input and output */
class aiosinit
{
public:
	static int count;
	static void start();
	static void stop();
};
#endif

#endif
