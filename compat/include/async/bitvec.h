/* SPDX-License-Identifier: MIT */
/*
 * bitvec.h, dialect "async": arrays of bits. Used by one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_BITVEC_H
#define MELYCOMPAT_ASYNC_BITVEC_H

#include "misuse.h"

#pragma GCC system_header

class strbuf;

class MELYCOMPAT_API bitvec {
	typedef unsigned long word;

public:
	/** An assignable reference to a bit. */
	class bit
	{
		word *_word;
		word _mask;

	public:
		bit(word *w, word mask) : _word(w), _mask(mask) {}
		bit(const bit &b) : _word(b._word), _mask(b._mask) {}
		operator bool() const { return (*_word & _mask) != 0; }

		bit &
		operator=(bool v)
		{
			*_word = v ? *_word | _mask : *_word & ~_mask;
			return *this;
		}
		bit &operator=(const bit &b) { return *this = bool(b); }
	};

	/** An empty vector; a vector of n zero bits. */
	bitvec() : _words(NULL), _room(0), _size(0) {}
	explicit bitvec(size_t n) : _words(NULL), _room(0), _size(0) { zsetsize(n); }
	bitvec(const bitvec &v) : _words(NULL), _room(0), _size(0) { *this = v; }
	~bitvec();

	bitvec &operator=(const bitvec &v);

	/** The number of bits. */
	size_t size() const { return _size; }

	/** Change the number of bits to n; new bits are undefined, 0, or 1. */
	void setsize(size_t n);
	void zsetsize(size_t n) { fill_to(n, false); }
	void osetsize(size_t n) { fill_to(n, true); }

	/** Set the bits from s up to, but not including, e to v. */
	void setrange(size_t s, size_t e, bool v);

	/** A bit. An index out of range ends the program, here and above. */
	bool
	at(size_t i) const
	{
		check(i);
		return (_words[i / word_bits] & mask(i)) != 0;
	}
	void at(size_t i, bool v) { (*this)[i] = v; }
	/** The index of the first zero bit; -1: none. */
	int
	first_unset_bit() const
	{
		for (size_t i = 0; i < _size; i++)
			if (!at(i))
				return int(i);
		return -1;
	}
	bool operator[](size_t i) const { return at(i); }
	bit
	operator[](size_t i)
	{
		check(i);
		return bit(&_words[i / word_bits], mask(i));
	}

	void swap(bitvec &v);

private:
	enum { word_bits = 8 * sizeof(word) };

	word *_words;
	size_t _room; /* in words */
	size_t _size; /* in bits */

	static word mask(size_t i) { return word(1) << i % word_bits; }
	void fill_to(size_t n, bool v);

	void
	check(size_t i) const
	{
		if (i >= _size)
			container_misused("bitvec: index out of range");
	}
};

inline void
swap(bitvec &a, bitvec &b)
{
	a.swap(b);
}

/** The bits as characters 0 and 1, from index 0 on. */
MELYCOMPAT_API const strbuf &strbuf_cat(const strbuf &sb, const bitvec &v);

#endif
