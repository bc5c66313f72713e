/* SPDX-License-Identifier: MIT */
/*
 * check.c: CheckInCache, ReadFile and 404: from requests to answers.
 *
 * Usually this takes a single look-up in the core's own index. A path that is not there is looked
 * up in the store, and then opened as a file. The first core to use a page in a second compares
 * it with its file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "http/coding.h"
#include "http/path.h"
#include "apply.h"
#include "compress.h"
#include "conn.h"
#include "disk.h"
#include "inside.h"
#include "list.h"
#include "site/rules.h"
#include "stages.h"

static void check_in_cache_fn(void *arg);
static void page_built_fn(void *arg);
static void not_found_fn(void *arg);

struct mely_handler sws_check_in_cache = SWS_CHECK_IN_CACHE(check_in_cache_fn);
struct mely_handler sws_page_built = SWS_READ_FILE(page_built_fn);
struct mely_handler sws_not_found = SWS_NOT_FOUND(not_found_fn);

/* ---- from the path to a page --------------------------------------------------------------- */

/* May the page be served? One core a second checks; the others serve it meanwhile. */
static inline bool
is_fresh(struct sws_core *core, struct sws_site *site, struct sws_page *page)
{
	uint32_t checked = atomic_load_explicit(&page->checked_s, memory_order_relaxed);

	/* Only pages of the store are checked: it hands out their replacements. */
	SWS_DEBUG_ASSERT(page->account == &core->server->store.bytes);
	/* acquire pairs with site/store.c:take_out. */
	if (atomic_load_explicit(&page->dead, memory_order_acquire))
		return false;
	if (checked == core->now_s)
		return true;
	/* The clocks of two cores may differ by a second; the word never goes back. relaxed: it
	 * only says which core checks; the result of the check passes through the store. */
	if ((int32_t)(core->now_s - checked) < 0
	    || !atomic_compare_exchange_strong_explicit(&page->checked_s, &checked, core->now_s,
	    memory_order_relaxed, memory_order_relaxed))
		return true;
	return sws_site_revalidate(site, page);
}

/* A request that is looked up, and what is used for it until the handler returns. */
struct look {
	struct sws_asker *asker;
	struct sws_core *core;
	struct sws_site *site;
	const struct http_request *req;
	const char *head;
};

static inline struct look
look_for(struct sws_asker *asker, struct sws_core *core, const struct http_request *req,
    const char *head)
{
	return (struct look){asker, core, sws_setup_site(sws_core_setup(core), req, head), req,
		head};
}

static struct look
look_of(struct sws_conn *conn, struct sws_core *core)
{
	struct sws_burst *burst = conn->burst;
	const struct sws_asked *asked = &burst->asked[burst->checked];
	const char *head = burst->in + asked->base;

	return look_for(&burst->asker, core, &asked->request, head);
}

/* Add a new page to the store, unless its body is sent from a file. */
static void
store(const struct look *look, struct sws_page *page, int body_fd)
{
	struct sws_server *server = look->core->server;
	bool crowded = false;

	if (body_fd >= 0)
		return;
	if (sws_store_put(&server->store, page, &crowded))
		sws_watches_add(&server->watches, look->site, page);
	else if (crowded)
		sws_cores_sweep(server);
}

/* The answer is this page, whose reference it takes over. */
static void
answer_with(struct sws_core *core, struct sws_page *page, struct sws_answer *a)
{
	a->page = page;
	/* A page of the store gets an entry, which then holds the page for the answer. */
	a->entry = page->account != NULL ? sws_index_insert(&core->index, page) : NULL;
	if (a->entry != NULL) {
		sws_entry_ref(a->entry);
		sws_page_unref(page);
	}
	SWS_ASSERT(a->entry == NULL || a->fd < 0);
}

