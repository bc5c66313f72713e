/* SPDX-License-Identifier: MIT */
/* plain_hunt.c: a hunt checks the order of plain accesses; see plain.h. */
#include "order.h"
#include "plain.h"

void
sim_plain(const void *p, size_t bytes, bool write)
{
	sim_order_plain(p, bytes, write);
}

void
sim_plain_range(const void *p, size_t bytes, bool write)
{
	sim_order_plain_range(p, bytes, write);
}
