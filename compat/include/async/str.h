/* SPDX-License-Identifier: MIT */
/*
 * str.h, dialect "async": counted strings that never change, and buffers to make them.
 *
 * A str may be copied and dropped by any thread; a strbuf or mstr belongs to one color at a time.
 *
 * Formats are those of printf, but: no floating point ("%f" prints an f and takes no argument), no
 * %n, %m is the text of errno, %q is %ll, %D %U %O are %ld %lu %lo, and a null %s panics.
 */
#ifndef MELYCOMPAT_ASYNC_STR_H
#define MELYCOMPAT_ASYNC_STR_H

#include "sysconf.h"

#include "keyfunc.h"
#include "suio++.h"
#include "vec.h"

#pragma GCC system_header

class mstr;
class strbuf;

/** The counted part of a str: bytes in one allocation, followed by a NUL. */
class strobj {
public:
	/**
	 * Room for n bytes, with a count of one; the NUL is set. wipe, unless NULL, is called with
	 * bytes that are dropped, by the thread that drops them, just before their memory is freed.
	 */
	static strobj *alloc(size_t n, void (*wipe)(char *p, size_t n) = 0);

	char *dat() { return reinterpret_cast<char *>(this + 1); }
	size_t len() const { return _len; }

	void hold() { __atomic_fetch_add(&_count, 1, __ATOMIC_RELAXED); }
	void
	drop()
	{
		/* acquire: the last holder sees what the others did before their release */
		if (__atomic_load_n(&_count, __ATOMIC_ACQUIRE) == 1 ||
		    __atomic_sub_fetch(&_count, 1, __ATOMIC_ACQ_REL) == 0)
			destroy();
	}

private:
	friend class mstr;

	strobj(size_t n, void (*wipe)(char *, size_t)) : _len(n), _wipe(wipe), _count(1) {}
	void
	destroy()
	{
		if (_wipe != 0)
			_wipe(dat(), _len);
		free(this);
	}
	void shrink(size_t n);

	size_t _len;
	void (*const _wipe)(char *, size_t);
	int _count;
};

/** Reports the use of a null str as a string, and raises SIGSEGV as the original would. */
void melycompat_null_str() __attribute__((noreturn, cold));

/**
 * A string that does not change: its length is known, it may contain NUL bytes, and a NUL follows
 * it. The null str is not the empty one: it is false, its cstr() is NULL, and it must not be used
 * as a string.
 */
class str {
public:
	str() : _obj(0) {}
	str(const str &s) : _obj(s._obj)
	{
		if (_obj != 0)
			_obj->hold();
	}
	/** A copy of p; null for NULL. */
	str(const char *p) : _obj(0)
	{
		if (p != 0)
			make(p, strlen(p));
	}
	str(const char *p, size_t n) { make(p, n); }
	str(const iovec *iov, size_t cnt) { make(iov, cnt); }
	explicit str(const suio &uio) { make(uio.iov(), uio.iovcnt()); }
	str(const strbuf &sb);
	/** Takes over the bytes of m, which becomes null. */
	str(mstr &m);
#if __cplusplus >= 201103L
	str(mstr &&m);
#endif
	~str()
	{
		if (_obj != 0)
			_obj->drop();
	}

	str &
	operator=(const str &s)
	{
		strobj *old = _obj;

		if (s._obj != 0)
			s._obj->hold();
		_obj = s._obj;
		if (old != 0)
			old->drop();
		return *this;
	}
	str &operator=(const char *p) { return *this = str(p); }
	str &operator=(const strbuf &sb) { return *this = str(sb); }
	str &operator=(mstr &m) { return *this = str(m); }

	void
	swap(str &s)
	{
		strobj *obj = _obj;

		_obj = s._obj;
		s._obj = obj;
	}

	/** Replace the string by a copy of n bytes. */
	str &setbuf(const char *p, size_t n) { return *this = str(p, n); }
	str &setiov(const iovec *iov, size_t cnt) { return *this = str(iov, cnt); }

	const char *cstr() const { return _obj != 0 ? _obj->dat() : 0; }
	operator const char *() const { return cstr(); }
	size_t len() const { return need()->len(); }
	char operator[](ptrdiff_t i) const { return need()->dat()[i]; }

	/** Negative, 0 or positive: memcmp over the shorter length, then the difference of the
	 * lengths. */
	int cmp(const str &s) const { return cmp(s.cstr(), s.len()); }
	int cmp(const char *p) const { return cmp(p, strlen(p)); }
	int cmp(const char *p, size_t n) const;

