/* SPDX-License-Identifier: MIT */
/*
 * dns_records.cc: the C structures that programs see. Each is the first part of an object that owns
 * the answer its pointers point into.
 */
#include <algorithm>
#include <random>
#include <type_traits>

#include "dns_records.h"

namespace melycompat {

namespace {

/* Not const: programs may write to a name, and the structures are C structures. */
char *
text_of(std::string &s)
{
	return &s[0];
}

std::vector<char *>
texts_of(std::vector<std::string> &strings)
{
	std::vector<char *> texts;

	for (std::string &s : strings)
		texts.push_back(text_of(s));
	return texts;
}

/* ---- hosts ---- */

struct owned_hostent : hostent {
	dns_answer answer;
	std::vector<char *> aliases, addrs;

	explicit owned_hostent(dns_answer &a) : hostent(), answer(std::move(a))
	{
		aliases = texts_of(answer.aliases);
		aliases.push_back(nullptr);
		for (in_addr &addr : answer.addrs)
			addrs.push_back(reinterpret_cast<char *>(&addr));
		addrs.push_back(nullptr);
		h_name = text_of(answer.name);
		h_aliases = aliases.data();
		h_addrtype = AF_INET;
		h_length = sizeof(in_addr);
		h_addr_list = addrs.data();
	}
};

/* ---- lists of hosts ---- */

/* The addresses that came with the answer, and the NULL-terminated list of them. */
class hints {
public:
	explicit hints(std::vector<dns_host> &hosts) : all(hosts.size())
	{
		for (size_t i = 0; i < hosts.size(); i++) {
			all[i].h_name = text_of(hosts[i].name);
			all[i].h_addrtype = AF_INET;
			all[i].h_length = sizeof hosts[i].addr;
			memset(all[i].h_address, 0, sizeof all[i].h_address);
			memcpy(all[i].h_address, &hosts[i].addr, sizeof hosts[i].addr);
			pointers.push_back(&all[i]);
		}
		pointers.push_back(nullptr);
	}
	addrhint **list() { return pointers.data(); }

private:
	std::vector<addrhint> all;
	std::vector<addrhint *> pointers;
};

bool
is_preferred(const dns_target &a, const dns_target &b)
{
	return a.preference < b.preference;
}

struct owned_mxlist : mxlist {
	dns_answer answer;
	hints addrs;
	std::vector<mxrec> records;

	explicit owned_mxlist(dns_answer &a)
	    : mxlist(), answer(std::move(a)), addrs(answer.hints)
	{
		std::stable_sort(answer.targets.begin(), answer.targets.end(), is_preferred);
		for (dns_target &t : answer.targets)
			records.push_back(mxrec{t.preference, text_of(t.name)});
		m_name = text_of(answer.name);
		m_hints = addrs.list();
		m_nmx = static_cast<u_short>(records.size());
		m_mxes = records.data();
	}
};

std::vector<dns_target>::iterator
at(std::vector<dns_target> &targets, size_t index)
{
	return targets.begin() + static_cast<std::ptrdiff_t>(index);
}

/* Order targets of equal preference by repeated random draws, each weighted by the targets'
 * weights. A target of weight 0 is hardly ever drawn before the others. */
void
draw_by_weight(std::vector<dns_target> &targets, size_t from, size_t to)
{
	static thread_local std::minstd_rand random{std::random_device{}()};
	unsigned long sum, chosen;
	size_t i;

	for (; from + 1 < to; from++) {
		for (sum = 0, i = from; i < to; i++)
			sum += targets[i].weight;
		chosen = std::uniform_int_distribution<unsigned long>(0, sum)(random);
		for (i = from; i + 1 < to && targets[i].weight < chosen; i++)
			chosen -= targets[i].weight;
		/* rotate keeps the order of the other targets. */
		std::rotate(at(targets, from), at(targets, i), at(targets, i + 1));
	}
}

void
order_srv(std::vector<dns_target> &targets)
{
	size_t from, to;

	/* Targets of weight 0 first, as draw_by_weight expects. */
	std::sort(targets.begin(), targets.end(), [](const dns_target &a, const dns_target &b) {
		return std::make_pair(a.preference, a.weight) <
		    std::make_pair(b.preference, b.weight);
	});
	for (from = 0; from < targets.size(); from = to) {
		for (to = from; to < targets.size(); to++)
			if (targets[to].preference != targets[from].preference)
				break;
		draw_by_weight(targets, from, to);
	}
}

struct owned_srvlist : srvlist {
	dns_answer answer;
	hints addrs;
	std::vector<srvrec> records;

	explicit owned_srvlist(dns_answer &a)
	    : srvlist(), answer(std::move(a)), addrs(answer.hints)
	{
		order_srv(answer.targets);
		for (dns_target &t : answer.targets)
			records.push_back(srvrec{t.preference, t.weight, t.port, text_of(t.name)});
		s_name = text_of(answer.name);
		s_hints = addrs.list();
		s_nsrv = static_cast<u_short>(records.size());
		s_srvs = records.data();
	}
};

/* ---- texts ---- */

struct owned_txtlist : txtlist {
	dns_answer answer;
	std::vector<char *> texts;

	explicit owned_txtlist(dns_answer &a) : txtlist(), answer(std::move(a))
	{
		texts = texts_of(answer.texts);
		t_name = text_of(answer.name);
		t_ntxt = static_cast<u_short>(texts.size());
		t_txts = texts.data();
	}
};

}

ptr<hostent>
make_hostent(dns_answer &answer)
{
	return New refcounted<owned_hostent>(answer);
}

ptr<mxlist>
make_mxlist(dns_answer &answer)
{
	return New refcounted<owned_mxlist>(answer);
}

ptr<srvlist>
make_srvlist(dns_answer &answer)
{
	return New refcounted<owned_srvlist>(answer);
}

ptr<txtlist>
make_txtlist(dns_answer &answer)
{
	return New refcounted<owned_txtlist>(answer);
}

}
