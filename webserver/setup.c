/* SPDX-License-Identifier: MIT */
/*
 * setup.c: making and ending a setup, and from the name of a host to its site.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "net/endpoint.h"
#include "h2.h"
#include "setup.h"
#include "site/rules.h"

struct sws_setup_name {
	const char *name;
	struct sws_site *site;
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct sws_setup_name *)a)->name,
	    ((const struct sws_setup_name *)b)->name);
}

/* Sort the names of all sites. False after one line: no memory, or a name of two sites. */
static bool
make_names(struct sws_setup *setup)
{
	int n = 0;

	for (int i = 0; i < setup->sites_count; i++)
		n += setup->sites[i].options.names.count;
	setup->names = calloc((size_t)n + 1, sizeof setup->names[0]);
	if (setup->names == NULL) {
		fputs("sws: no memory\n", stderr);
		return false;
	}
	for (int i = 0; i < setup->sites_count; i++) {
		struct sws_site *site = &setup->sites[i];

		for (int k = 0; k < site->options.names.count; k++)
			setup->names[setup->names_count++] = (struct sws_setup_name){
				site->options.names.text[k], site};
	}
	SWS_ASSERT(setup->names_count == n);
	qsort(setup->names, (size_t)n, sizeof setup->names[0], by_name);
	for (int i = 1; i < n; i++)
		if (by_name(&setup->names[i - 1], &setup->names[i]) == 0
		    && setup->names[i - 1].site != setup->names[i].site) {
			fprintf(stderr, "sws: '%s' is the name of two sites: %s and %s\n",
			    setup->names[i].name, setup->names[i - 1].site->options.root,
			    setup->names[i].site->options.root);
			return false;
		}
	return true;
}

static bool
make_sites(struct sws_setup *setup, struct sws_store *store)
{
	int n = setup->options.sites_count;

	setup->sites = calloc((size_t)n, sizeof setup->sites[0]);
	if (setup->sites == NULL) {
		fputs("sws: no memory\n", stderr);
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct sws_site_options *o = &setup->options.sites[i];
		int status = sws_site_init(&setup->sites[setup->sites_count++], o, store);

		if (status != 0) {
			fprintf(stderr, "sws: cannot serve %s: %s\n", o->root, strerror(-status));
			return false;
		}
	}
	return true;
}

/* Does an endpoint need certificates? Then say so. */
static bool
want_tls(const struct sws_texts *listens)
{
	for (int i = 0; i < listens->count; i++) {
		struct sws_endpoint e;

		if (sws_endpoint_parse(&e, listens->text[i]) == NULL && e.tls) {
			fprintf(stderr, "sws: '%s' needs a certificate: tls-certificate\n",
			    listens->text[i]);
			return true;
		}
	}
	return false;
}

static bool
load_certificates(struct sws_setup *setup, struct sws_tls **tls)
{
	const struct sws_tls_options *o = &setup->options.tls;

	if (o->certificates.count == 0)
		return !want_tls(&setup->options.listens);
	setup->options.tls.http2 = setup->options.http2 && sws_h2_is_there();
	if (*tls == NULL)
		*tls = sws_tls_new();
	setup->tls = sws_tls_pairs_new(*tls, o);
	return setup->tls != NULL;
}

struct sws_setup *
sws_setup_new(struct sws_options *options, struct sws_store *store, struct sws_tls **tls)
{
	struct sws_setup *setup = calloc(1, sizeof *setup);

	SWS_ASSERT(options->sites_count > 0);
	if (setup == NULL) {
		fputs("sws: no memory\n", stderr);
		sws_options_free(options);
		return NULL;
	}
	atomic_init(&setup->refs, 1);
	setup->options = *options;
	memset(options, 0, sizeof *options);
	if (make_sites(setup, store) && make_names(setup) && load_certificates(setup, tls))
		return setup;
	sws_setup_unref(setup);
	return NULL;
}

bool
sws_setup_unref(struct sws_setup *setup)
{
	/* acq_rel: the thread that frees it must see all others done with it. */
	uint32_t before = atomic_fetch_sub_explicit(&setup->refs, 1, memory_order_acq_rel);

	SWS_ASSERT(before > 0);
	if (before != 1)
		return false;
	for (int i = 0; i < setup->sites_count; i++)
		sws_site_fini(&setup->sites[i]);
	sws_tls_pairs_free(setup->tls);
	free(setup->sites);
	free(setup->names);
	sws_options_free(&setup->options);
	free(setup);
	return true;
}

static struct sws_site *
find(const struct sws_setup *setup, const char *name)
{
	const struct sws_setup_name key = {name, NULL}, *found;

	found = bsearch(&key, setup->names, (size_t)setup->names_count, sizeof key, by_name);
	return found != NULL ? found->site : NULL;
}

/* "*.example.org" is for all names beneath example.org, and the longest one that fits counts. */
struct sws_site *
sws_setup_find(const struct sws_setup *setup, const char *host, size_t len)
{
	char name[SWS_HOST_MAX + 3];
	const char *colon = memrchr(host, ':', len);
	struct sws_site *site;

	/* An IPv6 address has colons, too, in brackets. */
	if (colon != NULL && memchr(colon, ']', len - (size_t)(colon - host)) == NULL)
		len = (size_t)(colon - host);
	if (len > 0 && host[len - 1] == '.')
		len--;
	if (len == 0 || len > SWS_HOST_MAX)
		return &setup->sites[0];
	for (size_t i = 0; i < len; i++)
		name[i] = (char)tolower((unsigned char)host[i]);
	name[len] = '\0';
	site = find(setup, name);
	for (char *dot = strchr(name, '.'); site == NULL && dot != NULL && dot > name;
	    dot = strchr(dot + 1, '.')) {
		char before = dot[-1];

		dot[-1] = '*';
		site = find(setup, dot - 1);
		dot[-1] = before;
	}
	return site != NULL ? site : &setup->sites[0];
}
