/* SPDX-License-Identifier: MIT */
/*
 * async_dns.cc: lookups in dialect "async", with the test's own name server. Part of section 2 of
 * the facts.
 */
#include "counted.h"
#include "look_ups.h"

static void
name_server_knows(const char *name, int type, struct name_answer *a)
{
	if (is(name, "host.test") && type == ns_t_a) {
		name_a(a, name, "127.0.0.3", false);
		name_a(a, name, "127.0.0.2", false);
	} else if (is(name, "alias.test") && type == ns_t_a) {
		name_link(a, name, ns_t_cname, "host.test");
		name_a(a, "host.test", "127.0.0.3", false);
	} else if (is(name, "short.search.test") && type == ns_t_a)
		name_a(a, name, "127.0.0.9", false);
	else if (is(name, "7.0.0.10.in-addr.arpa") && type == ns_t_ptr)
		name_link(a, name, ns_t_ptr, "seven.test");
	else if (is(name, "seven.test") && type == ns_t_a)
		name_a(a, name, "10.0.0.7", false);
	else if (is(name, "8.0.0.10.in-addr.arpa") && type == ns_t_ptr)
		name_link(a, name, ns_t_ptr, "host.test");
	else if (is(name, "silent.test"))
		a->none = true;
	else if (is(name, "fail.test"))
		a->code = ns_r_servfail;
	else if (!is(name, "host.test")) /* which has no other records */
		a->code = ns_r_nxdomain;
}

static in_addr
addr_of(const char *text)
{
	in_addr a;

	FACT(inet_aton(text, &a) != 0);
	return a;
}

/* ---- hosts ---- */

static void
got_host(ptr<hostent> h, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(h->h_name, "host.test"));
	FACT_EQ(h->h_addrtype, AF_INET);
	FACT_EQ(h->h_length, 4);
	FACT(h->h_aliases[0] == NULL);
	check_addr(h->h_addr_list[0], "127.0.0.3");
	check_addr(h->h_addr_list[1], "127.0.0.2");
	FACT(h->h_addr_list[2] == NULL);
	FACTS_END();
}

static void
host()
{
	name_server_start();
	FACT(dns_hostbyname("host.test", wrap(got_host)) != NULL);
	returned = true;
	amain();
}

static void
ask_inside()
{
	dns_hostbyname("host.test", wrap(got_host));
	returned = true;
}

static void
host_inside()
{
	name_server_start();
	delaycb(0, 0, wrap(ask_inside));
	amain();
}

static void
host_by_acheck()
{
	name_server_start();
	dns_hostbyname("host.test", wrap(got_host));
	returned = true;
	for (;;)
		acheck();
}

static void
got_alias(ptr<hostent> h, int err)
{
	FACT_EQ(err, 0);
	FACT(is(h->h_name, "host.test"));
	FACT(is(h->h_aliases[0], "alias.test"));
	FACTS_END();
}

static void
alias()
{
	name_server_start();
	dns_hostbyname("alias.test", wrap(got_alias));
	amain();
}

static void
got_localhost(ptr<hostent> h, int err)
{
	FACT_EQ(err, 0);
	check_addr(h->h_addr_list[0], "127.0.0.1");
	FACTS_END();
}

/* /etc/hosts takes precedence over name servers. */
static void
host_of_file()
{
	name_server_start();
	dns_hostbyname("localhost", wrap(got_localhost));
	amain();
}

static void
got_quad(ptr<hostent> h, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(h->h_name, "10.1.2.3"));
	check_addr(h->h_addr_list[0], "10.1.2.3");
	FACT(h->h_addr_list[1] == NULL);
	FACTS_END();
}

static void
quad()
{
	FACT(dns_hostbyname("10.1.2.3", wrap(got_quad)) != NULL);
	returned = true;
	amain();
}

/* ---- errors ---- */

static void
no_host(const char *name, int wanted, bool addrok)
{
	name_server_start();
	dns_hostbyname(name, wrap(failed<hostent>, wanted), false, addrok);
	returned = true;
	amain();
}

static void
no_such_host()
{
	no_host("absent.test", NXDOMAIN, true);
}

static void
server_fails()
{
	no_host("fail.test", SERVFAIL, true);
}

