/* SPDX-License-Identifier: MIT */
/*
 * name_server.h: for tests of lookups: a name server for a few names on 127.0.0.1, in a separate
 * process that ends with the test. MELY_NAMESERVER passes its address to the library.
 *
 *     name_server_start();    in main, before amain
 *     name_server_start(1);   with names it is silent about, for which the library waits a second
 */
#ifndef MELY_TESTS_NAME_SERVER_H
#define MELY_TESTS_NAME_SERVER_H

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <ctype.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "facts.h"

/* An answer under construction. */
struct name_answer {
	unsigned char bytes[1024];
	int size;
	int records, extra; /* number of records in the answer and in the additional section */
	int code;
	bool none, broken;  /* send no reply; end in the middle of a record */
};

static inline void
name_put(struct name_answer *a, const void *p, int n)
{
	memcpy(a->bytes + a->size, p, (size_t)n);
	a->size += n;
}

static inline void
name_put16(struct name_answer *a, int v)
{
	unsigned char b[2] = {(unsigned char)(v >> 8), (unsigned char)v};

	name_put(a, b, 2);
}

static inline void
name_put_name(struct name_answer *a, const char *name)
{
	unsigned char packed[256];
	int n = dn_comp(name, packed, (int)sizeof packed, NULL, NULL);

	name_put(a, packed, n);
}

/* The header of a record; its data follows, and name_end fills in the length. */
static inline int
name_begin(struct name_answer *a, const char *owner, int type)
{
	name_put_name(a, owner);
	name_put16(a, type);
	name_put16(a, ns_c_in);
	name_put16(a, 0);
	name_put16(a, 60);
	name_put16(a, 0);
	return a->size;
}

static inline void
name_end(struct name_answer *a, int begin)
{
	a->bytes[begin - 2] = (unsigned char)((a->size - begin) >> 8);
	a->bytes[begin - 1] = (unsigned char)(a->size - begin);
}

static inline void
name_a(struct name_answer *a, const char *owner, const char *addr, bool extra)
{
	int begin = name_begin(a, owner, ns_t_a);
	in_addr in;

	inet_aton(addr, &in);
	name_put(a, &in, sizeof in);
	name_end(a, begin);
	if (extra)
		a->extra++;
	else
		a->records++;
}

static inline void
name_link(struct name_answer *a, const char *owner, int type, const char *to)
{
	int begin = name_begin(a, owner, type);

	name_put_name(a, to);
	name_end(a, begin);
	a->records++;
}

static inline void
name_mx(struct name_answer *a, const char *owner, int pref, const char *host)
{
	int begin = name_begin(a, owner, ns_t_mx);

	name_put16(a, pref);
	name_put_name(a, host);
	name_end(a, begin);
	a->records++;
}

static inline void
name_srv(struct name_answer *a, const char *owner, int prio, int weight, int port,
    const char *host)
{
	int begin = name_begin(a, owner, ns_t_srv);

	name_put16(a, prio);
	name_put16(a, weight);
	name_put16(a, port);
	name_put_name(a, host);
	name_end(a, begin);
	a->records++;
}

/* Two strings in one record; either may be NULL. */
static inline void
name_txt(struct name_answer *a, const char *owner, const char *one, const char *two)
{
	const char *strings[2] = {one, two};
	int begin = name_begin(a, owner, ns_t_txt), i;

	for (i = 0; i < 2; i++)
		if (strings[i] != NULL) {
			unsigned char length = (unsigned char)strlen(strings[i]);

			name_put(a, &length, 1);
			name_put(a, strings[i], length);
		}
	name_end(a, begin);
	a->records++;
}

/* Names compare without case. */
static inline bool
is(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0;
}

/* The test defines this: fill in the answer, or set its code. */
static void name_server_knows(const char *name, int type, struct name_answer *a);

/* Copy the name of a question, which is not compressed; returns its length in bytes, or 0. */
static inline int
name_of(const unsigned char *packet, int size, char *name, size_t name_size)
{
	int n = dn_expand(packet, packet + size, packet + NS_HFIXEDSZ, name, (int)name_size);

	return n > 0 && NS_HFIXEDSZ + n + 4 <= size ? n : 0;
}

static inline void
name_reply(int fd, const unsigned char *packet, int size, const sockaddr_in *to)
{
	struct name_answer a;
	unsigned char *b = a.bytes;
	char name[256];
	int n = name_of(packet, size, name, sizeof name), type;

	if (n == 0)
		return;
	memset(&a, 0, sizeof a);
	name_put(&a, packet, NS_HFIXEDSZ + n + 4);
	type = packet[NS_HFIXEDSZ + n] << 8 | packet[NS_HFIXEDSZ + n + 1];
	name_server_knows(name, type, &a);
	if (a.none)
		return;
	b[2] = 0x81; /* an answer, recursion desired */
	b[3] = (unsigned char)(0x80 | a.code); /* and available */
	b[7] = (unsigned char)a.records;
	b[9] = 0;
	b[11] = (unsigned char)a.extra;
	if (a.broken)
		a.size -= 3;
	sendto(fd, b, (size_t)a.size, 0, (const sockaddr *)to, sizeof *to);
}

static inline void
name_serve(int fd)
{
	unsigned char packet[512];
	sockaddr_in from;
	socklen_t length;
	ssize_t n;

	for (;;) {
		length = sizeof from;
		n = recvfrom(fd, packet, sizeof packet, 0, (sockaddr *)&from, &length);
		if (n >= NS_HFIXEDSZ)
			name_reply(fd, packet, (int)n, &from);
	}
}

static inline void
name_server_start(int seconds = 20)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	sockaddr_in address;
	socklen_t length = sizeof address;
	pid_t parent = getpid();
	char text[64];

	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	FACT(fd >= 0 && bind(fd, (sockaddr *)&address, sizeof address) == 0);
	FACT(getsockname(fd, (sockaddr *)&address, &length) == 0);
	sprintf(text, "127.0.0.1:%d", ntohs(address.sin_port));
	setenv("MELY_NAMESERVER", text, 1);
	setenv("LOCALDOMAIN", "search.test", 1);
	sprintf(text, "timeout:%d attempts:1", seconds);
	setenv("RES_OPTIONS", text, 1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			name_serve(fd);
		_exit(0);
	}
	close(fd);
}

#endif
