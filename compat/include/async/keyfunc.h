/* SPDX-License-Identifier: MIT */
/*
 * keyfunc.h, dialect "async": how hash tables and trees handle keys.
 *
 *     compare<K>    negative, 0, positive: by operator<
 *     equals<K>     by operator==
 *     hashfn<K>     a hash_t: the value of an integer, cut to 32 bits; the contents of a str
 *     keyfn<V, K>   the key of an element, if it is not a member: for fhash
 *
 * A program specialises them for its own types, or passes others as template arguments. K and
 * const K have equal ones. A char * stands for the C string that it points at; other pointers have
 * no hashfn, because it would have to guess.
 *
 * Any thread may call all of them.
 */
#ifndef MELYCOMPAT_ASYNC_KEYFUNC_H
#define MELYCOMPAT_ASYNC_KEYFUNC_H

#include "sysconf.h"

#pragma GCC system_header

class str;

/**
 * A hash value. A class, so that a program can overload functions for it, and declare it; otherwise
 * like a number of 32 bits.
 */
class hash_t {
public:
	hash_t() : _value(0) {}
	hash_t(u_int32_t value) : _value(value) {}
	operator u_int32_t() const { return _value; }

private:
	u_int32_t _value;
};

/** The hash of no bytes, with which a chain of hash_bytes and hash_string begins. */
enum { HASHSEED = 5381 };

/** The hash of n bytes, continued from seed. */
inline u_int32_t
hash_bytes(const void *p, size_t n, u_int32_t seed = HASHSEED)
{
	const unsigned char *byte = static_cast<const unsigned char *>(p);

	for (; n > 0; n--)
		seed = (seed * 33) ^ *byte++;
	return seed;
}

/** The hash of a C string, which is that of its bytes without the NUL. */
inline u_int32_t
hash_string(const void *p, u_int32_t seed = HASHSEED)
{
	return hash_bytes(p, strlen(static_cast<const char *>(p)), seed);
}

/** The 32 bits of value rotated to the left, for a hash of several numbers. */
inline u_int32_t
hash_rotate(u_int32_t value, u_int32_t bits)
{
	bits %= 32;
	return bits == 0 ? value : value << bits | value >> (32 - bits);
}

/* ---- compare ---- */

template <class T> struct compare {
	compare() {}
	int operator()(const T &a, const T &b) const { return a < b ? -1 : b < a; }
};

template <class T> struct compare<const T> : compare<T> {
	compare() {}
};

template <> struct compare<const char *> {
	compare() {}
	int operator()(const char *a, const char *b) const { return strcmp(a, b); }
};

template <> struct compare<char *> : compare<const char *> {
	compare() {}
};

/* ---- equals ---- */

template <class T> struct equals {
	equals() {}
	bool operator()(const T &a, const T &b) const { return a == b; }
};

template <class T> struct equals<const T> : equals<T> {
	equals() {}
};

template <> struct equals<const char *> {
	equals() {}
	bool operator()(const char *a, const char *b) const { return strcmp(a, b) == 0; }
};

template <> struct equals<char *> : equals<const char *> {
	equals() {}
};

/* ---- hashfn ---- */

template <class T> struct hashfn {
	hashfn() {}
	hash_t operator()(const T &a) const { return hash_t(a); }
};

template <class T> struct hashfn<const T> : hashfn<T> {
	hashfn() {}
};

/* Not defined, so that hashing a pointer does not compile. */
template <class T> struct hashfn<T *>;

template <> struct hashfn<const char *> {
	hashfn() {}
	hash_t operator()(const char *a) const { return hash_string(a); }
};

template <> struct hashfn<char *> : hashfn<const char *> {
	hashfn() {}
};

template <> struct MELYCOMPAT_API hashfn<str> {
	hashfn() {}
	hash_t operator()(const str &a) const;
};

template <> struct hashfn<in_addr> {
	hashfn() {}
	hash_t operator()(const in_addr &a) const { return a.s_addr; }
};

/** The address and the port, as == of amisc.h. */
template <> struct hashfn<sockaddr_in> {
	hashfn() {}
	hash_t
	operator()(const sockaddr_in &a) const
	{
		return hash_bytes(&a.sin_addr, sizeof a.sin_addr, a.sin_port);
	}
};

/* ---- keyfn ---- */

/** Unless a program specialises it: the result of the element's method key(). */
template <class V, class K> struct keyfn {
	keyfn() {}
	const K &operator()(V *v) const { return v->key(); }
};

#endif
