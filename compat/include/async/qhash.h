/* SPDX-License-Identifier: MIT */
/*
 * qhash.h, dialect "async": hash tables that own copies of their values.
 *
 *     qhash<K, V>    a value for each key
 *     bhash<K>       a set of keys
 *
 * One color at a time uses a table. Pointers to its values are valid until the values are removed;
 * a growing table does not move them.
 */
#ifndef MELYCOMPAT_ASYNC_QHASH_H
#define MELYCOMPAT_ASYNC_QHASH_H

#include "ihash.h"
#include "refcnt.h"
#include "vec.h"

#pragma GCC system_header

/**
 * The result of a lookup: a pointer to the value, or NULL; for counted references a new ptr.
 * Programs specialise it.
 */
template <class V> struct qhash_lookup_return {
	typedef V *type;
	typedef const V *const_type;
	static type ret(V *v) { return v; }
	static const_type const_ret(V *v) { return v; }
};

template <class T> struct qhash_lookup_return<ref<T> > {
	typedef ptr<T> type;
	typedef ptr<const T> const_type;
	static type
	ret(ref<T> *v)
	{
		if (v != NULL)
			return *v;
		return NULL;
	}
	static const_type
	const_ret(ref<T> *v)
	{
		if (v != NULL)
			return *v;
		return NULL;
	}
};

/** A key and its value in a table. Programs specialise it to allocate it elsewhere. */
template <class K, class V> struct qhash_slot {
	ihash_entry<qhash_slot> link;
	const K key;
	V value;

	qhash_slot(const K &k, const V &v) : key(k), value(v) {}
};

template <class K> struct bhash_slot {
	ihash_entry<bhash_slot> link;
	const K key;

	explicit bhash_slot(const K &k) : key(k) {}
};

namespace melycompat {

/* A table of slots, one for each key; S has link and key. */
template <class K, class S, class H, class E> class slot_table
    : private ihash_core<S, &S::link> {
	typedef ihash_core<S, &S::link> core;

	E _eq;
	H _hash;

public:
	typedef S slot;

	slot_table() {}
	slot_table(const E &eq, const H &hash) : _eq(eq), _hash(hash) {}
	slot_table(const slot_table &from) : core(), _eq(from._eq), _hash(from._hash)
	{
		copy(from);
	}
	~slot_table() { core::deleteall(); }

	slot_table &
	operator=(const slot_table &from)
	{
		if (&from != this) {
			clear();
			copy(from);
		}
		return *this;
	}

	/** The number of keys. */
	using core::size;

	/** Drop all keys and values. */
	void clear() { core::deleteall(); }
	void deleteall() { core::deleteall(); }

	/** Drop a key, if it is in the table. */
	void
	remove(const K &k)
	{
		if (S *s = getslot(k))
			delslot(s);
	}

	/** The slots in no particular order: first, and from one to the next; NULL at the end. */
	using core::first;
	using core::next;

	/** The slot of a key or NULL. */
	S *
	getslot(const K &k) const
	{
		S *s = core::lookup_val(_hash(k));

		while (s != NULL && !_eq(k, s->key))
			s = core::next_val(s);
		return s;
	}

protected:
	void addslot(S *s) { core::insert_val(s, _hash(s->key)); }

	/* Unlink first, since the destructor of a value may use the table. */
	void
	delslot(S *s)
	{
		core::remove(s);
		delete s;
	}

private:
	void
	copy(const slot_table &from)
	{
		for (const S *s = from.first(); s != NULL; s = from.next(s)) {
			S *slot = new S(*s);

			core::insert_val(slot, (s->link).val);
		}
	}
};

/* Iterates over the slots of a table; the slot returned last may be removed meanwhile. */
template <class K, class S, class T> class slot_iterator {
	const T *_table;
	S *_slot;

public:
	explicit slot_iterator(const T &table) : _table(&table), _slot(table.first()) {}

	/** Start again. */
	void reset() { _slot = _table->first(); }

protected:
	S *
	step()
	{
		S *s = _slot;

		if (s != NULL)
			_slot = _table->next(s);
		return s;
	}
};

}

/* ---- qhash ---- */

template <class K, class V, class H = hashfn<K>, class E = equals<K>,
    class R = qhash_lookup_return<V> >
class qhash : public melycompat::slot_table<K, qhash_slot<K, V>, H, E> {
	typedef melycompat::slot_table<K, qhash_slot<K, V>, H, E> base;

public:
	typedef qhash_slot<K, V> slot;

