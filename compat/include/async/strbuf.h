/* SPDX-License-Identifier: MIT */
/*
 * strbuf.h, dialect "async": a buffer for appending text; str.h includes it.
 *
 * A program can append a type of its own after it defines a function
 *
 *     const strbuf &strbuf_cat(const strbuf &sb, const T &x);
 *
 * or an operator<< with the same arguments.
 */
#ifndef MELYCOMPAT_ASYNC_STRBUF_H
#define MELYCOMPAT_ASYNC_STRBUF_H

#include "str.h"

#pragma GCC system_header

/**
 * A buffer for text. A copy refers to the same buffer, and every method is const, so that a
 * temporary can be used like a variable.
 */
class strbuf {
public:
	strbuf() : uio(new shared) {}
	strbuf(const str &s);
	strbuf(const char *fmt, ...);
	strbuf(const strbuf &sb) : uio(sb.uio)
	{
		__atomic_fetch_add(&uio->count, 1, __ATOMIC_RELAXED);
	}
	~strbuf()
	{
		/* acquire: the last one sees what the others appended */
		if (__atomic_load_n(&uio->count, __ATOMIC_ACQUIRE) == 1 ||
		    __atomic_sub_fetch(&uio->count, 1, __ATOMIC_ACQ_REL) == 0)
			delete uio;
	}

	suio *tosuio() const { return uio; }
	const iovec *iov() const { return tosuio()->iov(); }
	size_t iovcnt() const { return tosuio()->iovcnt(); }
	size_t len() const { return tosuio()->resid(); }
	void clear() const { tosuio()->clear(); }

	/** Append as printf does. A string of more than 128 bytes is not copied, as with buf. */
	const strbuf &fmt(const char *fmt, ...) const;
	const strbuf &vfmt(const char *fmt, va_list ap) const;
	/** Append n bytes; more than 128 are not copied and must outlive the buffer. */
	const strbuf &
	buf(const char *p, size_t n) const
	{
		tosuio()->print(p, n);
		return *this;
	}
	/** Append a copy of a string; if copy is false, as buf does. */
	const strbuf &cat(const char *p, bool copy = true) const;
	/** Append a string; long strings by reference. */
	const strbuf &
	cat(const str &s) const
	{
		suio_print(tosuio(), s);
		return *this;
	}
	/** Append a copy of another buffer. */
	const strbuf &
	cat(const strbuf &sb) const
	{
		tosuio()->copyu(sb.tosuio());
		return *this;
	}
	/** Append as << does: for chains of method calls. */
	template <class A> const strbuf &cat(const A &a) const;
	/** Append a copy of n bytes. */
	void copy(const char *p, size_t n) const { tosuio()->copy(p, n); }
	/** Move all bytes of another buffer to this one. */
	const strbuf &
	take(const strbuf &sb) const
	{
		return take(sb.tosuio());
	}
	const strbuf &
	take(suio *from) const
	{
		tosuio()->take(from);
		return *this;
	}
	/** Keep a reference to s while the bytes now in the buffer remain. */
	const strbuf &
	hold_onto(const str &s) const
	{
		tosuio()->hold_onto(s);
		return *this;
	}

	/** Append: numbers, also char and bool, in decimal; pointers other than strings as %p. */
	template <class T> const strbuf &operator<<(const T &x) const;
	/* For unnamed enumerations, which C++98 does not accept as template arguments. */
	const strbuf &operator<<(int x) const;

private:
	strbuf &operator=(const strbuf &);

	struct shared : public suio {
		shared() : count(1) {}
		int count;
	};

protected:
	/** The buffer, for derived classes: loggers write uio->output(fd) in their destructor. */
	shared *const uio;
};

inline str::str(const strbuf &sb)
{
	make(sb.iov(), sb.iovcnt());
}

/** Bytes in lower-case hexadecimal: sb << hexdump(p, n) reads them. */
class hexdump {
public:
	hexdump(const void *p, size_t n) : buf(p), len(n) {}

	const void *const buf;
	const size_t len;
};

const strbuf &strbuf_cat(const strbuf &sb, int x);
const strbuf &strbuf_cat(const strbuf &sb, unsigned x);
const strbuf &strbuf_cat(const strbuf &sb, long x);
const strbuf &strbuf_cat(const strbuf &sb, unsigned long x);
const strbuf &strbuf_cat(const strbuf &sb, long long x);
const strbuf &strbuf_cat(const strbuf &sb, unsigned long long x);
/** Like %f of printf. */
const strbuf &strbuf_cat(const strbuf &sb, double x);
const strbuf &strbuf_cat(const strbuf &sb, const void *p);
const strbuf &strbuf_cat(const strbuf &sb, const hexdump &hd);

inline const strbuf &
strbuf_cat(const strbuf &sb, const char *p, bool copy = true)
{
	return sb.cat(p, copy);
}

inline const strbuf &
strbuf_cat(const strbuf &sb, const str &s)
{
	return sb.cat(s);
}

inline const strbuf &
strbuf_cat(const strbuf &sb, const strbuf &from)
{
	return sb.cat(from);
}

template <class T> inline const strbuf &
strbuf::operator<<(const T &x) const
{
	return strbuf_cat(*this, x);
}

template <class A> inline const strbuf &
strbuf::cat(const A &a) const
{
	return strbuf_cat(*this, a);
}

inline const strbuf &
strbuf::operator<<(int x) const
{
	return strbuf_cat(*this, x);
}

template <class T> inline strbuf
str::operator<<(const T &x) const
{
	strbuf sb(*this);

	sb << x;
	return sb;
}

inline strbuf
str::operator<<(int x) const
{
	return strbuf(*this) << x;
}

/** A chain that begins with a literal: str t = "a " << s << y. */
inline strbuf
operator<<(const char *p, const str &s)
{
	return str(p) << s;
}

#endif
