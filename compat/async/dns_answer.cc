/* SPDX-License-Identifier: MIT */
/*
 * dns_answer.cc: parses the replies of name servers into records.
 *
 * The C library walks the message (ns_parserr checks that a record lies within it). A reader that
 * knows where the record ends parses the inside of a record.
 */
#include "dns_answer.h"

#include <arpa/nameser.h>
#include <strings.h>

#include "dns_error.h"

namespace melycompat {

namespace {

/* Reads the data of one record, from the front. After a failure everything read is 0. */
class reader {
public:
	reader(const ns_msg &m, const ns_rr &rr)
	    : message(m), at(ns_rr_rdata(rr)), end(at + ns_rr_rdlen(rr)), good(true)
	{
	}

	bool ok() const { return good; }
	bool at_end() const { return !good || at == end; }

	uint16_t
	number()
	{
		uint16_t n;

		if (!has(2))
			return 0;
		n = static_cast<uint16_t>(at[0] << 8 | at[1]);
		at += 2;
		return n;
	}

	/* A name; it must start in the record, but may continue elsewhere in the message
	 * (compression). */
	std::string
	name()
	{
		char text[NS_MAXDNAME];
		int used = -1;

		if (has(1))
			used = ns_name_uncompress(ns_msg_base(message), ns_msg_end(message), at,
			    text, sizeof text);
		if (used < 0 || !has(static_cast<size_t>(used))) {
			good = false;
			return std::string();
		}
		at += used;
		return text;
	}

	/* A string: a byte with the length, then its bytes. */
	std::string
	string()
	{
		size_t length = has(1) ? *at : 0;
		std::string text;

		if (!has(1 + length))
			return text;
		text.assign(reinterpret_cast<const char *>(at + 1), length);
		at += 1 + length;
		return text;
	}

private:
	const ns_msg &message;
	const unsigned char *at, *end;
	bool good;

	bool
	has(size_t n)
	{
		good = good && static_cast<size_t>(end - at) >= n;
		return good;
	}
};

bool
take_record(const ns_msg &message, const ns_rr &rr, dns_answer *answer)
{
	reader r(message, rr);
	dns_target target = {};
	std::string text;

	switch (ns_rr_type(rr)) {
	case ns_t_txt:
		while (!r.at_end())
			text += r.string();
		if (r.ok())
			answer->texts.push_back(text);
		return r.ok();
	case ns_t_srv:
		target.preference = r.number();
		target.weight = r.number();
		target.port = r.number();
		break;
	default:
		target.preference = r.number();
	}
	target.name = r.name();
	if (r.ok())
		answer->targets.push_back(target);
	return r.ok();
}

bool
is_target(const dns_answer &answer, const char *name)
{
	for (const dns_target &t : answer.targets)
		if (strcasecmp(t.name.c_str(), name) == 0)
			return true;
	return false;
}

/* Store an address, if it belongs to one of the hosts found. */
bool
take_hint(const ns_rr &rr, dns_answer *answer)
{
	dns_host host;

	if (ns_rr_type(rr) != ns_t_a || !is_target(*answer, ns_rr_name(rr)))
		return true;
	if (ns_rr_rdlen(rr) != sizeof host.addr)
		return false;
	host.name = ns_rr_name(rr);
	__builtin_memcpy(&host.addr, ns_rr_rdata(rr), sizeof host.addr);
	answer->hints.push_back(host);
	return true;
}

/* False: the answer is malformed. */
bool
parse(ns_msg *message, int type, dns_answer *answer)
{
	ns_rr rr;
	int i;

	for (i = 0; i < ns_msg_count(*message, ns_s_an); i++) {
		if (ns_parserr(message, ns_s_an, i, &rr) < 0)
			return false;
		if (ns_rr_type(rr) != type || ns_rr_class(rr) != ns_c_in)
			continue;
		answer->name = ns_rr_name(rr);
		if (!take_record(*message, rr, answer))
			return false;
	}
	for (i = 0; i < ns_msg_count(*message, ns_s_ar); i++)
		if (ns_parserr(message, ns_s_ar, i, &rr) < 0 || !take_hint(rr, answer))
			return false;
	return true;
}

}

void
dns_parse(const unsigned char *bytes, size_t size, int type, dns_answer *answer)
{
	ns_msg message;

	answer->error = ARERR_BADRESP;
	if (size > DNS_ANSWER_MAX || ns_initparse(bytes, static_cast<int>(size), &message) < 0)
		return;
	answer->error = ns_msg_getflag(message, ns_f_rcode);
	if (answer->error != 0)
		return;
	if (!parse(&message, type, answer))
		answer->error = ARERR_BADRESP;
	else if (answer->targets.empty() && answer->texts.empty())
		answer->error = ARERR_NXREC;
}

}
