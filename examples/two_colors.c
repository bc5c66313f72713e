/* SPDX-License-Identifier: MIT */
/*
 * two_colors.c: a bank of two accounts, each with its own color. The two run in parallel. Only
 * events of its color touch a balance, so there are no locks. A transfer is an event to the other
 * account. A join counter reports when both have finished.
 */
#include <stdio.h>
#include <stdlib.h>
#include <mely/mely.h>

enum { TRANSFERS = 100000 };

struct account {
	struct mely_color color;
	struct account *other;
	long balance;
	int sent, received;
};

static struct mely_join both;

static void
on_receive(void *arg)
{
	struct account *account = arg;

	account->balance += 3;
	if (++account->received == TRANSFERS)
		mely_join_done(&both);
}

static struct mely_handler receive_handler = MELY_HANDLER(on_receive);

static void on_send(void *arg);
static struct mely_handler send_handler = MELY_HANDLER(on_send);

static void
on_send(void *arg)
{
	struct account *account = arg;

	account->balance -= 3;
	mely_post(&account->other->color, &receive_handler, account->other);
	if (++account->sent < TRANSFERS)
		mely_post(&account->color, &send_handler, account);
}

/* The event of the join runs after everything that both have done. */
static void
on_both(void *arg)
{
	struct account *accounts = arg;

	printf("%ld + %ld = %ld\n", accounts[0].balance, accounts[1].balance,
	    accounts[0].balance + accounts[1].balance);
	mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
}

static struct mely_handler both_handler = MELY_HANDLER(on_both);

int
main(void)
{
	static struct account accounts[2];
	struct mely_event over = MELY_EVENT(&both_handler, accounts);
	struct mely_color *teller;
	struct mely_runtime *rt;
	int i;

	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 0, &teller) != 0)
		return 1;
	if (mely_join_init(&both, 2, teller, &over) != 0)
		return 1;
	for (i = 0; i < 2; i++) {
		accounts[i].balance = 500000;
		accounts[i].other = &accounts[1 - i];
		if (mely_color_init(&accounts[i].color, rt) != 0 ||
		    mely_post(&accounts[i].color, &send_handler, &accounts[i]) != 0)
			return 1;
	}
	if (mely_run(rt) != 0)
		return 1;
	return mely_runtime_free(rt);
}
