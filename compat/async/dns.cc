/* SPDX-License-Identifier: MIT */
/*
 * dns.cc: lookups as requests of the program. Everything runs in color 0, except what helper
 * threads run.
 *
 * NOTE(request)
 *   A request is work for a helper thread, which owns the question and the answer until it hands
 *   them back to color 0; or, when there is nothing to look up, a timer without delay.
 *   Cancelling drops the callback at once, and deletes the request too, unless it is work. Then the
 *   request is deleted when the helper hands it back.
 */
#include <atomic>
#include <mely/io.h>

#include "dns.h"
#include "dns_records.h"
#include "dns_resolve.h"
#include "loop.h"

using namespace melycompat;

struct dnsreq {
	explicit dnsreq(const dns_question &q) : question(q), abandoned(false), later(nullptr) {}
	virtual ~dnsreq() {}

	/** Start the request; with an error there is nothing to look up. */
	void start(int error);
	/** Start a request whose answer is already known to be this address. */
	void start_with(in_addr addr);
	void cancel();

protected:
	dns_question question;
	dns_answer answer;

	/** Delete this and call the program. */
	virtual void deliver() = 0;
	/** Drop the program's callback. */
	virtual void drop() = 0;

private:
	std::atomic<bool> abandoned; /* cancelled while it was work */
	timecb_t *later;             /* NULL: it is work */

	void postpone() { later = delaycb(0, 0, wrap(this, &dnsreq::resume)); }
	void resume();
	static void resolve(void *arg);
	static void resolved(void *arg);

	dnsreq(const dnsreq &) = delete;
	dnsreq &operator=(const dnsreq &) = delete;
};

namespace melycompat {

namespace {

template <class Record> class request : public dnsreq {
public:
	typedef callback<void, ptr<Record>, int> callback_type;

	request(const dns_question &q, ptr<Record> (*m)(dns_answer &),
	    const typename callback_type::ref &c)
	    : dnsreq(q), make(m), cb(c)
	{
	}

private:
	ptr<Record> (*make)(dns_answer &);
	typename callback_type::ptr cb;

	void
	deliver() override
	{
		typename callback_type::ref c = cb;
		int error = answer.error;
		ptr<Record> record;

		if (error == 0)
			record = make(answer);
		delete this;
		(*c)(record, error);
	}
	void drop() override { cb = NULL; }
};

/* Whether a name is valid in a question. */
bool
is_name(const str &name)
{
	return name && name.len() > 0 && name.len() < NS_MAXDNAME &&
	    strlen(name.cstr()) == name.len();
}

dns_question
question_of(int type, const str &name, bool search)
{
	dns_question q = {};

	q.type = type;
	q.search = search;
	if (is_name(name))
		q.name.assign(name.cstr(), name.len());
	return q;
}

template <class Record> dnsreq_t *
ask(int type, const str &name, bool search, ptr<Record> (*make)(dns_answer &),
    const typename callback<void, ptr<Record>, int>::ref &cb)
{
	dnsreq_t *req = new request<Record>(question_of(type, name, search), make, cb);

	req->start(is_name(name) ? 0 : ARERR_REQINVAL);
	return req;
}

}

}

/* ---- NOTE(request) ---- */

void
dnsreq::start(int error)
{
	if (error == 0 && main_work(MELY_WORK_NAMES, resolve, resolved, this) != 0)
		error = ARERR_CANTSEND;
	if (error == 0)
		return;
	answer.error = error;
	postpone();
}

void
dnsreq::start_with(in_addr addr)
{
	answer.name = question.name;
	answer.addrs.push_back(addr);
	postpone();
}

void
dnsreq::resume()
{
	later = nullptr;
	deliver();
}

/* Runs on a helper thread. */
void
dnsreq::resolve(void *arg)
{
	dnsreq *req = static_cast<dnsreq *>(arg);

	/* relaxed: only saves needless work; pairs with cancel */
	if (!req->abandoned.load(std::memory_order_relaxed))
		dns_resolve(req->question, &req->answer);
}

void
dnsreq::resolved(void *arg)
{
	dnsreq *req = static_cast<dnsreq *>(arg);

	if (req->abandoned.load(std::memory_order_relaxed)) /* color 0 has written it */
		delete req;
	else
		req->deliver();
}

void
dnsreq::cancel()
{
	drop();
	if (later == nullptr) {
		abandoned.store(true, std::memory_order_relaxed); /* pairs with resolve */
		return;
	}
	timecb_remove(later);
	delete this;
}

/* ---- what programs call ---- */

dnsreq_t *
dns_hostbyname(str name, cbhent cb, bool search, bool addrok)
{
	dnsreq_t *req;
	in_addr addr;

	if (!is_name(name) || inet_pton(AF_INET, name.cstr(), &addr) != 1)
		return ask<hostent>(ns_t_a, name, search, make_hostent, cb);
	req = new request<hostent>(question_of(ns_t_a, name, search), make_hostent, cb);
	if (addrok)
		req->start_with(addr);
	else
		req->start(NXDOMAIN); /* the system's resolver would accept it as an address */
	return req;
}

dnsreq_t *
dns_hostbyaddr(in_addr addr, cbhent cb)
{
	dns_question q = {};
	dnsreq_t *req;

	q.type = ns_t_ptr;
	q.addr = addr;
	req = new request<hostent>(q, make_hostent, cb);
	req->start(0);
	return req;
}

dnsreq_t *
dns_mxbyname(str name, cbmxlist cb, bool search)
{
	return ask<mxlist>(ns_t_mx, name, search, make_mxlist, cb);
}

dnsreq_t *
dns_srvbyname(str name, cbsrvlist cb, bool search)
{
	return ask<srvlist>(ns_t_srv, name, search, make_srvlist, cb);
}

dnsreq_t *
dns_srvbyname(const char *name, const char *protocol, const char *service, cbsrvlist cb,
    bool search)
{
	str full = strbuf() << "_" << service << "._" << protocol << "." << name;

	return dns_srvbyname(full, cb, search);
}

dnsreq_t *
dns_txtbyname(str name, cbtxtlist cb, bool search)
{
	return ask<txtlist>(ns_t_txt, name, search, make_txtlist, cb);
}

void
dnsreq_cancel(dnsreq_t *req)
{
	if (req != nullptr)
		req->cancel();
}

void
dns_reload()
{
	/* Each lookup reads the current configuration. */
}
