/* SPDX-License-Identifier: MIT */
/*
 * async_connect.cc: TCP connections of dialect "async". Of section 1.9 of the facts.
 */
#include "async.h"
#include "dns.h"

#include "counted.h"
#include "facts.h"
#include "name_server.h"

static u_int16_t port, dead_port;

static void
name_server_knows(const char *name, int type, struct name_answer *a)
{
	if (is(name, "two.test") && type == ns_t_a) {
		name_a(a, name, "127.0.0.2", false); /* without a listener */
		name_a(a, name, "127.0.0.1", false);
	} else if (is(name, "one.test") && type == ns_t_a)
		name_a(a, name, "127.0.0.1", false);
	else if (is(name, "one.search.test") && type == ns_t_a)
		name_a(a, name, "127.0.0.1", false);
	else if (is(name, "_echo._tcp.service.test") && type == ns_t_srv) {
		name_srv(a, name, 2, 0, port, "one.test");
		name_srv(a, name, 1, 0, dead_port, "one.test");
	} else if (is(name, "_hint._tcp.service.test") && type == ns_t_srv) {
		name_srv(a, name, 1, 0, port, "unknown.test");
		name_a(a, "unknown.test", "127.0.0.1", true);
	} else if (is(name, "_none._tcp.service.test") && type == ns_t_srv)
		name_srv(a, name, 0, 0, 0, ".");
	else if (is(name, "silent.test"))
		a->none = true;
	else
		a->code = ns_r_nxdomain;
}

static bool returned;
static int server;

static u_int16_t
port_of(int fd)
{
	sockaddr_in a;
	socklen_t length = sizeof a;

	FACT(fd >= 0 && getsockname(fd, (sockaddr *)&a, &length) == 0);
	return ntohs(a.sin_port);
}

/* A port with a listener, and one without. */
static void
begin()
{
	int fd;

	server = inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK);
	FACT(listen(server, 100) == 0);
	port = port_of(server);
	fd = inetsocket(SOCK_STREAM);
	dead_port = port_of(fd);
}