/* The answer is a new page that sends the client elsewhere, or -503. */
static int
send_elsewhere(const struct look *look, const struct sws_path *path,
    const struct sws_redirect *redirect, struct sws_answer *a)
{
	const char *query = look->head + look->req->query.at;
	size_t query_len = look->req->query.len;
	int status = redirect != NULL
	    ? sws_page_moved(&a->page, redirect, query, query_len)
	    : sws_page_redirect(&a->page, path->text, path->len, query, query_len);

	a->entry = NULL;
	return status == 0 ? 0 : -503;
}

/* Fill in the answer from the file of a path; 0, a negative status, or SWS_DISK_AWAY. */
static int
resolve_file(const struct look *look, const struct sws_path *path, struct sws_answer *a)
{
	/* A path of the site itself, as that of an error page, has no redirection. */
	bool asked = sws_key_parts(path->text, path->len).role == SWS_ROLE_ITSELF;
	struct sws_redirect redirect;
	struct sws_page *page;
	struct stat st;
	int status, fd;

	if (asked && sws_redirect_find(&look->site->options.redirects, path->text, path->len,
	    &redirect))
		return send_elsewhere(look, path, &redirect, a);
	status = sws_file_open(&look->site->root, path->text, path->len, &fd, &st);
	if (status == -404 && path->text[path->len - 1] == '/'
	    && look->site->options.listing != SWS_LISTING_OFF)
		return sws_list_begin(look->asker, look->site, path, look->req, look->head);
	if (status < 0)
		return status;
	if (status == SWS_FILE_DIRECTORY)
		return asked ? send_elsewhere(look, path, NULL, a) : -404;
	status = sws_disk_page(look->asker, look->site, path, fd, &st, &page, &a->fd);
	if (status != 0)
		return status < 0 ? -503 : status;
	atomic_init(&page->checked_s, look->core->now_s);
	store(look, page, a->fd);
	answer_with(look->core, page, a);
	return 0;
}

/* ... for a path that is not in the index. */
static int
resolve_slow(const struct look *look, const struct sws_path *path, struct sws_answer *a)
{
	struct sws_page *page = sws_store_get(look->site->store, path->site, path->hash,
	    path->text, path->len);

	if (page != NULL && is_fresh(look->core, look->site, page)) {
		sws_count(&look->core->counters.cache_hits, 1);
		answer_with(look->core, page, a);
		return 0;
	}
	if (page != NULL)
		sws_page_unref(page);
	sws_count(&look->core->counters.cache_misses, 1);
	return resolve_file(look, path, a);
}

/* The page of a path in the index of this core: true. made: only one that sws makes counts. */
static inline bool
resolve_here(const struct look *look, const struct sws_path *path, bool made,
    struct sws_answer *a)
{
	struct sws_core *core = look->core;
	struct sws_entry *e = sws_index_find(&core->index, path->site, path->hash, path->text,
	    path->len);

	if (e == NULL || (made && !e->page->made))
		return false;
	SWS_ASSERT(e->core == core->number);
	if (!is_fresh(core, look->site, e->page)) {
		sws_index_drop(&core->index, e);
		return false;
	}
	/* relaxed: a hint for the store's make_room; written only while not set. */
	if (!atomic_load_explicit(&e->page->used, memory_order_relaxed))
		atomic_store_explicit(&e->page->used, true, memory_order_relaxed);
	sws_count(&core->counters.cache_hits, 1);
	sws_entry_ref(e);
	a->entry = e;
	a->page = e->page;
	return true;
}

static inline int
resolve(const struct look *look, const struct sws_path *path, struct sws_answer *a)
{
	return resolve_here(look, path, false, a) ? 0 : resolve_slow(look, path, a);
}

/* A page that sws makes is in the store, or nowhere: a file beside, too old, is another. */
static int
resolve_made(const struct look *look, const struct sws_path *path, struct sws_answer *a)
{
	struct sws_page *page;

	if (resolve_here(look, path, true, a))
		return 0;
	page = sws_store_get(look->site->store, path->site, path->hash, path->text, path->len);
	if (page == NULL)
		return -404;
	if (page->made && is_fresh(look->core, look->site, page)) {
		answer_with(look->core, page, a);
		return 0;
	}
	if (!page->made)
		sws_store_remove(look->site->store, page);
	sws_page_unref(page);
	return -404;
}

