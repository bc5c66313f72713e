/* SPDX-License-Identifier: MIT */
/*
 * loopmem.h: memory for a libev loop that is being made: NOTE(memory of libev) in poller.c.
 */
#ifndef MELYINT_IO_LOOPMEM_H
#define MELYINT_IO_LOOPMEM_H

#include <stddef.h>

/* More blocks than a loop with two watchers has arrays. */
enum { MELYINT_LOOPMEM_BLOCKS = 12 };

/* What libev may take on this thread when there is no other memory. */
struct melyint_loopmem {
	size_t size;
	int left;
	void *block[MELYINT_LOOPMEM_BLOCKS];
};

/* Until melyint_loopmem_end, calls of libev by this thread for a loop that watches fd get what they
 * need. 0 or -ENOMEM; *memory stays valid until the end. */
int melyint_loopmem_begin(struct melyint_loopmem *memory, int fd);
void melyint_loopmem_end(void);

#endif
