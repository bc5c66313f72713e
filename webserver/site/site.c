/* SPDX-License-Identifier: MIT */
/*
 * site.c: making and freeing a site, and from its files to pages.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "http/parse.h"
#include "site/encode.h"
#include "site/mime.h"
#include "site/rules.h"
#include "site/site.h"

/* Files of other sizes are not encoded: there is little to save, or it takes too long. */
#define ENCODE_MIN 1024
#define ENCODE_MAX (8 << 20)

static const int statuses[SWS_ERRORS] = {
	[SWS_400] = 400, [SWS_403] = 403, [SWS_404] = 404, [SWS_405] = 405, [SWS_408] = 408,
	[SWS_412] = 412, [SWS_413] = 413, [SWS_414] = 414, [SWS_421] = 421, [SWS_431] = 431,
	[SWS_500] = 500, [SWS_501] = 501, [SWS_503] = 503, [SWS_505] = 505
};

int
sws_site_init(struct sws_site *site, const struct sws_site_options *options,
    struct sws_store *store)
{
	static _Atomic(uint32_t) numbers;
	int status;

	memset(site, 0, sizeof *site);
	site->options = *options;
	site->root = (struct sws_root){
		-1, (enum sws_symlinks)options->symlinks, options->index
	};
	site->store = store;
	/* relaxed: only the number counts. */
	site->number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
	site->style.fields = site->options.fields;
	site->style.copy = !site->options.sendfile;
	site->style.rules = &site->options.field_rules;
	site->style.site = site->number;
	status = sws_root_open(&site->root, options->root);
	if (status != 0)
		return status;
	if (getrandom(&site->hash_seed, sizeof site->hash_seed, 0) < 0)
		site->hash_seed = mely_now_ns();
	status = mime_new(&site->style.mime, options->mime_types);
	for (int i = 0; status == 0 && i < SWS_ERRORS; i++)
		status = sws_page_error(&site->errors[i], statuses[i]);
	return status;
}

void
sws_site_fini(struct sws_site *site)
{
	for (int i = 0; i < SWS_ERRORS; i++)
		if (site->errors[i] != NULL)
			sws_page_unref(site->errors[i]);
	if (site->store != NULL)
		sws_store_remove_site(site->store, site->number);
	mime_free(site->style.mime);
	if (site->root.fd >= 0)
		close(site->root.fd);
}

struct sws_page *
sws_site_error(const struct sws_site *site, int status)
{
	/* Other errors get the page for 500; anything else here is a mistake of the caller. */
	SWS_DEBUG_ASSERT(status >= 400 && status < 600);
	for (int i = 0; i < SWS_ERRORS; i++)
		if (statuses[i] == status)
			return site->errors[i];
	return site->errors[SWS_500];
}

/* Eight bytes at a time. The seed keeps clients from constructing collisions. */
void
sws_site_hash(const struct sws_site *site, struct sws_path *path)
{
	const uint64_t k = UINT64_C(0x9fb21c651e98df25);
	const char *p = path->text;
	size_t len = path->len;
	uint64_t hash = site->hash_seed ^ len * k, word;
	__uint128_t product;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		product = (__uint128_t)(hash ^ word) * k;
		hash = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	word = 0;
	memcpy(&word, p, len);
	product = (__uint128_t)(hash ^ word) * k;
	path->hash = (uint64_t)product ^ (uint64_t)(product >> 64);
	path->site = site->number;
}

/* Does a path name something else than a page of an application: does it have a known suffix? */
static bool
is_asset(const struct sws_site *site, const char *path, size_t len)
{
	return mime_is_known(site->style.mime, path, len);
}

const char *
sws_site_instead(const struct sws_site *site, const char *path, size_t len, int status, int *role)
{
	if (status == 404 && site->options.fallback != NULL && !is_asset(site, path, len)) {
		*role = SWS_ROLE_FALLBACK;
		return site->options.fallback;
	}
	*role = SWS_ROLE_OF(status);
	return sws_error_page_find(&site->options.error_pages, status);
}

/*
 * In which codings is a file also there? A file beside it, with the coding's suffix, counts unless
 * it is older. -1: no descriptors to find out.
 */
static int
codings_of(const struct sws_site *site, const char *key, size_t key_len, const struct stat *st)
{
	char coded[HTTP_TARGET_MAX + SWS_KEY_MORE];
	struct sws_key parts = sws_key_parts(key, key_len);
	int codings = 0;

	if (parts.coding != HTTP_IDENTITY || key_len > HTTP_TARGET_MAX)
		return 0;
	for (const uint8_t *c = site->options.codings; *c != HTTP_IDENTITY; c++) {
		size_t len = sws_key_make(coded, key, parts.path_len, *c, parts.role);
		struct stat beside;
		int fd, kind = sws_file_open(&site->root, coded, len, &fd, &beside);

		if (kind == -503)
			return -1;
		if (kind != SWS_FILE_REGULAR)
			continue;
		close(fd);
		if (beside.st_mtim.tv_sec > st->st_mtim.tv_sec
		    || (beside.st_mtim.tv_sec == st->st_mtim.tv_sec
		    && beside.st_mtim.tv_nsec >= st->st_mtim.tv_nsec))
			codings |= 1 << *c;
	}
	return codings;
}

static bool
has_same_codings(const struct sws_site *site, const struct sws_page *page, const struct stat *st)
{
	int codings = codings_of(site, page->key, page->key_len, st);

	return codings < 0 || codings == (page->codings & ~page->makes);
}

