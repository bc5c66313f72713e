/* SPDX-License-Identifier: MIT */
/*
 * endpoint.h: where clients connect, as an operator writes it: 'ENDPOINT [tls] [proxy]
 * [metrics] [mode=OCTAL]', with one of these in place of ENDPOINT:
 *
 *   HOST:PORT   an IPv4 address, an IPv6 address in brackets, '*' for all addresses of both kinds,
 *               or localhost for 127.0.0.1 and ::1; port 0 is any free one
 *   unix:PATH   a Unix socket; '@NAME' in place of PATH is one without a file
 *   fd:NAME     a listening socket that the program was started with
 *
 * Pure functions.
 */
#ifndef SWS_NET_ENDPOINT_H
#define SWS_NET_ENDPOINT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum sws_endpoint_kind {
	SWS_ENDPOINT_INET,
	SWS_ENDPOINT_UNIX,
	SWS_ENDPOINT_FD
};

#define SWS_ENDPOINT_ADDRESSES 2
#define SWS_ENDPOINT_TEXT 160

union sws_address {
	struct sockaddr any;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage room;
};

struct sws_endpoint {
	enum sws_endpoint_kind kind;
	bool tls;                   /**< clients speak TLS */
	bool inside;                /**< for what the server says about itself */
	bool proxy;                 /**< clients begin with a header of the PROXY protocol */
	bool everywhere;            /**< '*', and so IPv4 alone where there is no IPv6 */
	int mode;                   /**< of the file of a Unix socket; -1: by the umask */
	int port;                   /**< of an INET endpoint */
	char key[SWS_ENDPOINT_TEXT]; /**< as it is written, without the flags (net/inherit.h) */
	char name[sizeof(struct sockaddr_un)]; /**< host as in a URL, path, or name */
	/** localhost has two; that of a socket with a name is known once it is found. */
	union sws_address address[SWS_ENDPOINT_ADDRESSES];
	socklen_t address_len[SWS_ENDPOINT_ADDRESSES];
	int addresses_count;
	/** The file of a Unix socket that this process has made (net/local.h); 0: none. */
	dev_t file_dev;
	ino_t file_ino;
};

/** Read a text. NULL, or what is wrong with it. */
const char *sws_endpoint_parse(struct sws_endpoint *endpoint, const char *text);

/** What is wrong with a text, or with what it asks for; NULL: nothing. */
const char *sws_endpoint_check(const char *text);

/** The same for one that gets the flag "metrics". */
const char *sws_endpoint_inside_check(const char *text);

/** What is wrong with an address without a port; NULL: nothing. */
const char *sws_host_check(const char *host);

/** The port of an address that has one; 0 for others. */
int sws_address_port(const union sws_address *address);
void sws_address_set_port(union sws_address *address, int port);

/** Write the endpoint for error messages: "127.0.0.1:80". Returns to. */
const char *sws_endpoint_text(const struct sws_endpoint *endpoint, char to[SWS_ENDPOINT_TEXT]);

/** Write a URL that a browser on this machine accepts, or what stands for one. Returns to. */
const char *sws_endpoint_url(const struct sws_endpoint *endpoint, char to[SWS_ENDPOINT_TEXT]);

#endif
