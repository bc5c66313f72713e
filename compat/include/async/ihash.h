/* SPDX-License-Identifier: MIT */
/*
 * ihash.h, dialect "async": hash tables of elements that carry their own links.
 *
 *     struct user { const str name; ihash_entry<user> link; };
 *     ihash<const str, user, &user::name, &user::link> users;
 *
 *     ihash    by a member
 *     shash    by a member of a base class of the element; ishash means the same
 *     fhash    by keyfn<V, K>, a function that returns the key
 *     ihash2   by two members
 *     ihash_iterator_t   one element of a table after the other
 *
 * Several elements may have one key. The key of an element must not change while it is in a table.
 * The table does not own its elements and cannot be copied. The caller ensures that an element is
 * in at most one table per link, and leaves it before the element or the table dies. A copy of an
 * element is in no table. One color at a time uses a table.
 */
#ifndef MELYCOMPAT_ASYNC_IHASH_H
#define MELYCOMPAT_ASYNC_IHASH_H

#include "callback.h"
#include "keyfunc.h"
#include "list.h"
#include "vec.h"

#pragma GCC system_header

template <class V> struct ihash_entry {
	V *next;
	V **pprev; /* the pointer to this element; NULL: it is in no table */
	hash_t val;

	ihash_entry() : next(NULL), pprev(NULL), val(0) {}
	ihash_entry(const ihash_entry &) : next(NULL), pprev(NULL), val(0) {}
	ihash_entry &operator=(const ihash_entry &) { return *this; }
};

/** The part that does not depend on the keys: elements by their hash values. */
template <class V, ihash_entry<V> V::*field> class ihash_core {
public:
	ihash_core() : _chains(NULL), _bits(0), _size(0) {}
	~ihash_core() { delete[] _chains; }

	/** The number of elements. */
	size_t size() const { return _size; }

	/** Forget all elements without touching them: do not remove them afterwards. */
	void
	clear()
	{
		delete[] _chains;
		_chains = NULL;
		_bits = 0;
		_size = 0;
	}

	/** Delete all elements. Their destructors may remove them from the table. */
	void
	deleteall()
	{
		V *next;

		for (V *elm = first(); elm != NULL; elm = next) {
			next = this->next(elm);
			delete elm;
		}
		clear();
	}

	/** Remove an element; no effect if it is in no table. */
	void
	remove(V *elm)
	{
		ihash_entry<V> &link = elm->*field;

		if (link.pprev == NULL)
			return;
		unchain(link);
		_size--;
	}

	/** The elements in no particular order: the first and the next ones; NULL at the end. */
	V *first() const { return first_from(0); }
	V *
	next(const V *elm) const
	{
		const ihash_entry<V> &link = elm->*field;

		return link.next != NULL ? link.next : first_from(chain_of(link.val) + 1);
	}

	/** Call cb with each element; it may remove and delete that element. */
	void
	traverse(typename callback<void, V *>::ref cb)
	{
		V *next;

		for (V *elm = first(); elm != NULL; elm = next) {
			next = this->next(elm);
			(*cb)(elm);
		}
	}
	/** Call a method of each element; it may remove and delete that element. */
	void
	traverse(void (V::*fn)())
	{
		V *next;

		for (V *elm = first(); elm != NULL; elm = next) {
			next = this->next(elm);
			(elm->*fn)();
		}
	}
	void
	traverse(typename callback<void, const V &>::ref cb) const
	{
		for (const V *elm = first(); elm != NULL; elm = next(elm))
			(*cb)(*elm);
	}

protected:
	/* Insert an element with this hash value. */
	void
	insert_val(V *elm, hash_t val)
	{
		if (_size >= chains())
			grow();
		_size++;
		(elm->*field).val = val;
		chain(elm);
	}

	/* The first element of this hash value, and the next one with the value of elm. */
	V *
	lookup_val(hash_t val) const
	{
		return _chains == NULL ? NULL : same_val(_chains[chain_of(val)], val);
	}
	static V *
	next_val(const V *elm)
	{
		return same_val((elm->*field).next, (elm->*field).val);
	}

private:
	V **_chains; /* 1 << _bits of them, or NULL */
	unsigned _bits;
	size_t _size;

	ihash_core(const ihash_core &);
	ihash_core &operator=(const ihash_core &);

	size_t chains() const { return _chains == NULL ? 0 : size_t(1) << _bits; }

	/* Multiply first, because hashes of integers differ in the low bits. */
	size_t
	chain_of(hash_t val) const
	{
		return size_t((u_int64_t(val * 2654435769U) << _bits) >> 32);
	}

	static V *
	same_val(V *elm, hash_t val)
	{
		while (elm != NULL && (elm->*field).val != val)
			elm = (elm->*field).next;
		return elm;
	}

	V *
	first_from(size_t i) const
	{
		size_t n = chains();

		while (i < n && _chains[i] == NULL)
			i++;
		return i < n ? _chains[i] : NULL;
	}

	/* Before the others of its value. */
	void
	chain(V *elm)
	{
		ihash_entry<V> &link = elm->*field;
		V **head = &_chains[chain_of(link.val)];

		link.next = *head;
		link.pprev = head;
		if (*head != NULL)
			((*head)->*field).pprev = &link.next;
		*head = elm;
	}

	static void
	unchain(ihash_entry<V> &link)
	{
		*link.pprev = link.next;
		if (link.next != NULL)
			(link.next->*field).pprev = link.pprev;
		link.next = NULL;
		link.pprev = NULL;
	}

	void
	grow()
	{
		V **old = _chains;
		size_t n = chains();

		_bits = old == NULL ? 4 : _bits + 1;
		_chains = new V *[size_t(1) << _bits]();
		for (size_t i = 0; i < n; i++)
			rechain(old[i]);
		delete[] old;
	}

	/* From the last to the first, so elements of one value keep their order. */
	void
	rechain(V *elm)
	{
		V *last = NULL;

		while (elm != NULL) {
			V *next = (elm->*field).next;

			(elm->*field).next = last;
			last = elm;
			elm = next;
		}
		while (last != NULL) {
			V *next = (last->*field).next;

			chain(last);
			last = next;
		}
	}
};