/* Is there a file in this coding that counts? */
static bool
is_beside(const struct sws_site *site, const char *key, size_t key_len, const struct stat *st,
    unsigned coding)
{
	int codings = codings_of(site, key, key_len, st);

	return codings >= 0 && (codings >> coding & 1);
}

bool
sws_site_revalidate(struct sws_site *site, struct sws_page *page)
{
	char plain[HTTP_TARGET_MAX + SWS_KEY_MORE];
	const char *key = page->key;
	size_t len = page->key_len;
	struct stat st;
	bool same;
	int fd, kind;

	/* One that is made is of the plain file, until there is a file in its coding. */
	if (page->made) {
		len = sws_key_plain(plain, key, len);
		key = plain;
	}
	kind = sws_file_open(&site->root, key, len, &fd, &st);
	/* Without descriptors or memory for the comparison, the page is still the best there is:
	 * compare again in a second. */
	same = kind == -503
	    || (kind == SWS_FILE_REGULAR && !page->young && sws_page_matches(page, &st)
	    && (page->made ? !is_beside(site, key, len, &st, page->coding)
	    : has_same_codings(site, page, &st)));

	SWS_ASSERT((kind == SWS_FILE_REGULAR) == (fd >= 0));
	if (fd >= 0)
		close(fd);
	if (!same)
		sws_store_remove(site->store, page);
	return same;
}

enum sws_body
sws_site_body_of(const struct sws_site *site, uint64_t size)
{
	return size > site->options.cache_file_size || size > SWS_BODY_MAX
	    || size >= site->store->cap ? SWS_BODY_NONE : SWS_BODY_CACHED;
}

/* The codings that sws makes itself of a file, besides those that there are. */
static uint8_t
makes_of(const struct sws_site *site, const struct sws_page_style *style, const char *path,
    size_t len, const struct stat *st)
{
	uint8_t makes = 0;

	if (site->options.compress[0] == HTTP_IDENTITY || st->st_size < ENCODE_MIN
	    || st->st_size > ENCODE_MAX)
		return 0;
	if (path[len - 1] == '/')
		path = style->index, len = strlen(path);
	if (!sws_is_compressible(mime_type(site->style.mime, path, len)))
		return 0;
	for (const uint8_t *c = site->options.compress; *c != HTTP_IDENTITY; c++)
		makes |= (uint8_t)(1 << *c);
	return makes;
}

/* The style of the site, for a path whose file st describes: the one with this suffix. */
static struct sws_page_style
style_for(const struct sws_site *site, const char *path, size_t len, const char *suffix,
    const struct stat *st, char name[NAME_MAX + 1])
{
	struct sws_page_style style = site->style;

	if (path[len - 1] == '/')
		style.index = sws_index_name(&site->root, path, len, suffix, st, name);
	return style;
}

int
sws_site_encoded(const struct sws_site *site, const struct sws_path *path,
    const struct stat *st, const char *bytes, size_t len, struct sws_page **page)
{
	char name[NAME_MAX + 1];
	struct sws_page_style style = style_for(site, path->text,
	    sws_key_parts(path->text, path->len).path_len, "", st, name);

	return sws_page_encoded(page, &style, path->text, path->len, path->hash, st, bytes, len);
}

int
sws_site_vain(const struct sws_site *site, const struct sws_path *path,
    const struct sws_page *plain, struct sws_page **page)
{
	struct stat st = {.st_dev = plain->dev, .st_ino = plain->ino, .st_mtim = plain->mtime,
		.st_ctim = plain->ctime, .st_size = (off_t)plain->file_size};

	return sws_site_encoded(site, path, &st, NULL, 0, page);
}

int
sws_site_build(struct sws_site *site, const struct sws_path *path, int *fd, struct stat *st,
    enum sws_body body, struct sws_page **page)
{
	int codings = codings_of(site, path->text, path->len, st);
	uint8_t known = codings > 0 ? (uint8_t)codings : 0, makes = 0;
	struct sws_key key = sws_key_parts(path->text, path->len);
	char name[NAME_MAX + 1];
	struct sws_page_style style = style_for(site, path->text, key.path_len,
	    http_coding_suffix(key.coding), st, name);
	int status;

	if (key.coding == HTTP_IDENTITY)
		makes = makes_of(site, &style, path->text, key.path_len, st) & (uint8_t)~known;
	known |= makes;
	status = sws_page_build(page, &style, path->text, path->len, path->hash, *fd, st,
	    known, body);
	if (status == -EAGAIN)
		return status;
	if (status == -ESTALE && fstat(*fd, st) == 0) {
		/* The file is being written. Send it from the descriptor, with a fixed size. */
		body = SWS_BODY_NONE;
		status = sws_page_build(page, &style, path->text, path->len, path->hash, *fd, st,
		    known, body);
	}
	if (status == 0)
		(*page)->makes = makes;
	if (status != 0 || body != SWS_BODY_NONE) {
		close(*fd);
		*fd = -1;
	}
	return status;
}

void
sws_site_forget(struct sws_site *site, const char *path, size_t len, enum http_coding coding,
    int role)
{
	char key[HTTP_TARGET_MAX + SWS_KEY_MORE];
	struct sws_path of = {.text = key, .len = len};
	struct sws_page *page;

	SWS_ASSERT(len <= HTTP_TARGET_MAX);
	memcpy(key, path, len);
	if (coding != HTTP_IDENTITY || role != SWS_ROLE_ITSELF)
		of.len = sws_key_make(key, key, len, coding, role);
	sws_site_hash(site, &of);
	page = sws_store_get(site->store, site->number, of.hash, key, of.len);
	if (page == NULL)
		return;
	sws_store_remove(site->store, page);
	sws_page_unref(page);
}
