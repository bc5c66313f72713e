/* SPDX-License-Identifier: MIT */
/*
 * tls_pairs.c: certificates and their keys: loading, the names that they are for, and new files.
 *
 * All pairs are loaded together and replaced together. A handshake counts as a user of those that
 * it began with. The lock of the pairs is held for the copy of a pointer.
 *
 * The names come from the certificates. A client that asks for a name gets the first pair that has
 * it, else one with a wildcard for it, else the first of all. Two pairs with the same names and
 * different kinds of keys share a context, and OpenSSL takes what the client understands.
 */
#include <ctype.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/assertion.h"
#include "net/tls_parts.h"

#define NAME_MAX_LEN 255

/* A name of a certificate. */
struct name {
	char *text;                /* in lower case */
	int pair;                  /* the number of its pair */
};

struct pair {
	SSL_CTX *context;          /* counted; of an earlier pair, too, if they share it */
	int64_t not_after;
	char **names;
	int names_count;
};

struct sws_tls_certs {
	_Atomic(uint32_t) refs;
	struct pair *pairs;
	int pairs_count;
	struct name *names;        /* sorted by text, then by pair */
	int names_count;
};

/* What tells one state of a file from another. */
struct version {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct sws_tls_pairs {
	struct sws_tls *tls;
	const struct sws_tls_options *options;
	pthread_mutex_t lock;
	struct sws_tls_certs *certs; /* under the lock */
	/* Of all files, two for a pair. The last are those that were loaded, or found broken; the
	 * seen ones are of the call before. */
	struct version *last, *seen, *now;
};

/* ---- files --------------------------------------------------------------------------------- */

const char *
sws_tls_pair_check(const char *text)
{
	const char *comma = strchr(text, ',');

	return comma == text || (comma != NULL && (comma[1] == '\0' || strchr(comma + 1, ',')))
	    ? "expected CERT,KEY or CERT" : NULL;
}

/* The names of the files of a pair: a copy of its text, in which *key points. */
static char *
split(const char *text, char **key)
{
	char *cert = strdup(text), *comma = cert != NULL ? strchr(cert, ',') : NULL;

	*key = comma != NULL ? comma + 1 : cert;
	if (comma != NULL)
		*comma = '\0';
	return cert;
}

static void
look_at(const char *file, struct version *v)
{
	struct stat st;

	memset(v, 0, sizeof *v);
	if (stat(file, &st) == 0)
		*v = (struct version){st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
}

/* False: no memory. */
static bool
look_at_all(const struct sws_texts *files, struct version *v)
{
	for (int i = 0; i < files->count; i++) {
		char *key, *cert = split(files->text[i], &key);

		if (cert == NULL)
			return false;
		look_at(cert, &v[2 * i]);
		look_at(key, &v[2 * i + 1]);
		free(cert);
	}
	return true;
}

static bool
are_same(const struct version *a, const struct version *b, int count)
{
	for (int i = 0; i < count; i++)
		if (a[i].device != b[i].device || a[i].inode != b[i].inode
		    || a[i].size != b[i].size
		    || a[i].modified.tv_sec != b[i].modified.tv_sec
		    || a[i].modified.tv_nsec != b[i].modified.tv_nsec
		    || a[i].changed.tv_sec != b[i].changed.tv_sec
		    || a[i].changed.tv_nsec != b[i].changed.tv_nsec)
			return false;
	return true;
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* A key with a password: a server cannot ask for it. */
static int
no_password(char *to, int size, int writing, void *arg)
{
	(void)to;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

/* The client asks for a name. */
static int
name_fn(SSL *ssl, int *alert, void *arg)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	SSL_CTX *context = name != NULL ? sws_tls_certs_find(sws_tls_certs_of(ssl), name) : NULL;

	(void)alert;
	(void)arg;
	if (context != NULL)
		SSL_set_SSL_CTX(ssl, context);
	return context != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/* The client offers protocols. RFC 7301, 3.2: an error if there is none in common. */
static int
protocol_fn(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
    unsigned in_len, void *arg)
{
	static const unsigned char both[] = "\x02h2\x08http/1.1";
	unsigned skip = arg != NULL ? 0 : 3;
	unsigned char *chosen;

	(void)ssl;
	if (SSL_select_next_proto(&chosen, out_len, both + skip, sizeof both - 1 - skip, in, in_len)
	    != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* A context without a certificate; NULL: no memory. */
static SSL_CTX *
new_context(const struct sws_tls_options *options)
{
	/* Those with forward secrecy and authentication, as RFC 9325 wants them. */
	static const char ciphers[] =
	    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
	    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
	    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
	static const unsigned char id[] = "sws";
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());

	if (c == NULL)
		return NULL;
	if (SSL_CTX_set_min_proto_version(c, options->min_version == SWS_TLS_1_3
	    ? TLS1_3_VERSION : TLS1_2_VERSION) != 1
	    || SSL_CTX_set_cipher_list(c, ciphers) != 1
	    || SSL_CTX_set1_groups_list(c, "X25519:P-256:P-384") != 1
	    || SSL_CTX_set_session_id_context(c, id, sizeof id - 1) != 1) {
		SSL_CTX_free(c);
		return NULL;
	}
	/* A client that ends TCP without TLS has ended: half a request gets no answer anyway. */
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
	    | SSL_OP_IGNORE_UNEXPECTED_EOF);
	/* No partial writes: a client may ask for smaller records than the channel makes. */
	SSL_CTX_set_mode(c, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_default_passwd_cb(c, no_password);
	SSL_CTX_set_tlsext_servername_callback(c, name_fn);
	/* Not the options: a handshake may outlive the setup that has them. */
	SSL_CTX_set_alpn_select_cb(c, protocol_fn, options->http2 ? c : NULL);
	SSL_CTX_set_info_callback(c, sws_tls_watch_state);
	sws_tls_use_tickets(c);
	return c;
}

/* ---- names --------------------------------------------------------------------------------- */

static bool
add_name(struct pair *p, const unsigned char *text, int len)
{
	char **more = realloc(p->names, (size_t)(p->names_count + 1) * sizeof *more);
	char *name;

	if (more != NULL)
		p->names = more;
	name = more != NULL ? strndup((const char *)text, (size_t)len) : NULL;
	if (name == NULL)
		return false;
	for (char *c = name; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	p->names[p->names_count++] = name;
	return true;
}

/* RFC 9525: the DNS names of the extension; a common name counts for old certificates only. */
static bool
take_names(struct pair *p, X509 *cert)
{
	GENERAL_NAMES *all = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	bool fine = true;

	for (int i = 0; fine && i < sk_GENERAL_NAME_num(all); i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(all, i);
		int len = g->type == GEN_DNS ? ASN1_STRING_length(g->d.dNSName) : 0;

		if (len > 0 && len <= NAME_MAX_LEN
		    && memchr(ASN1_STRING_get0_data(g->d.dNSName), '\0', (size_t)len) == NULL)
			fine = add_name(p, ASN1_STRING_get0_data(g->d.dNSName), len);
	}
	if (fine && p->names_count == 0) {
		X509_NAME *subject = X509_get_subject_name(cert);
		int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
		unsigned char *text = NULL;
		int len = at < 0 ? 0 : ASN1_STRING_to_UTF8(&text,
		    X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));

		if (len > 0 && len <= NAME_MAX_LEN && memchr(text, '\0', (size_t)len) == NULL)
			fine = add_name(p, text, len);
		OPENSSL_free(text);
	}
	GENERAL_NAMES_free(all);
	return fine;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int
by_text_and_pair(const void *a, const void *b)
{
	int order = by_text(a, b);

	return order != 0 ? order : ((const struct name *)a)->pair - ((const struct name *)b)->pair;
}

/* Sort the names of all pairs; the first pair with a name keeps it. */
static bool
sort_names(struct sws_tls_certs *certs)
{
	int n = 0, kept = 0;

	for (int i = 0; i < certs->pairs_count; i++)
		n += certs->pairs[i].names_count;
	certs->names = calloc((size_t)n + 1, sizeof certs->names[0]);
	if (certs->names == NULL)
		return false;
	n = 0;
	for (int i = 0; i < certs->pairs_count; i++)
		for (int k = 0; k < certs->pairs[i].names_count; k++)
			certs->names[n++] = (struct name){certs->pairs[i].names[k], i};
	qsort(certs->names, (size_t)n, sizeof certs->names[0], by_text_and_pair);
	for (int i = 0; i < n; i++)
		if (kept == 0 || by_text(&certs->names[kept - 1], &certs->names[i]) != 0)
			certs->names[kept++] = certs->names[i];
	certs->names_count = kept;
	return true;
}

static const struct name *
find_name(const struct sws_tls_certs *certs, char *text)
{
	const struct name key = {text, 0};

	return bsearch(&key, certs->names, (size_t)certs->names_count, sizeof key, by_text);
}

SSL_CTX *
sws_tls_certs_find(const struct sws_tls_certs *certs, const char *asked)
{
	char text[NAME_MAX_LEN + 1];
	size_t len = strlen(asked);
	const struct name *found;
	char *dot;

	if (len > 0 && asked[len - 1] == '.')
		len--;
	if (len == 0 || len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < len; i++)
		text[i] = (char)tolower((unsigned char)asked[i]);
	text[len] = '\0';
	found = find_name(certs, text);
	/* A wildcard stands for one label. */
	dot = strchr(text, '.');
	if (found == NULL && dot != NULL && dot > text) {
		dot[-1] = '*';
		found = find_name(certs, dot - 1);
	}
	return found != NULL ? certs->pairs[found->pair].context : NULL;
}

SSL_CTX *
sws_tls_certs_first(const struct sws_tls_certs *certs)
{
	return certs->pairs[0].context;
}

/* ---- loading ------------------------------------------------------------------------------- */

static int64_t
seconds_of(const ASN1_TIME *t)
{
	struct tm tm;

	return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static bool
have_same_names(const struct pair *a, const struct pair *b)
{
	if (a->names_count != b->names_count)
		return false;
	for (int i = 0; i < a->names_count; i++)
		if (strcmp(a->names[i], b->names[i]) != 0)
			return false;
	return true;
}

/* Why a file is refused: what OpenSSL says if that helps. */
static const char *
reason(const char *otherwise)
{
	unsigned long error = ERR_peek_error();
	int kind = ERR_GET_LIB(error);
	const char *text = sws_tls_take_error();

	return text != NULL && (ERR_SYSTEM_ERROR(error) || kind == ERR_LIB_X509
	    || kind == ERR_LIB_SSL) ? text : otherwise;
}

/* Put the files of a pair into a context: what is wrong, with the name of the file, or NULL. */
static const char *
use_files(SSL_CTX *context, const char *cert, const char *key, const char **file)
{
	*file = cert;
	if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
		return reason("no certificate in PEM");
	*file = key;
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1
	    || SSL_CTX_check_private_key(context) != 1)
		return reason("no key in PEM, or one with a password");
	return NULL;
}

/* The pair before number n that has the same names and another kind of key, or NULL. */
static struct pair *
sibling_of(const struct sws_tls_certs *certs, int n)
{
	int kind = EVP_PKEY_get_base_id(SSL_CTX_get0_privatekey(certs->pairs[n].context));

	for (int i = 0; i < n; i++) {
		struct pair *p = &certs->pairs[i];

		if (have_same_names(p, &certs->pairs[n])
		    && EVP_PKEY_get_base_id(SSL_CTX_get0_privatekey(p->context)) != kind)
			return p;
	}
	return NULL;
}

/* Load pair number n. False after one line. */
static bool
load(struct sws_tls_certs *certs, int n, const struct sws_tls_options *options)
{
	struct pair *p = &certs->pairs[n], *sibling;
	char *key, *cert = split(options->certificates.text[n], &key);
	const char *wrong = "no memory", *file = options->certificates.text[n];

	p->context = cert != NULL ? new_context(options) : NULL;
	certs->pairs_count++;
	if (p->context != NULL)
		wrong = use_files(p->context, cert, key, &file);
	if (wrong == NULL) {
		X509 *x = SSL_CTX_get0_certificate(p->context);

		p->not_after = seconds_of(X509_get0_notAfter(x));
		if (!take_names(p, x))
			wrong = "no memory";
	}
	sibling = wrong == NULL ? sibling_of(certs, n) : NULL;
	if (sibling != NULL) {
		wrong = use_files(sibling->context, cert, key, &file);
		SSL_CTX_free(p->context);
		p->context = sibling->context;
		SSL_CTX_up_ref(p->context);
	}
	if (wrong != NULL)
		fprintf(stderr, "sws: cannot use the certificate %s: %s: %s\n",
		    options->certificates.text[n], file, wrong);
	else if (p->not_after < (int64_t)time(NULL))
		fprintf(stderr, "sws: the certificate %s has expired\n", cert);
	ERR_clear_error();
	free(cert);
	return wrong == NULL;
}

static void
free_certs(struct sws_tls_certs *certs)
{
	for (int i = 0; i < certs->pairs_count; i++) {
		struct pair *p = &certs->pairs[i];

		for (int k = 0; k < p->names_count; k++)
			free(p->names[k]);
		free(p->names);
		SSL_CTX_free(p->context);
	}
	free(certs->names);
	free(certs->pairs);
	free(certs);
}

void
sws_tls_certs_unref(struct sws_tls_certs *certs)
{
	/* acq_rel: the thread that frees them must see all others done with them. */
	uint32_t before = atomic_fetch_sub_explicit(&certs->refs, 1, memory_order_acq_rel);

	SWS_ASSERT(before > 0);
	if (before == 1)
		free_certs(certs);
}

/* Load all pairs. NULL after one line on stderr. */
static struct sws_tls_certs *
load_all(const struct sws_tls_options *options)
{
	struct sws_tls_certs *certs = calloc(1, sizeof *certs);
	int n = options->certificates.count;

	SWS_ASSERT(n > 0);
	if (certs != NULL)
		certs->pairs = calloc((size_t)n, sizeof certs->pairs[0]);
	if (certs == NULL || certs->pairs == NULL) {
		fputs("sws: no memory for certificates\n", stderr);
		free(certs);
		return NULL;
	}
	atomic_init(&certs->refs, 1);
	for (int i = 0; i < n; i++)
		if (!load(certs, i, options)) {
			free_certs(certs);
			return NULL;
		}
	if (sort_names(certs))
		return certs;
	fputs("sws: no memory for certificates\n", stderr);
	free_certs(certs);
	return NULL;
}

/* ---- the pairs of a setup ------------------------------------------------------------------ */

struct sws_tls_pairs *
sws_tls_pairs_new(struct sws_tls *tls, const struct sws_tls_options *options)
{
	size_t files = 2 * (size_t)options->certificates.count;
	struct sws_tls_pairs *pairs = calloc(1, sizeof *pairs);

	if (pairs != NULL)
		pairs->last = calloc(3 * files, sizeof pairs->last[0]);
	if (tls == NULL || pairs == NULL || pairs->last == NULL) {
		fputs("sws: no memory for certificates\n", stderr);
		free(pairs);
		return NULL;
	}
	pairs->tls = tls;
	pairs->options = options;
	pairs->seen = pairs->last + files;
	pairs->now = pairs->seen + files;
	pthread_mutex_init(&pairs->lock, NULL);
	/* Before the files are read: a change meanwhile is found later. */
	if (look_at_all(&options->certificates, pairs->last)) {
		memcpy(pairs->seen, pairs->last, files * sizeof pairs->seen[0]);
		pairs->certs = load_all(options);
	}
	if (pairs->certs != NULL)
		return pairs;
	sws_tls_pairs_free(pairs);
	return NULL;
}

void
sws_tls_pairs_free(struct sws_tls_pairs *pairs)
{
	if (pairs == NULL)
		return;
	if (pairs->certs != NULL)
		sws_tls_certs_unref(pairs->certs);
	pthread_mutex_destroy(&pairs->lock);
	free(pairs->last);
	free(pairs);
}

struct sws_tls *
sws_tls_pairs_tls(const struct sws_tls_pairs *pairs)
{
	return pairs->tls;
}

struct sws_tls_certs *
sws_tls_pairs_certs(struct sws_tls_pairs *pairs)
{
	struct sws_tls_certs *certs;

	pthread_mutex_lock(&pairs->lock);
	certs = pairs->certs;
	/* relaxed: the pairs have a reference. */
	atomic_fetch_add_explicit(&certs->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&pairs->lock);
	return certs;
}

void
sws_tls_pairs_renew(struct sws_tls_pairs *pairs)
{
	const struct sws_texts *files = &pairs->options->certificates;
	struct sws_tls_certs *before, *certs;
	struct version *now = pairs->now;
	bool settled;

	if (!look_at_all(files, now))
		return;
	/* The two files of a pair change one after the other. */
	settled = are_same(now, pairs->seen, 2 * files->count);
	pairs->now = pairs->seen;
	pairs->seen = now;
	if (!settled || are_same(now, pairs->last, 2 * files->count))
		return;
	memcpy(pairs->last, now, 2 * (size_t)files->count * sizeof now[0]);
	certs = load_all(pairs->options);
	if (certs == NULL) {
		fputs("sws: the certificates before the change stay\n", stderr);
		return;
	}
	pthread_mutex_lock(&pairs->lock);
	before = pairs->certs;
	pairs->certs = certs;
	pthread_mutex_unlock(&pairs->lock);
	sws_tls_certs_unref(before);
	fputs("sws: certificates renewed\n", stderr);
}

const char *
sws_tls_pairs_expiry(struct sws_tls_pairs *pairs, int i, int64_t *not_after)
{
	struct sws_tls_certs *certs = sws_tls_pairs_certs(pairs);
	bool there = i < certs->pairs_count;

	if (there)
		*not_after = certs->pairs[i].not_after;
	sws_tls_certs_unref(certs);
	return there ? pairs->options->certificates.text[i] : NULL;
}
