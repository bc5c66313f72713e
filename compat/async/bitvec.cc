/* SPDX-License-Identifier: MIT */
/* bitvec.cc: arrays of bits, stored in words. */
#include "bitvec.h"

#include "str.h"

#include <algorithm>
#include <utility>

bitvec::~bitvec()
{
	free(_words);
}

bitvec &
bitvec::operator=(const bitvec &v)
{
	if (&v == this)
		return *this;
	setsize(v._size);
	if (_size > 0)
		std::copy_n(v._words, (_size + word_bits - 1) / word_bits, _words);
	return *this;
}

void
bitvec::swap(bitvec &v)
{
	std::swap(_words, v._words);
	std::swap(_room, v._room);
	std::swap(_size, v._size);
}

void
bitvec::setsize(size_t n)
{
	size_t needed = n / word_bits + (n % word_bits != 0);

	if (needed > _room) {
		size_t room = std::max(needed, 2 * _room);
		word *words = static_cast<word *>(realloc(_words, room * sizeof(word)));

		if (words == nullptr)
			container_misused("bitvec: no memory");
		std::fill(words + _room, words + room, word(0));
		_words = words;
		_room = room;
	}
	_size = n;
}

void
bitvec::fill_to(size_t n, bool v)
{
	size_t have = _size;

	setsize(n);
	if (n > have)
		setrange(have, n, v);
}

void
bitvec::setrange(size_t s, size_t e, bool v)
{
	if (s > e || e > _size)
		container_misused("bitvec: range out of range");
	while (s < e) {
		size_t from = s % word_bits;
		size_t bits = std::min(e - s, word_bits - from);
		word ones = (~word(0) >> (word_bits - bits)) << from;
		word &w = _words[s / word_bits];

		w = v ? w | ones : w & ~ones;
		s += bits;
	}
}

const strbuf &
strbuf_cat(const strbuf &sb, const bitvec &v)
{
	mstr text(v.size());

	for (size_t i = 0; i < v.size(); i++)
		text[i] = v.at(i) ? '1' : '0';
	return strbuf_cat(sb, str(text));
}
