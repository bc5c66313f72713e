/* SPDX-License-Identifier: MIT */
/* async_dice.h: pseudorandom numbers for randomized tests, the same sequence in each run. */
#ifndef MELY_TESTS_ASYNC_DICE_H
#define MELY_TESTS_ASYNC_DICE_H

class dice
{
	unsigned long _state;

public:
	explicit dice(unsigned long seed) : _state(seed) {}

	/* 0 to n - 1. */
	unsigned
	operator()(unsigned n)
	{
		_state = (_state * 1103515245ul + 12345ul) & 0x7ffffffful;
		return unsigned(_state >> 8) % n;
	}
};

#endif
