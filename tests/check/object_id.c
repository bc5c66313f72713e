/* SPDX-License-Identifier: MIT */
/*
 * Fault: an account has a color object. A client posts to "its id": mely_color_id of an object is
 * 0, the id of the default color.
 * Twin: the client posts to the object.
 * expect: on_deposit on_withdraw account
 */
#include "fault.h"

static struct account {
	struct mely_color color;
	long balance;
} account;

static void
on_deposit(void *arg)
{
	struct account *to = arg;

	to->balance += 10;
	done();
}

static void
on_withdraw(void *arg)
{
	struct account *from = arg;

	from->balance -= 10;
	done();
}

static struct mely_handler deposit = MELY_HANDLER(on_deposit);
static struct mely_handler withdraw = MELY_HANDLER(on_withdraw);

int
main(void)
{
	begin(2);
	MUST(mely_color_init(&account.color, rt));
	MUST(mely_color_set_name(&account.color, "account"));
	MUST(mely_post(&account.color, &deposit, &account));
#ifdef FIXED
	MUST(mely_post(&account.color, &withdraw, &account));
#else
	MUST(mely_post_id(rt, mely_color_id(&account.color), &withdraw, &account));
#endif
	return run();
}