/* The answer for a path that ended with an error: what the operator wants instead, if anything. */
static int
resolve_instead(const struct look *look, const struct sws_path *path, int status,
    struct sws_answer *a)
{
	struct sws_path other = {.text = look->core->path};
	int role, result;
	const char *instead = sws_site_instead(look->site, path->text, path->len, -status, &role);

	if (instead == NULL || strlen(instead) > HTTP_TARGET_MAX)
		return status;
	other.len = sws_key_make(look->core->path, instead, strlen(instead), HTTP_IDENTITY, role);
	sws_site_hash(look->site, &other);
	a->fd = -1;
	result = resolve(look, &other, a);
	return result < 0 ? status : result;
}

/* ---- content codings ----------------------------------------------------------------------- */

/* The coding of a page that the client likes best. */
static enum http_coding
preferred(const struct sws_site *site, const struct http_request *req, const char *head,
    const struct sws_page *page)
{
	struct http_span value = req->field[HTTP_ACCEPT_ENCODING];
	struct http_accepted accepted;
	uint8_t order[HTTP_CODINGS], n = 0;
	size_t at = 0;

	for (const uint8_t *c = site->options.codings; *c != HTTP_IDENTITY; c++)
		if (page->codings >> *c & 1 & ~(page->makes >> *c))
			order[n++] = *c;
	for (const uint8_t *c = site->options.compress; *c != HTTP_IDENTITY; c++)
		if (page->makes >> *c & 1)
			order[n++] = *c;
	order[n] = HTTP_IDENTITY;
	http_accepted_init(&accepted);
	if (!(req->many >> HTTP_ACCEPT_ENCODING & 1))
		http_accepted_add(&accepted, head + value.at, value.len);
	else
		while (http_next_line(head, HTTP_ACCEPT_ENCODING, &at, &value))
			http_accepted_add(&accepted, head + value.at, value.len);
	return http_coding_choose(&accepted, order);
}

/*
 * The answer is a file that is also there in other codings: 0, and the answer is the one that the
 * client prefers; or SWS_DISK_AWAY.
 */
static int
negotiate(const struct look *look, struct sws_answer *a)
{
	struct sws_answer plain = *a;
	struct sws_path path = {.text = look->core->path};
	struct sws_key key;
	enum http_coding coding;
	int status;

	if (a->page->codings == 0 || !http_has(look->req, HTTP_ACCEPT_ENCODING))
		return 0;
	coding = preferred(look->site, look->req, look->head, a->page);
	if (coding == HTTP_IDENTITY)
		return 0;
	key = sws_key_parts(a->page->key, a->page->key_len);
	path.len = sws_key_make(look->core->path, a->page->key, key.path_len, coding, key.role);
	sws_site_hash(look->site, &path);
	a->fd = -1;
	status = plain.page->makes >> coding & 1 ? resolve_made(look, &path, a)
	    : resolve(look, &path, a);
	if (status < 0 || (status == 0 && a->page->vain)) {
		/* That file has gone, or is still to be made: this one is as good. */
		if (status == 0)
			sws_answer_release(a, look->core->number);
		else if (plain.page->makes >> coding & 1)
			sws_compress(look->core, look->site, &path, plain.page);
		*a = plain;
		return 0;
	}
	sws_answer_release(&plain, look->core->number);
	return status;
}

/* ---- one request --------------------------------------------------------------------------- */

static uint8_t
answer_flags(const struct http_request *req)
{
	uint8_t flags = 0;

	if (req->method == HTTP_HEAD)
		flags |= SWS_HEAD_ONLY;
	if (!(req->flags & HTTP_KEEP))
		flags |= SWS_SAY_CLOSE;
	else if (req->flags & HTTP_TOLD_KEEP)
		flags |= SWS_SAY_KEEP;
	return flags;
}