static void
quad_is_no_name()
{
	no_host("10.1.2.3", NXDOMAIN, false);
}

static void
null_name()
{
	no_host(NULL, ARERR_REQINVAL, true);
}

static void
empty_name()
{
	no_host("", ARERR_REQINVAL, true);
}

static void
long_name()
{
	char name[5000];

	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	no_host(name, ARERR_REQINVAL, true);
}

static void
no_answer()
{
	name_server_start(1);
	dns_hostbyname("silent.test", wrap(failed<hostent>, int(ARERR_TIMEOUT)));
	returned = true;
	amain();
}

/* An invalid name server: one lookup after another. */
static void
ask_wrong_server(int i, ptr<hostent> h, int err)
{
	static const char *const servers[] = {"", "x", "127.0.0.1:", "127.0.0.1:0",
	    "127.0.0.1:65536", "127.0.0.1:1x", "300.0.0.1", NULL};

	FACT(!h);
	FACT_EQ(err, i == 0 ? 0 : ARERR_CANTSEND);
	if (servers[i] == NULL)
		FACTS_END();
	setenv("MELY_NAMESERVER", servers[i], 1);
	dns_hostbyname("host.test", wrap(ask_wrong_server, i + 1));
}

static void
wrong_servers()
{
	ask_wrong_server(0, NULL, 0);
	amain();
}

static void
errors_have_texts()
{
	static const int errors[] = {NXDOMAIN, SERVFAIL, FORMERR, NOTIMP, REFUSED, ARERR_NXREC,
	    ARERR_TIMEOUT, ARERR_PTRSPOOF, ARERR_BADRESP, ARERR_CANTSEND, ARERR_REQINVAL,
	    ARERR_CNAMELOOP};
	size_t i, n = sizeof errors / sizeof errors[0];

	FACT_EQ(dnstoerrno(0), 0);
	FACT_EQ(dnstoerrno(NXDOMAIN), ENOENT);
	FACT_EQ(dnstoerrno(ARERR_NXREC), ENOENT);
	FACT_EQ(dnstoerrno(ARERR_TIMEOUT), ETIMEDOUT);
	for (i = 0; i < n; i++) {
		FACT(dnstoerrno(errors[i]) != 0);
		FACT(strcmp(dns_strerror(errors[i]), dns_strerror(12345)) != 0);
	}
	FACT(dns_tmperr(ARERR_TIMEOUT) && dns_tmperr(SERVFAIL));
	FACT(!dns_tmperr(NXDOMAIN) && !dns_tmperr(0));
	FACTS_END();
}

/* ---- searching ---- */

static void
got_short(ptr<hostent> h, int err)
{
	FACT_EQ(err, 0);
	FACT(is(h->h_name, "short.search.test"));
	FACTS_END();
}

static void
searches()
{
	name_server_start();
	dns_hostbyname("short", wrap(got_short), true);
	amain();
}

static void
does_not_search()
{
	no_host("short", NXDOMAIN, true);
}

/* ---- addresses ---- */

static void
got_name(ptr<hostent> h, int err)
{
	check_here();
	FACT_EQ(err, 0);
	FACT(is(h->h_name, "seven.test"));
	check_addr(h->h_addr_list[0], "10.0.0.7");
	FACTS_END();
}

static void
name_of_addr()
{
	name_server_start();
	dns_hostbyaddr(addr_of("10.0.0.7"), wrap(got_name));
	returned = true;
	amain();
}

/* The name exists, but does not have that address. */
static void
name_is_spoofed()
{
	name_server_start();
	dns_hostbyaddr(addr_of("10.0.0.8"), wrap(failed<hostent>, int(ARERR_PTRSPOOF)));
	returned = true;
	amain();
}

static void
no_name()
{
	name_server_start();
	dns_hostbyaddr(addr_of("10.0.0.9"), wrap(failed<hostent>, int(NXDOMAIN)));
	returned = true;
	amain();
}

/* ---- handles ---- */

/* The answer is valid while a handle of it exists, and is freed after that. */
static ptr<hostent> kept;

static void
look_at_kept()
{
	FACT(is(kept->h_name, "host.test"));
	check_addr(kept->h_addr_list[1], "127.0.0.2");
	kept = NULL;
	FACTS_END();
}