static in_addr
loopback()
{
	in_addr a;

	a.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static void
check_connected(int fd)
{
	char c = 0;
	int peer;

	FACT(returned); /* the callback never runs before the call returns */
	FACT_EQ(get_current_color(), 0);
	FACT(fd >= 0);
	FACT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	FACT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	peer = accept(server, NULL, NULL);
	FACT(peer >= 0);
	FACT(write(fd, "x", 1) == 1 && read(peer, &c, 1) == 1 && c == 'x');
}

static void
connected(int fd)
{
	check_connected(fd);
	FACTS_END();
}

static void
failed(int wanted, int fd)
{
	int error = errno;

	FACT(returned);
	FACT_EQ(fd, -1);
	FACT_EQ(error, wanted);
	FACTS_END();
}

static void
never(int)
{
	facts_fail(__FILE__, __LINE__, "a cancelled connection called");
}

static void
end()
{
	FACTS_END();
}

/* ---- to an address ---- */

static void
to_address()
{
	begin();
	FACT(tcpconnect(loopback(), port, wrap(connected)) != NULL);
	returned = true;
	amain();
}

static void
connect_inside()
{
	tcpconnect(loopback(), port, wrap(connected));
	returned = true;
}

static void
to_address_inside()
{
	begin();
	delaycb(0, 0, wrap(connect_inside));
	amain();
}

static void
refused()
{
	begin();
	tcpconnect(loopback(), dead_port, wrap(failed, int(ECONNREFUSED)));
	errno = 0;
	returned = true;
	amain();
}

/* An immediate refusal by the system is reported later, like other errors. */
static void
fails_at_once()
{
	in_addr everybody;

	everybody.s_addr = INADDR_BROADCAST;
	begin();
	setenv("BINDADDR", "192.0.2.1", 1); /* not ours */
	tcpconnect(everybody, port, wrap(failed, int(EADDRNOTAVAIL)));
	returned = true;
	amain();
}

static void
check_from(int fd)
{
	sockaddr_in a;
	socklen_t length = sizeof a;

	FACT(fd >= 0 && getsockname(fd, (sockaddr *)&a, &length) == 0);
	FACT_EQ(ntohl(a.sin_addr.s_addr), 0x7f000003);
	FACTS_END();
}

static void
from_bindaddr()
{
	begin();
	setenv("BINDADDR", "127.0.0.3", 1);
	tcpconnect(loopback(), port, wrap(check_from));
	amain();
}

/* Programs connect in a constructor and use the object afterwards. */
struct connection {
	int ready;

	connection() : ready(0)
	{
		tcpconnect(loopback(), dead_port, wrap(this, &connection::done));
		usleep(20000);
		ready = 1;
	}
	virtual ~connection() {}
	virtual void done(int)
	{
		facts_fail(__FILE__, __LINE__, "called in the constructor");
	}
};

struct special_connection : connection {
	void
	done(int fd)
	{
		FACT_EQ(ready, 1);
		FACT_EQ(fd, -1);
		FACTS_END();
	}
};

static void
make_connection()
{
	New special_connection;
}

static void
in_a_constructor()
{
	begin();
	delaycb(0, 0, wrap(make_connection));
	amain();
}

/* ---- cancelling ---- */

static void
never_counted(counted, int)
{
	never(0);
}

static void
cancel_all()
{
	tcpconnect_t *tc[3];
	int i;

	tcpconnect_cancel(NULL);
	tc[0] = tcpconnect(loopback(), port, wrap(never_counted, counted()));
	tc[1] = tcpconnect(loopback(), dead_port, wrap(never_counted, counted()));
	tc[2] = tcpconnect("127.0.0.1", port, wrap(never_counted, counted()));
	FACT(counted::alive > 0);
	for (i = 0; i < 3; i++)
		tcpconnect_cancel(tc[i]);
	FACT_EQ(counted::alive, 0);
	delaycb(0, 100000000, wrap(end));
}

static void
cancels()
{
	begin();
	cancel_all();
	amain();
}

static void
cancels_inside()
{
	begin();
	delaycb(0, 0, wrap(cancel_all));
	amain();
}

static tcpconnect_t *race[2];

static void
first_wins(int i, int fd)
{
	FACT(fd >= 0);
	tcpconnect_cancel(race[!i]);
	delaycb(0, 100000000, wrap(end));
	FACT(race[0] != NULL);
	race[0] = NULL; /* a second call would fail the FACT above */
}

/* Both are ready; the callback that runs first cancels the other. */
static void
cancels_the_other()
{
	begin();
	race[0] = tcpconnect(loopback(), port, wrap(first_wins, 0));
	race[1] = tcpconnect(loopback(), port, wrap(first_wins, 1));
	usleep(20000);
	amain();
}

static void
cancel_it(tcpconnect_t *tc)
{
	tcpconnect_cancel(tc);
	FACT_EQ(counted::alive, 0);
	delaycb(1, 500000000, wrap(end));
}

static void
cancels_a_lookup()
{
	begin();
	name_server_start(1);
	delaycb(0, 100000000,
	    wrap(cancel_it, tcpconnect("silent.test", port, wrap(never_counted, counted()))));
	amain();
}

/* ---- to a name ---- */

static str full_name;

static void
connected_to(const char *name, int fd)
{
	check_connected(fd);
	FACT(full_name == name);
	FACTS_END();
}

static void
to_quad()
{
	begin();
	FACT(tcpconnect("127.0.0.1", port, wrap(connected)) != NULL);
	returned = true;
	amain();
}

static void
to_name()
{
	begin();
	name_server_start();
	tcpconnect("one.test", port, wrap(connected_to, "one.test"), false, &full_name);
	FACT(!full_name);
	returned = true;
	amain();
}

static void
to_searched_name()
{
	begin();
	name_server_start();
	tcpconnect("one", port, wrap(connected_to, "one.search.test"), true, &full_name);
	returned = true;
	amain();
}

static void
searches_unless_told()
{
	begin();
	name_server_start();
	tcpconnect("one", port, wrap(failed, int(ENOENT)), false);
	returned = true;
	amain();
}

static void
to_second_address()
{
	begin();
	name_server_start();
	tcpconnect("two.test", port, wrap(connected));
	returned = true;
	amain();
}

static void
no_such_name()
{
	begin();
	name_server_start();
	tcpconnect("absent.test", port, wrap(failed, int(ENOENT)));
	returned = true;
	amain();
}

static void
name_refuses()
{
	begin();
	name_server_start();
	tcpconnect("two.test", dead_port, wrap(failed, int(ECONNREFUSED)));
	returned = true;
	amain();
}

/* ---- to a service ---- */

static ptr<srvlist> services;

static void
connected_again(int fd)
{
	check_connected(fd);
	FACT(full_name == "one.test");
	FACTS_END();
}

static void
connected_by_list(int fd)
{
	check_connected(fd);
	full_name = NULL;
	returned = false;
	tcpconnect_srv_retry(services, wrap(connected_again), &full_name);
	returned = true;
}

static void
connected_first(int fd)
{
	srvlist *list = services;

	check_connected(fd); /* the dead host is preferred, but does not answer */
	FACT(services);
	FACT_EQ(services->s_nsrv, 2);
	FACT_EQ(services->s_srvs[0].port, dead_port);
	FACT(full_name == "one.test");
	returned = false;
	tcpconnect_srv("ignored.test", "echo", 0, wrap(connected_by_list), false, &services);
	FACT(services == list);
	returned = true;
}

static void
to_service()
{
	begin();
	name_server_start();
	tcpconnect_srv("service.test", "echo", 0, wrap(connected_first), false, &services,
	    &full_name);
	returned = true;
	amain();
}

static void
to_service_by_hint()
{
	begin();
	name_server_start();
	tcpconnect_srv("service.test", "hint", 0, wrap(connected_to, "unknown.test"), false, NULL,
	    &full_name);
	returned = true;
	amain();
}

static void
to_default_port()
{
	begin();
	name_server_start();
	tcpconnect_srv("one.test", "echo", port, wrap(connected_to, "one.test"), false, NULL,
	    &full_name);
	returned = true;
	amain();
}

static void
no_default_port()
{
	begin();
	name_server_start();
	tcpconnect_srv("one.test", "echo", 0, wrap(failed, int(ENOENT)), false);
	returned = true;
	amain();
}

static void
no_such_service()
{
	begin();
	name_server_start();
	tcpconnect_srv("service.test", "none", port, wrap(failed, int(ENOENT)), false);
	returned = true;
	amain();
}

static void
cancels_a_service()
{
	begin();
	name_server_start();
	tcpconnect_cancel(tcpconnect_srv("service.test", "echo", 0,
	    wrap(never_counted, counted())));
	FACT_EQ(counted::alive, 0);
	delaycb(0, 200000000, wrap(end));
	amain();
}

static const struct fact facts[] = {
	CASE(to_address),
	CASE(to_address_inside),
	CASE(refused),
	CASE_ON(2, fails_at_once),
	CASE_ON(2, from_bindaddr),
	CASE(in_a_constructor),
	CASE(cancels),
	CASE(cancels_inside),
	CASE(cancels_the_other),
	CASE_ON(2, cancels_a_lookup),
	CASE_ON(2, to_quad),
	CASE(to_name),
	CASE_ON(2, to_searched_name),
	CASE_ON(2, searches_unless_told),
	CASE_ON(2, to_second_address),
	CASE_ON(2, no_such_name),
	CASE_ON(2, name_refuses),
	CASE_ON(2, to_service),
	CASE_ON(2, to_service_by_hint),
	CASE_ON(2, to_default_port),
	CASE_ON(2, no_default_port),
	CASE_ON(2, no_such_service),
	CASE_ON(2, cancels_a_service),
};

FACTS_MAIN(facts)