/* The answer to one request; 0, a negative status, or SWS_DISK_AWAY. */
static int
check_one(const struct look *look, struct sws_answer *a)
{
	const struct http_request *req = look->req;
	struct sws_path path = {look->head + req->path.at, req->path.len, 0, 0};
	int status;

	if (SWS_UNLIKELY(look->asker->conn->inside))
		return sws_inside_answer(look->core, req, look->head, answer_flags(req), a);
	if (!(req->flags & HTTP_PLAIN)) {
		status = http_path_normal(path.text, path.len, look->core->path, &path.len);
		if (status == -404 && look->site->options.dotfiles == SWS_DOTFILES_SERVE)
			status = 0;
		if (status < 0)
			return status;
		path.text = look->core->path;
	}
	/* The scanner has found it plain, or it is decoded. */
	SWS_DEBUG_ASSERT(http_path_is_normal(path.text, path.len));
	sws_site_hash(look->site, &path);
	a->fd = -1;
	a->flags = answer_flags(req);
	status = resolve(look, &path, a);
	if (__builtin_expect(status < 0, 0))
		status = resolve_instead(look, &path, status, a);
	if (status == 0)
		status = negotiate(look, a);
	return status == 0 ? sws_answer_complete(look->core, look->req, look->head, a) : status;
}

/* ---- for one request of a stream ----------------------------------------------------------- */

int
sws_check_request(struct sws_asker *asker, struct sws_core *core, const struct http_request *req,
    const char *head, struct sws_answer *a)
{
	struct look look = look_for(asker, core, req, head);
	int status = check_one(&look, a);

	sws_core_leave_setup(core);
	return status;
}

void
sws_check_refuse(struct sws_core *core, const struct http_request *req, const char *head,
    int status, struct sws_answer *a)
{
	*a = sws_answer_of(sws_site_error(sws_setup_site(sws_core_setup(core), req, head), status),
	    answer_flags(req));
	sws_page_ref(a->page);
	sws_core_leave_setup(core);
}

/* ---- CheckInCache, ReadFile and 404 -------------------------------------------------------- */

static inline void
to_write(struct sws_conn *conn, struct sws_burst *burst)
{
	SWS_DEBUG_ASSERT(burst->count > 0 && burst->checked == burst->count);
	/* relaxed: a connection that misses the flag gets the drain event. */
	if (atomic_load_explicit(&conn->server->draining, memory_order_relaxed)
	    && !conn->closing) {
		burst->answers[burst->count - 1].flags &= (uint8_t)~SWS_SAY_KEEP;
		burst->answers[burst->count - 1].flags |= SWS_SAY_CLOSE;
		conn->closing = conn->linger = true;
		/* What follows gets no answer. */
		burst->bad = 0;
	}
	sws_conn_stage(conn, burst->bad != 0 && !conn->closing ? &sws_bad_request
	    : &sws_write_response);
}

struct mely_handler *
sws_check_all(struct sws_conn *conn, struct sws_core *core)
{
	struct sws_burst *burst = conn->burst;

	while (burst->checked < burst->count) {
		struct look look = look_of(conn, core);
		int status = check_one(&look, &burst->answers[burst->checked]);

		if (status == -400) {
			/* No correct client sends this path: treat it as a framing error. */
			burst->count = burst->checked;
			burst->bad = 400;
			return &sws_bad_request;
		}
		if (status < 0) {
			burst->bad_path = -status;
			return &sws_not_found;
		}
		if (status == SWS_DISK_AWAY)
			return NULL;
		burst->checked++;
	}
	return &sws_write_response;
}

static void
check_in_cache_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_burst *burst = conn->burst;
	struct sws_core *core = sws_core_here(conn->server);
	struct mely_handler *next;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	sws_burst_assert(burst);
	SWS_DEBUG_ASSERT(burst->out == 0 && burst->count <= SWS_BURST_MAX);
	/* The input may have been read on another core, or long ago. */
	sws_core_tick(core);
	next = sws_check_all(conn, core);
	sws_core_leave_setup(core);
	if (next == &sws_write_response)
		to_write(conn, burst);
	else if (next != NULL)
		sws_conn_stage(conn, next);
}

