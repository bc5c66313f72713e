/* SPDX-License-Identifier: MIT */
/*
 * number.h: numbers on the command lines of the servers of this folder.
 */
#ifndef EXAMPLES_NUMBER_H
#define EXAMPLES_NUMBER_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { PORT_MAX = 65535, COUNT_MAX = 1000000000 };

/* text, which has to be digits only; what says which argument it is. */
static inline int
number_argument(const char *program, const char *what, const char *text, int most)
{
	const char *at = text;
	int number = 0;

	while (isdigit((unsigned char)*at) && number <= most / 10 &&
	    number * 10 <= most - (*at - '0'))
		number = number * 10 + (*at++ - '0');
	if (at == text || *at != '\0') {
		fprintf(stderr, "%s: %s is not a number from 0 to %d: %s\n", program, what, most,
		    text);
		exit(1);
	}
	return number;
}

#endif
