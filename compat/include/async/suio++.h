/* SPDX-License-Identifier: MIT */
/*
 * suio++.h, dialect "async": a queue of bytes as a chain of iovecs, so that bytes already in memory
 * can be written without being copied.
 *
 * Bytes are appended at the end (copy, print, take, input) and removed at the front (rembytes,
 * output). A suio has no lock: one color at a time uses it.
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

/** Iterates over an array of iovecs, which must outlive it and is not changed. */
class iovmgr {
public:
	iovmgr(const iovec *iov, size_t cnt) : _iov(iov), _end(iov + cnt), _used(0) {}

	/** Advance by n bytes; panics if there are fewer. */
	void skip(size_t n);
	/** Copy up to len bytes to buf and advance by them. Returns their number. */
	size_t copyout(char *buf, size_t len);
	/** The bytes that are left. */
	size_t size() const { return iovsize(_iov, _end - _iov) - _used; }

private:
	const iovec *_iov, *_end;
	size_t _used; /* number of bytes consumed of the first iovec */
};

class suio {
public:
	enum {
		smallbufsize = 128, /**< print copies up to this many bytes */
		blocksize = 8192    /**< size of an allocation for copies */
	};

	suio();
	/** Calls clear; bytes that callbacks append then are dropped without running their
	 * callbacks. */
	~suio();

	/** Remove all bytes and run their callbacks. */
	void clear();

	/** The number of bytes stored, and their iovecs; valid until the suio changes. */
	size_t resid() const { return _resid; }
	const iovec *iov() const { return _iov; }
	const iovec *iovlim() const { return _iov + _count; }
	size_t iovcnt() const { return _count; }
	/** The numbers of bytes and of iovecs removed since the construction. */
	u_int64_t byteno() const { return _byteno; }
	u_int64_t iovno() const { return _iovno; }

	/** Append a copy of n bytes. */
	void copy(const void *p, size_t n);
	/**
	 * Append n bytes; more than smallbufsize are not copied and must not change until they are
	 * removed. Bytes written to the room of getspace are appended in place.
	 */
	void print(const void *p, size_t n);
	/** Append a copy of iovecs, without their first skip bytes, or of another suio. */
	void copyv(const iovec *iov, size_t cnt, size_t skip = 0);
	void copyu(const suio *uio) { copyv(uio->iov(), uio->iovcnt()); }
	/** Append the byte c n times. */
	void fill(char c, ssize_t n);
	/**
	 * Move all of another suio to the end of this one, with its callbacks. The bytes are not
	 * copied, unless there are at most smallbufsize.
	 */
	void take(suio *uio);

	/**
	 * Room for n bytes, valid until the next call for this suio: write into it, then print the
	 * bytes written. The second function returns an address that is a multiple of 8.
	 */
	char *getspace(size_t n);
	char *getspace_aligned(size_t n);

	/** Make the bytes appended next start a new iovec. */
	void breakiov() { _broken = true; }

	/**
	 * Call cb when all bytes now stored have been removed, or now if there are none. It runs
	 * inside rembytes and the functions that use it, in the caller's color, whatever the
	 * callback's. It may use the suio, but not delete it.
	 */
	void iovcb(cbv cb);

	/** Remove n bytes at the front; panics if there are fewer. */
	void rembytes(size_t n);

	/** Copy up to len bytes from the front without removing them. Returns their number. */
	size_t copyout(void *buf, size_t len) const;
	size_t copyout(void *buf) const { return copyout(buf, _resid); }
	/** The length of the first line with its newline; 0: there is no newline. */
	size_t linelen() const;

	/** Read once, at most len bytes; retries on EINTR. Returns the result, with errno. */
	int input(int fd, size_t len = blocksize);
	/**
	 * Write and remove up to cnt iovecs; if cnt is -1, until all is written or fd accepts no
	 * more. 1: wrote some bytes; 0: wrote none; -1: an error, in errno.
	 */
	int output(int fd, int cnt = -1);

	/** Keep a reference to a string until all bytes now stored have been removed. */
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

	iovec *_iov;           /* the first one not removed */
	size_t _count;
	iovec *_array;         /* their memory: _few, or allocated */
	size_t _room;
	size_t _resid;
	u_int64_t _byteno, _iovno;
	char *_block;          /* room for copies: its start, the unused part, its end */
	char *_free, *_limit;
	mark *_marks;          /* the actions after the removal of bytes, in order */
	mark **_marks_end;
	bool _broken;
	iovec _few[few];
};

/** All bytes of a suio in one piece of memory from malloc. */
char *suio_flatten(const suio *uio);

/** Append as printf does (but see str.h), or append a string, long ones by reference. */
void suio_uprintf(suio *uio, const char *fmt, ...);
void suio_vuprintf(suio *uio, const char *fmt, va_list ap);
void suio_print(suio *uio, const str &s);
inline void
suio_print(suio *uio, const void *p, size_t n)
{
	uio->print(p, n);
}

/** Remove the first line and return it without its "\n" or "\r\n"; null: no complete line. */
str suio_getline(suio *uio);

/** Overwrite all bytes with zeroes. */
inline void
iovscrub(const iovec *iov, int cnt)
{
	for (; cnt > 0; cnt--, iov++)
		explicit_bzero(iov->iov_base, iov->iov_len); /* the compiler may drop a memset */
}

/* The methods as functions. */
#define suio_fill(uio, c, n) (uio)->fill(c, n)
#define suio_copy(uio, p, n) (uio)->copy(p, n)
#define suio_callback(uio, cb) (uio)->iovcb(cb)
#define suio_printcheck(uio, p, n) (uio)->print(p, n)

#endif
