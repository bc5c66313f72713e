/* SPDX-License-Identifier: MIT */
/*
 * head.c: the line before an answer, alone in a file for the fuzz target.
 */
#include <string.h>

#include "link.h"

bool
link_head(const char *head, bool *ok, size_t *length)
{
	static const char magic[] = "mely/1 ";
	size_t i = sizeof magic - 1 + 6;

	if (memcmp(head, magic, sizeof magic - 1) != 0 || head[LINK_HEAD - 1] != '\n')
		return false;
	if (memcmp(head + sizeof magic - 1, "ok    ", 6) == 0)
		*ok = true;
	else if (memcmp(head + sizeof magic - 1, "error ", 6) == 0)
		*ok = false;
	else
		return false;
	while (i < LINK_HEAD - 2 && head[i] == ' ')
		i++;
	*length = 0;
	for (; i < LINK_HEAD - 1; i++) {
		if (head[i] < '0' || head[i] > '9')
			return false;
		*length = *length * 10 + (size_t)(head[i] - '0');
	}
	return *length <= LINK_MOST;
}
