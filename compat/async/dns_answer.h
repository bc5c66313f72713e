/* SPDX-License-Identifier: MIT */
/*
 * dns_answer.h: the result of a lookup, as plain data, and the parser for messages of name servers.
 * Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_ANSWER_H
#define MELYCOMPAT_ASYNC_DNS_ANSWER_H

#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <string>
#include <vector>

namespace melycompat {

/** The most bytes of an answer: over TCP its length is 16 bits. */
enum { DNS_ANSWER_MAX = 65535 };

struct dns_host {
	std::string name;
	in_addr addr;
};

/** An MX record has no weight and port. */
struct dns_target {
	uint16_t preference;
	uint16_t weight;
	uint16_t port;
	std::string name;
};

struct dns_answer {
	int error = 0;                    /**< as dns.h has them */
	std::string name;                 /**< whose records they are, in full */
	std::vector<std::string> aliases; /**< of a host */
	std::vector<in_addr> addrs;       /**< of a host */
	std::vector<dns_target> targets;  /**< of MX and SRV, in no order */
	std::vector<dns_host> hints;      /**< addresses of targets */
	std::vector<std::string> texts;
};

/**
 * Take the records of a type (ns_t_mx, ns_t_srv, ns_t_txt) from an answer of size bytes, which may
 * be anything. answer->error says whether it worked; the lists are as good as it is.
 */
void dns_parse(const unsigned char *bytes, size_t size, int type, dns_answer *answer);

}

#endif