/* A page that a helper has built, of the file at the time of the request. A page that the store has
 * by now is as new, or newer: use it while it is fresh. */
static struct sws_page *
store_late(const struct look *look, struct sws_page *page, int *body_fd)
{
	struct sws_page *other = sws_store_get(look->site->store, page->site, page->hash, page->key,
	    page->key_len);

	if (other == NULL || !is_fresh(look->core, look->site, other)) {
		if (other != NULL)
			sws_page_unref(other);
		store(look, page, *body_fd);
		return page;
	}
	sws_page_unref(page);
	if (*body_fd >= 0)
		close(*body_fd);
	*body_fd = -1;
	return other;
}

/* A helper has built the page. 0, a negative status, SWS_DISK_AWAY, or SWS_DISK_STALE. */
static int
finish_built(const struct look *look, struct sws_answer *a)
{
	struct sws_stream *listing = sws_disk_begun(look->asker);
	struct sws_page *page;
	int status = listing != NULL ? sws_list_answer(listing, look->core, a)
	    : sws_disk_finish(look->asker, &page, &a->fd);

	if (status != 0)
		return status < 0 ? -503 : status;
	if (listing == NULL) {
		if (page->account == NULL)
			page = store_late(look, page, &a->fd);
		answer_with(look->core, page, a);
		status = negotiate(look, a);
	}
	return status == 0 ? sws_answer_complete(look->core, look->req, look->head, a) : status;
}

int
sws_check_built(struct sws_asker *asker, struct sws_core *core, const struct http_request *req,
    const char *head, struct sws_answer *a)
{
	struct look look = look_for(asker, core, req, head);
	int status = finish_built(&look, a);

	/* Another setup is in force: look the request up in it. */
	if (status == SWS_DISK_STALE)
		status = check_one(&look, a);
	sws_core_leave_setup(core);
	return status;
}

/* The answer to request number checked ends where the connection does. */
static void
end_with_answer(struct sws_conn *conn, struct sws_burst *burst)
{
	struct sws_answer *a = &burst->answers[burst->checked];

	a->flags = (uint8_t)((a->flags & ~SWS_SAY_KEEP) | SWS_SAY_CLOSE);
	burst->count = burst->checked + 1;
	burst->bad = 0;
	conn->closing = true;
	conn->linger = true;
}

/* A helper has built the page of request number checked. */
static void
page_built_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_conn *conn = asker->conn;
	struct sws_core *core = sws_core_here(conn->server);
	struct sws_burst *burst = conn->burst;
	struct look look = look_of(conn, core);
	int status;

	SWS_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(conn->state == SWS_CONN_BUSY && burst->checked < burst->count);
	sws_core_tick(core);
	status = finish_built(&look, &burst->answers[burst->checked]);
	sws_core_leave_setup(core);
	if (status == SWS_DISK_AWAY)
		return;
	if (status < 0) {
		burst->bad_path = -status;
		sws_conn_stage(conn, &sws_not_found);
		return;
	}
	/* SWS_DISK_STALE: another setup is in force, so the request is looked up again in it. */
	if (status == 0) {
		if (burst->answers[burst->checked].flags & SWS_TO_END)
			end_with_answer(conn, burst);
		burst->checked++;
	}
	check_in_cache_fn(conn);
}

/* Add the error answer (404, 403, ...) for one path, then continue with the others. */
static void
not_found_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_burst *burst = conn->burst;
	struct sws_answer *a = &burst->answers[burst->checked];
	struct look look;

	SWS_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(burst->checked < burst->count && burst->bad_path != 0);
	sws_burst_assert(burst);
	look = look_of(conn, sws_core_here(conn->server));
	*a = sws_answer_of(sws_site_error(look.site, burst->bad_path), answer_flags(look.req));
	sws_page_ref(a->page);
	sws_core_leave_setup(look.core);
	burst->checked++;
	if (burst->checked < burst->count)
		sws_conn_stage(conn, &sws_check_in_cache);
	else
		to_write(conn, burst);
}
