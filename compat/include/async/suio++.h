/* SPDX-License-Identifier: MIT */
/*
 * suio++.h, dialect "async": a queue of bytes as a chain of iovecs, so that bytes that lie
 * somewhere already need not be moved to be written.
 *
 * Bytes are put in behind (copy, print, take, input) and go at the front (rembytes, output). A suio
 * belongs to one color at a time: it has no lock.
 */
#ifndef MELYCOMPAT_ASYNC_SUIO_H
#define MELYCOMPAT_ASYNC_SUIO_H

#include "sysconf.h"

#include "callback.h"

#pragma GCC system_header

class str;

/** The number of bytes of an array of iovecs. Any thread. */
inline size_t
iovsize(const iovec *iov, size_t cnt)
{
	size_t n = 0;

	while (cnt-- > 0)
		n += (iov++)->iov_len;
	return n;
}

/** A way through an array of iovecs, which has to outlive it and is not changed. */
class iovmgr {
public:
	iovmgr(const iovec *iov, size_t cnt) : _iov(iov), _end(iov + cnt), _used(0) {}

	/** Go forward by n bytes; panics when there are fewer. */
	void skip(size_t n);
	/** Copy up to len bytes to buf and go forward by them. Returns how many they were. */
	size_t copyout(char *buf, size_t len);
	/** The bytes that are left. */
	size_t size() const { return iovsize(_iov, _end - _iov) - _used; }

private:
	const iovec *_iov, *_end;
	size_t _used; /* bytes of the first */
};

class suio {
public:
	enum {
		smallbufsize = 128, /**< print copies what is not longer */
		blocksize = 8192    /**< bytes in an allocation of room for copies */
	};

	suio();
	/** As clear; what callbacks put in then goes without theirs. */
	~suio();

	/** Remove all bytes; their callbacks run. */
	void clear();

	/** The bytes that are in it, and the iovecs that they are in, until it changes. */
	size_t resid() const { return _resid; }
	const iovec *iov() const { return _iov; }
	const iovec *iovlim() const { return _iov + _count; }
	size_t iovcnt() const { return _count; }
	/** How many bytes, and iovecs, have been removed since it was made. */
	u_int64_t byteno() const { return _byteno; }
	u_int64_t iovno() const { return _iovno; }

	/** Append a copy of n bytes. */
	void copy(const void *p, size_t n);
	/**
	 * Append n bytes; more than smallbufsize are not copied and have to stay as they are until
	 * they are removed. What getspace gave is appended where it lies.
	 */
	void print(const void *p, size_t n);
	/** Append a copy of iovecs but for their first skip bytes, or of another suio. */
	void copyv(const iovec *iov, size_t cnt, size_t skip = 0);
	void copyu(const suio *uio) { copyv(uio->iov(), uio->iovcnt()); }
	/** Append n times the byte c. */
	void fill(char c, ssize_t n);
	/**
	 * Append all of another suio, which is empty then: callbacks, and bytes as they lie, but
	 * copied when there are no more than smallbufsize.
	 */
	void take(suio *uio);

	/**
	 * Room for n bytes, here until the next call for this suio: write into it, then print as
	 * many of them as there are. The second one's address is a multiple of 8.
	 */
	char *getspace(size_t n);
	char *getspace_aligned(size_t n);

	/** What is appended next begins an iovec of its own. */
	void breakiov() { _broken = true; }

	/**
	 * cb is called when all bytes that are in now have been removed: inside of rembytes and
	 * what is made of it, in the caller's color, whatever the callback's. Now, if there are
	 * none. It may use the suio, but not delete it.
	 */
	void iovcb(cbv cb);

	/** Remove n bytes at the front; panics when there are fewer. */
	void rembytes(size_t n);

	/** Copy up to len bytes of the front, and leave them. Returns how many. */
	size_t copyout(void *buf, size_t len) const;
	size_t copyout(void *buf) const { return copyout(buf, _resid); }
	/** The length of the first line with its newline; 0 when there is no newline. */
	size_t linelen() const;

	/** One read of at most len bytes: its result and errno. EINTR is tried again. */
	int input(int fd, size_t len = blocksize);
	/**
	 * Write and remove, up to cnt iovecs or, when cnt is -1, until all is written or fd takes
	 * no more. 1: some were written; 0: none, or there are none; -1: an error, in errno.
	 */
	int output(int fd, int cnt = -1);

	/** Keep a reference to a string until all bytes that are in now have been removed. */
	void hold_onto(const str &s);

private:
	suio(const suio &);
	suio &operator=(const suio &);

	class mark;
	class mark_of_block;
	class mark_of_callback;
	class mark_of_str;

	void append(const void *p, size_t n);
	void grow();
	void new_block(size_t n);
	void retire_block();
	void add_mark(mark *m);
	void run_marks();

	enum { few = 4 };

	iovec *_iov;           /* the first that is not removed */
	size_t _count;
	iovec *_array;         /* where they are: _few, or allocated */
	size_t _room;
	size_t _resid;
	u_int64_t _byteno, _iovno;
	char *_block;          /* room for copies: the whole, what is not used yet, its end */
	char *_free, *_limit;
	mark *_marks;          /* the actions after the removal of bytes, in order */
	mark **_marks_end;
	bool _broken;
	iovec _few[few];
};

/** All bytes of a suio in one piece, from malloc. */
char *suio_flatten(const suio *uio);

/** Append as printf does (str.h says how it differs), or a string, long ones by reference. */
void suio_uprintf(suio *uio, const char *fmt, ...);
void suio_vuprintf(suio *uio, const char *fmt, va_list ap);
void suio_print(suio *uio, const str &s);
inline void
suio_print(suio *uio, const void *p, size_t n)
{
	uio->print(p, n);
}

/** Take the first line off, without its "\n" or "\r\n"; null when there is no whole line. */
str suio_getline(suio *uio);

/** Overwrite all bytes with zeroes. */
inline void
iovscrub(const iovec *iov, int cnt)
{
	for (; cnt > 0; cnt--, iov++)
		explicit_bzero(iov->iov_base, iov->iov_len); /* memset may be left out */
}

/* The methods as functions. */
#define suio_fill(uio, c, n) (uio)->fill(c, n)
#define suio_copy(uio, p, n) (uio)->copy(p, n)
#define suio_callback(uio, cb) (uio)->iovcb(cb)
#define suio_printcheck(uio, p, n) (uio)->print(p, n)

#endif