namespace melycompat {

/* The key of an element that is its member, or that of a class it is derived from. */
template <class K, class V, class S, K S::*key> struct member_key {
	K &operator()(V *v) const { return v->*key; }
};

/* A table by the key that F, with the arguments of hashfn and equals, finds in an element. */
template <class K, class V, ihash_entry<V> V::*field, class H, class E, class F>
class hash_by : public ihash_core<V, field> {
	typedef ihash_core<V, field> core;

	E _eq;
	H _hash;
	F _key;

public:
	hash_by() {}
	hash_by(const E &eq, const H &hash) : _eq(eq), _hash(hash) {}

	/** Insert an element that is in no table. */
	void insert(V *elm) { core::insert_val(elm, _hash(_key(elm))); }

	/** The element with this key that was inserted last, or NULL. */
	V *operator[](const K &k) const { return same(core::lookup_val(_hash(k)), k); }

	/** The next element with the key of this one or NULL. */
	V *nextkeq(V *elm) const { return same(core::next_val(elm), _key(elm)); }

private:
	V *
	same(V *elm, const K &k) const
	{
		while (elm != NULL && !_eq(k, _key(elm)))
			elm = core::next_val(elm);
		return elm;
	}
};

}

template <class K, class V, K V::*key, ihash_entry<V> V::*field, class H = hashfn<K>,
    class E = equals<K> >
class ihash
    : public melycompat::hash_by<K, V, field, H, E, melycompat::member_key<K, V, V, key> > {
	typedef melycompat::hash_by<K, V, field, H, E, melycompat::member_key<K, V, V, key> > base;

public:
	ihash() {}
	ihash(const E &eq, const H &hash) : base(eq, hash) {}
};

template <class K, class V, class S, K S::*key, ihash_entry<V> V::*field, class H = hashfn<K>,
    class E = equals<K> >
class shash
    : public melycompat::hash_by<K, V, field, H, E, melycompat::member_key<K, V, S, key> > {
	typedef melycompat::hash_by<K, V, field, H, E, melycompat::member_key<K, V, S, key> > base;

public:
	shash() {}
	shash(const E &eq, const H &hash) : base(eq, hash) {}
};

template <class K, class V, class S, K S::*key, ihash_entry<V> V::*field, class H = hashfn<K>,
    class E = equals<K> >
class ishash : public shash<K, V, S, key, field, H, E> {
public:
	ishash() {}
	ishash(const E &eq, const H &hash) : shash<K, V, S, key, field, H, E>(eq, hash) {}
};

template <class K, class V, ihash_entry<V> V::*field, class H = hashfn<K>, class E = equals<K>,
    class F = keyfn<V, K> >
class fhash : public melycompat::hash_by<K, V, field, H, E, F> {
public:
	fhash() {}
	fhash(const E &eq, const H &hash) : melycompat::hash_by<K, V, field, H, E, F>(eq, hash) {}
};

template <class K1, class K2, class V, K1 V::*key1, K2 V::*key2, ihash_entry<V> V::*field,
    class H1 = hashfn<K1>, class H2 = hashfn<K2>, class E1 = equals<K1>, class E2 = equals<K2> >
class ihash2 : public ihash_core<V, field> {
	typedef ihash_core<V, field> core;

	E1 _eq1;
	E2 _eq2;
	H1 _hash1;
	H2 _hash2;

public:
	ihash2() {}

	/** Insert an element that is in no table. */
	void insert(V *elm) { core::insert_val(elm, hash(elm->*key1, elm->*key2)); }

	/** The element with these keys that was inserted last, or NULL. */
	V *
	operator()(const K1 &k1, const K2 &k2) const
	{
		return same(core::lookup_val(hash(k1, k2)), k1, k2);
	}

	/** The next element with the keys of this one or NULL. */
	V *
	nextkeq(V *elm) const
	{
		return same(core::next_val(elm), elm->*key1, elm->*key2);
	}

private:
	hash_t
	hash(const K1 &k1, const K2 &k2) const
	{
		return u_int32_t(_hash1(k1)) * 33 ^ u_int32_t(_hash2(k2));
	}

	V *
	same(V *elm, const K1 &k1, const K2 &k2) const
	{
		while (elm != NULL && !(_eq1(k1, elm->*key1) && _eq2(k2, elm->*key2)))
			elm = core::next_val(elm);
		return elm;
	}
};

/**
 * Iterates over the elements V of a table of type H. The element returned last may be removed
 * meanwhile.
 */
template <class V, class H> class ihash_iterator_t {
	H &_table;
	V *_next;

public:
	ihash_iterator_t(H &table) : _table(table), _next(table.first()) {}

	/** The next element, NULL at the end. */
	V *
	next()
	{
		V *elm = _next;

		if (elm != NULL)
			_next = _table.next(elm);
		return elm;
	}
};

#endif