static void
keep(ptr<hostent> h, int)
{
	kept = h;
	delaycb(0, 0, wrap(look_at_kept));
}

static void
answer_is_kept()
{
	name_server_start();
	dns_hostbyname("host.test", wrap(keep));
	amain();
}

static void
print_all(ptr<hostent> h, int err)
{
	printaddrs("hosts", h, err);
	printaddrs("none", NULL, NXDOMAIN);
	printmxlist("none", NULL, ARERR_TIMEOUT);
	printsrvlist("none", NULL, ARERR_NXREC);
	FACTS_END();
}

static void
prints()
{
	name_server_start();
	dns_hostbyname("alias.test", wrap(print_all));
	amain();
}

/* ---- cancelling ---- */

static void
never(counted, ptr<hostent>, int)
{
	facts_fail(__FILE__, __LINE__, "a cancelled lookup was answered");
}

static void
end()
{
	FACTS_END();
}

static void
ask_and_cancel(const char *name)
{
	dnsreq_t *req = dns_hostbyname(name, wrap(never, counted()));

	FACT(counted::alive > 0);
	dnsreq_cancel(req);
	FACT_EQ(counted::alive, 0);
}

static void
cancel_at_once()
{
	dnsreq_cancel(NULL);
	ask_and_cancel("host.test");
	ask_and_cancel("10.1.2.3");
	ask_and_cancel("");
	delaycb(0, 200000000, wrap(end));
}

static void
cancel_before()
{
	name_server_start();
	cancel_at_once();
	amain();
}

static void
cancel_inside()
{
	name_server_start();
	delaycb(0, 0, wrap(cancel_at_once));
	amain();
}

static void
cancel_it(dnsreq_t *req)
{
	dnsreq_cancel(req);
	FACT_EQ(counted::alive, 0);
	/* longer than a helper waits for the name server */
	delaycb(1, 500000000, wrap(end));
}

static void
cancel_under_way()
{
	dnsreq_t *req;

	name_server_start(1);
	req = dns_hostbyname("silent.test", wrap(never, counted()));
	delaycb(0, 100000000, wrap(cancel_it, req));
	amain();
}

/* The program may exit while a helper waits for an answer. */
static void
end_under_way()
{
	name_server_start(1);
	dns_hostbyname("silent.test", wrap(never, counted()));
	dnsreq_cancel(dns_hostbyname("silent.test", wrap(never, counted())));
	delaycb(0, 100000000, wrap(end));
	amain();
}

static void
got_one(int *left, ptr<hostent> h, int err)
{
	FACT_EQ(err, 0);
	FACT(h);
	if (--*left == 0)
		FACTS_END();
}

static void
many_at_once()
{
	static int left = 50;
	int i;

	name_server_start();
	for (i = 0; i < 100; i++)
		if (i % 2 == 0)
			dns_hostbyname("host.test", wrap(got_one, &left));
		else
			dnsreq_cancel(dns_hostbyname("host.test", wrap(never, counted())));
	amain();
}

static const struct fact facts[] = {
	CASE(host),
	CASE(host_inside),
	CASE_ON(2, host_by_acheck),
	CASE_ON(2, alias),
	CASE_ON(2, host_of_file),
	CASE_ON(2, quad),
	CASE_ON(2, no_such_host),
	CASE_ON(2, server_fails),
	CASE_ON(2, quad_is_no_name),
	CASE_ON(2, null_name),
	CASE_ON(2, empty_name),
	CASE_ON(2, long_name),
	CASE_ON(2, no_answer),
	CASE_ON(2, wrong_servers),
	CASE_ON(1, errors_have_texts),
	CASE_ON(2, searches),
	CASE_ON(2, does_not_search),
	CASE_ON(2, name_of_addr),
	CASE_ON(2, name_is_spoofed),
	CASE_ON(2, no_name),
	CASE_ON(2, answer_is_kept),
	CASE_ON(2, prints),
	CASE(cancel_before),
	CASE(cancel_inside),
	CASE_ON(2, cancel_under_way),
	CASE(end_under_way),
	CASE(many_at_once),
};

FACTS_MAIN(facts)