	qhash() {}
	qhash(const E &eq, const H &hash) : base(eq, hash) {}

	/** Insert a value, or replace the value of this key. */
	void
	insert(const K &k, const V &v)
	{
		if (slot *s = base::getslot(k))
			s->value = v;
		else
			base::addslot(New slot(k, v));
	}
	/** Insert a default value, or replace the value of this key with it. */
	void insert(const K &k) { insert(k, V()); }

	/** Drop a key and its value. */
	using base::remove;

	/** Drop a key and store its value in *v. False: no such key, and *v does not change. */
	bool
	remove(const K &k, V *v)
	{
		slot *s = base::getslot(k);

		if (s == NULL)
			return false;
		*v = s->value;
		base::delslot(s);
		return true;
	}

	/** The address of the value of a key, or NULL; for V = ref<T> a ptr<T>. */
	typename R::type
	operator[](const K &k)
	{
		slot *s = base::getslot(k);

		return R::ret(s != NULL ? &s->value : NULL);
	}
	typename R::const_type
	operator[](const K &k) const
	{
		slot *s = base::getslot(k);

		return R::const_ret(s != NULL ? &s->value : NULL);
	}

	/** Call cb with each key and the address of its value; it may remove that key. */
	void
	traverse(typename callback<void, const K &, V *>::ref cb)
	{
		slot *next;

		for (slot *s = base::first(); s != NULL; s = next) {
			next = base::next(s);
			(*cb)(s->key, &s->value);
		}
	}
};

/**
 * Iterates over the keys and values of a table. The key returned last may be removed from the table
 * meanwhile; keys inserted meanwhile may be skipped.
 */
template <class K, class V, class H = hashfn<K>, class E = equals<K>,
    class R = qhash_lookup_return<V> >
class qhash_const_iterator_t
    : public melycompat::slot_iterator<K, qhash_slot<K, V>, qhash<K, V, H, E, R> > {
	typedef melycompat::slot_iterator<K, qhash_slot<K, V>, qhash<K, V, H, E, R> > base;

public:
	explicit qhash_const_iterator_t(const qhash<K, V, H, E, R> &table) : base(table) {}

	/** The next key, NULL at the end; a copy of its value goes to *v unless v is NULL. */
	const K *
	next(V *v = NULL)
	{
		const qhash_slot<K, V> *s = base::step();

		if (s == NULL)
			return NULL;
		if (v != NULL)
			*v = s->value;
		return &s->key;
	}
};

template <class K, class V, class H = hashfn<K>, class E = equals<K>,
    class R = qhash_lookup_return<V> >
class qhash_iterator_t : public qhash_const_iterator_t<K, V, H, E, R> {
public:
	explicit qhash_iterator_t(qhash<K, V, H, E, R> &table)
	    : qhash_const_iterator_t<K, V, H, E, R>(table)
	{
	}
};

/* ---- bhash ---- */

template <class K, class H = hashfn<K>, class E = equals<K> > class bhash
    : public melycompat::slot_table<K, bhash_slot<K>, H, E> {
	typedef melycompat::slot_table<K, bhash_slot<K>, H, E> base;

public:
	typedef bhash_slot<K> slot;

	bhash() {}
	bhash(const E &eq, const H &hash) : base(eq, hash) {}

	/** Insert a key. False: the set already has it. */
	bool
	insert(const K &k)
	{
		if (base::getslot(k) != NULL)
			return false;
		base::addslot(New slot(k));
		return true;
	}

	/** Does the set have a key? */
	bool operator[](const K &k) const { return base::getslot(k) != NULL; }

	/** Call cb with each key; it may remove that one. */
	void
	traverse(typename callback<void, const K &>::ref cb)
	{
		slot *next;

		for (slot *s = base::first(); s != NULL; s = next) {
			next = base::next(s);
			(*cb)(s->key);
		}
	}
};

/** Iterates over the keys of a set; the key returned last may be removed meanwhile. */
template <class K, class H = hashfn<K>, class E = equals<K> > class bhash_const_iterator_t
    : public melycompat::slot_iterator<K, bhash_slot<K>, bhash<K, H, E> > {
	typedef melycompat::slot_iterator<K, bhash_slot<K>, bhash<K, H, E> > base;

public:
	explicit bhash_const_iterator_t(const bhash<K, H, E> &table) : base(table) {}

	/** The next key, NULL at the end. */
	const K *
	next()
	{
		const bhash_slot<K> *s = base::step();

		return s != NULL ? &s->key : NULL;
	}
};

#endif