	bool
	operator==(const str &s) const
	{
		return len() == s.len() && memcmp(cstr(), s.cstr(), len()) == 0;
	}
	bool operator!=(const str &s) const { return !(*this == s); }
	/** NULL equals only the null str. */
	bool
	operator==(const char *p) const
	{
		return _obj == 0 || p == 0 ? cstr() == p : cmp(p) == 0;
	}
	bool operator!=(const char *p) const { return !(*this == p); }
	bool operator<(const str &s) const { return cmp(s) < 0; }
	bool operator<=(const str &s) const { return cmp(s) <= 0; }
	bool operator>(const str &s) const { return cmp(s) > 0; }
	bool operator>=(const str &s) const { return cmp(s) >= 0; }
	bool operator<(const char *p) const { return cmp(p) < 0; }
	bool operator<=(const char *p) const { return cmp(p) <= 0; }
	bool operator>(const char *p) const { return cmp(p) > 0; }
	bool operator>=(const char *p) const { return cmp(p) >= 0; }

	/**
	 * The whole string as a number of this base; with base 0, 0x and 0 select it as in C.
	 * False, with *out unchanged, if it is not a number or out of range.
	 */
	bool to_int32(int32_t *out, int base = 10) const;
	bool to_int64(int64_t *out, int base = 10) const;
	bool to_uint32(u_int32_t *out, int base = 10) const;
	bool to_uint64(u_int64_t *out, int base = 10) const;
	bool to_double(double *out) const;

	/** A buffer that starts with this string: str t = s << x << y. */
	template <class T> strbuf operator<<(const T &x) const;
	strbuf operator<<(int x) const;

protected:
	enum as_it_is_t { as_it_is };
	str(as_it_is_t) {}
	void
	hold() const
	{
		if (_obj != 0)
			_obj->hold();
	}

private:
	friend void suio_print(suio *uio, const str &s);

	void make(const char *p, size_t n);
	void make(const iovec *iov, size_t cnt);
	strobj *
	need() const
	{
		if (__builtin_expect(_obj == 0, 0))
			melycompat_null_str();
		return _obj;
	}

	strobj *_obj;
};

inline bool
operator==(const char *p, const str &s)
{
	return s == p;
}

inline bool
operator!=(const char *p, const str &s)
{
	return s != p;
}

/**
 * A str for globals that are used before their initialization and after their destruction: it
 * relies on zeroed memory and never frees its string.
 */
class bssstr : public str {
public:
	bssstr() : str(as_it_is) {}
	~bssstr() { hold(); }

	bssstr &
	operator=(const str &s)
	{
		str::operator=(s);
		return *this;
	}
};

/** Up to len bytes of s from pos on; "" if pos is at or behind the end. Any thread. */
inline str
substr(const str &s, size_t pos, size_t len = static_cast<size_t>(-1))
{
	if (pos >= s.len())
		return str("", 0);
	return str(s.cstr() + pos, len < s.len() - pos ? len : s.len() - pos);
}

/** Writable bytes that become a str without being copied. */
class mstr {
public:
	/** n uninitialised bytes. */
	explicit mstr(size_t n) : _obj(strobj::alloc(n)) {}
	~mstr()
	{
		if (_obj != 0)
			_obj->drop();
	}

	/** NULL, and 0 bytes, after a str has taken them over. */
	char *cstr() { return _obj != 0 ? _obj->dat() : 0; }
	const char *cstr() const { return _obj != 0 ? _obj->dat() : 0; }
	operator char *() { return cstr(); }
	operator const char *() const { return cstr(); }
	size_t len() const { return _obj != 0 ? _obj->len() : 0; }
	char &operator[](ptrdiff_t i) { return cstr()[i]; }
	const char &operator[](ptrdiff_t i) const { return cstr()[i]; }

	/** Keep the first n bytes; panics if there are fewer. */
	void setlen(size_t n);

protected:
	/** Bytes that are wiped when the last str of them is dropped: see strobj. */
	mstr(size_t n, void (*wipe)(char *p, size_t n)) : _obj(strobj::alloc(n, wipe)) {}

private:
	friend class str;

	mstr(const mstr &);
	mstr &operator=(const mstr &);

	strobj *
	release()
	{
		strobj *obj = _obj;

		_obj = 0;
		return obj;
	}

	strobj *_obj;
};

inline str::str(mstr &m) : _obj(m.release())
{
}

#if __cplusplus >= 201103L
inline str::str(mstr &&m) : _obj(m.release())
{
}
#endif

#include "strbuf.h"

#endif
