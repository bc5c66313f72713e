/* SPDX-License-Identifier: MIT */
/*
 * setup.h: what a reload replaces: the options, and the sites made of them. It does not change once
 * it is made, and is counted: by each core that uses it, and by each job of a helper. Each core has
 * a pointer to the one in force (core.h), so a request costs no atomic operation.
 *
 * A handler may use the setup of its core until it returns. What outlives it, such as an answer,
 * refers to pages only, which have their own counts.
 */
#ifndef SWS_SETUP_H
#define SWS_SETUP_H

#include <stdatomic.h>

#include "http/parse.h"
#include "net/tls.h"
#include "ops/options.h"
#include "site/site.h"

struct sws_setup_name;

struct sws_setup {
	_Atomic(uint32_t) refs;
	struct sws_options options;
	struct sws_site *sites;          /* at least one; the first is that of unknown hosts */
	int sites_count;
	struct sws_setup_name *names;    /* sorted */
	int names_count;
	struct sws_tls_pairs *tls;       /* NULL: no certificates */
};

/**
 * Make the setup of options, which it takes over in any case. The first setup with certificates
 * makes *tls, which outlives all setups. NULL: failed, and a line on stderr says why. Any thread,
 * one at a time.
 */
struct sws_setup *sws_setup_new(struct sws_options *options, struct sws_store *store,
    struct sws_tls **tls);

static inline void
sws_setup_ref(struct sws_setup *setup)
{
	/* relaxed: the caller has a reference. */
	uint32_t before = atomic_fetch_add_explicit(&setup->refs, 1, memory_order_relaxed);

	SWS_ASSERT(before > 0);
}

/** True: this was the last reference, and the pages of its sites have left the store. */
bool sws_setup_unref(struct sws_setup *setup);

/** The site of a host that has this name, perhaps with a port. */
struct sws_site *sws_setup_find(const struct sws_setup *setup, const char *host, size_t len);

/** The site of a request. */
static inline struct sws_site *
sws_setup_site(const struct sws_setup *setup, const struct http_request *req, const char *head)
{
	struct http_span host = req->authority.len > 0 ? req->authority : req->field[HTTP_HOST];

	return setup->names_count == 0 ? &setup->sites[0]
	    : sws_setup_find(setup, head + host.at, host.len);
}

#endif
