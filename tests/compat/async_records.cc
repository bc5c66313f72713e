/* SPDX-License-Identifier: MIT */
/*
 * async_records.cc: lookups of mail exchangers, services and texts in dialect "async", with the
 * test's own name server. Part of section 2 of the facts.
 */
#include "look_ups.h"

static void
name_server_knows(const char *name, int type, struct name_answer *a)
{
	if ((is(name, "mail.test") || is(name, "short-mail.search.test")) && type == ns_t_mx) {
		name_mx(a, name, 20, "b.test");
		name_mx(a, name, 10, "a.test");
		name_mx(a, name, 300, "c.test");
		name_a(a, "a.test", "127.0.0.4", true);
		name_a(a, "other.test", "127.0.0.5", true);
	} else if (is(name, "_www._tcp.srv.test") && type == ns_t_srv) {
		name_srv(a, name, 2, 7, 82, "two.test");
		name_srv(a, name, 1, 0, 81, "one.test");
		name_srv(a, name, 3, 1, 83, "three.test");
		name_a(a, "two.test", "127.0.0.6", true);
	} else if (is(name, "_weight._tcp.srv.test") && type == ns_t_srv) {
		name_srv(a, name, 1, 0, 80, "never.test");
		name_srv(a, name, 1, 60000, 80, "often.test");
	} else if (is(name, "text.test") && type == ns_t_txt) {
		name_txt(a, name, "one ", "string");
		name_txt(a, name, "another", NULL);
	} else if (is(name, "silent.test"))
		a->none = true;
	else if (is(name, "broken.test")) {
		name_mx(a, name, 10, "a.test");
		a->broken = true;
	} else if (is(name, "fail.test"))
		a->code = ns_r_servfail;
	else if (!is(name, "host.test")) /* which has no such records */
		a->code = ns_r_nxdomain;
}

/* ---- records ---- */

static void
got_mx(ptr<mxlist> l, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(l->m_name, "mail.test"));
	FACT_EQ(l->m_nmx, 3);
	FACT(l->m_mxes[0].pref == 10 && is(l->m_mxes[0].name, "a.test"));
	FACT(l->m_mxes[1].pref == 20 && is(l->m_mxes[1].name, "b.test"));
	FACT(l->m_mxes[2].pref == 300 && is(l->m_mxes[2].name, "c.test"));
	FACT(is(l->m_hints[0]->h_name, "a.test"));
	FACT_EQ(l->m_hints[0]->h_addrtype, AF_INET);
	FACT_EQ(l->m_hints[0]->h_length, 4);
	check_addr(l->m_hints[0]->h_address, "127.0.0.4");
	FACT(l->m_hints[1] == NULL); /* the other one was not requested */
	FACTS_END();
}

static void
mx()
{
	name_server_start();
	FACT(dns_mxbyname("mail.test", wrap(got_mx)) != NULL);
	returned = true;
	amain();
}

static void
got_short_mx(ptr<mxlist> l, int err)
{
	FACT_EQ(err, 0);
	FACT(is(l->m_name, "short-mail.search.test"));
	FACTS_END();
}

static void
mx_searches()
{
	name_server_start();
	dns_mxbyname("short-mail", wrap(got_short_mx), true);
	amain();
}

static void
got_srv(ptr<srvlist> l, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(l->s_name, "_www._tcp.srv.test"));
	FACT_EQ(l->s_nsrv, 3);
	FACT(l->s_srvs[0].prio == 1 && l->s_srvs[0].weight == 0 && l->s_srvs[0].port == 81);
	FACT(is(l->s_srvs[0].name, "one.test"));
	FACT(l->s_srvs[1].prio == 2 && l->s_srvs[1].weight == 7 && l->s_srvs[1].port == 82);
	FACT(is(l->s_srvs[2].name, "three.test"));
	FACT(is(l->s_hints[0]->h_name, "two.test") && l->s_hints[1] == NULL);
	FACTS_END();
}

static void
srv()
{
	name_server_start();
	FACT(dns_srvbyname("_www._tcp.srv.test", wrap(got_srv)) != NULL);
	returned = true;
	amain();
}

static void
srv_by_parts()
{
	name_server_start();
	FACT(dns_srvbyname("srv.test", "tcp", "www", wrap(got_srv)) != NULL);
	returned = true;
	amain();
}

static void
got_weights(int *left, ptr<srvlist> l, int err)
{
	static int first;

	FACT_EQ(err, 0);
	FACT_EQ(l->s_nsrv, 2);
	first += is(l->s_srvs[0].name, "often.test");
	if (--*left == 0) {
		FACT(first >= 19); /* weight 0 comes first once in 60,000 draws */
		FACTS_END();
	}
}

static void
srv_by_weight()
{
	static int left = 20;
	int i;

	name_server_start();
	for (i = 0; i < 20; i++)
		dns_srvbyname("_weight._tcp.srv.test", wrap(got_weights, &left));
	amain();
}

static void
got_txt(ptr<txtlist> l, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(l->t_name, "text.test"));
	FACT_EQ(l->t_ntxt, 2);
	FACT(strcmp(l->t_txts[0], "one string") == 0);
	FACT(strcmp(l->t_txts[1], "another") == 0);
	printtxtlist("texts", l);
	FACTS_END();
}

static void
txt()
{
	name_server_start();
	FACT(dns_txtbyname("text.test", wrap(got_txt)) != NULL);
	returned = true;
	amain();
}

/* ---- errors ---- */

static void
no_answer_of_records()
{
	name_server_start(1);
	dns_txtbyname("silent.test", wrap(failed<txtlist>, int(ARERR_TIMEOUT)));
	returned = true;
	amain();
}

static void
server_fails_of_records()
{
	name_server_start();
	dns_srvbyname("fail.test", wrap(failed<srvlist>, int(SERVFAIL)));
	returned = true;
	amain();
}

static void
no_record()
{
	name_server_start();
	dns_mxbyname("host.test", wrap(failed<mxlist>, int(ARERR_NXREC)));
	returned = true;
	amain();
}

static void
malformed()
{
	name_server_start();
	dns_mxbyname("broken.test", wrap(failed<mxlist>, int(ARERR_BADRESP)));
	returned = true;
	amain();
}

static void
no_such_name()
{
	name_server_start();
	dns_txtbyname("absent.test", wrap(failed<txtlist>, int(NXDOMAIN)));
	returned = true;
	amain();
}

static void
no_name()
{
	dns_srvbyname(str(NULL), wrap(failed<srvlist>, int(ARERR_REQINVAL)));
	returned = true;
	amain();
}

static const struct fact facts[] = {
	CASE(mx),
	CASE_ON(2, mx_searches),
	CASE_ON(2, srv),
	CASE_ON(2, srv_by_parts),
	CASE_ON(2, srv_by_weight),
	CASE_ON(2, txt),
	CASE_ON(2, no_answer_of_records),
	CASE_ON(2, server_fails_of_records),
	CASE_ON(2, no_record),
	CASE_ON(2, malformed),
	CASE_ON(2, no_such_name),
	CASE_ON(2, no_name),
};

FACTS_MAIN(facts)
