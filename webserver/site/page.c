/* SPDX-License-Identifier: MIT */
/*
 * page.c: building the text of prebuilt responses, and reading the bodies.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "http/cond.h"
#include "http/date.h"
#include "http/lines.h"
#include "http/path.h"
#include "site/fields.h"
#include "site/file.h"
#include "site/mime.h"
#include "site/page.h"
#include "site/rules.h"

/* Long enough for every head of a file. */
#define HEAD_ROOM (1024 + SWS_FIELDS_MAX)
#define DATE_ROOM "Ddd, 00 Mmm 0000 00:00:00 GMT"
/* ... and on some file systems, as in HTTP dates, of a second or two. */
#define COARSE_S 2
#define SECOND_NS INT64_C(1000000000)
#define READ_TRIES 3

_Static_assert(sizeof DATE_ROOM - 1 == HTTP_DATE_LEN, "the date is written over it");

/*
 * What write.c relies on: a date to write over, an empty line at the end of the head to put a field
 * before; for a 206 the lines between the date and the length; and for a 206 and a 304 the end of
 * the head from the validators on.
 */
static void
assert_page(const struct sws_page *page)
{
	SWS_ASSERT(page->body + page->body_len <= (const char *)page + page->size);
	SWS_ASSERT(page->date_at + sizeof DATE_ROOM - 1 < page->head_len
	    && page->head[page->date_at + sizeof DATE_ROOM - 1] == '\r');
	SWS_ASSERT(memcmp(page->body - 4, "\r\n\r\n", 4) == 0);
	SWS_ASSERT(page->validators_at == 0 || (page->length_at > page->date_at
	    && page->validators_at > page->length_at
	    && page->validators_at < page->head_len));
	SWS_ASSERT(page->etag_len == 0 || (page->validators_at < page->etag_at
	    && page->head[page->etag_at] == '"'
	    && page->etag_at + page->etag_len + 4U == page->head_len));
}

static struct sws_page *
page_new(const char *key, size_t key_len, size_t head_len, size_t body_len)
{
	size_t size = sizeof(struct sws_page) + key_len + 1 + head_len + body_len;
	struct sws_page *page = malloc(size);
	char *bytes;

	SWS_ASSERT(body_len <= SWS_BODY_MAX && head_len <= SWS_BODY_MAX);
	if (page == NULL)
		return NULL;
	memset(page, 0, sizeof *page);
	atomic_init(&page->refs, 1);
	page->size = size;
	bytes = page->bytes;
	memcpy(bytes, key, key_len);
	bytes[key_len] = '\0';
	page->key = bytes;
	page->key_len = (uint32_t)key_len;
	page->head = bytes + key_len + 1;
	page->head_len = (uint32_t)head_len;
	page->body = page->head + head_len;
	page->body_len = (uint32_t)body_len;
	return page;
}

void
sws_page_unref(struct sws_page *page)
{
	/* acq_rel: the thread that frees the page must see all others done with its bytes. */
	uint32_t before = atomic_fetch_sub_explicit(&page->refs, 1, memory_order_acq_rel);

	SWS_ASSERT(before > 0);
	if (before != 1)
		return;
	/* relaxed: the store marks a page before it drops its reference. */
	SWS_ASSERT(page->account == NULL || atomic_load_explicit(&page->dead,
	    memory_order_relaxed));
	if (page->account != NULL)
		/* release pairs with store.c:make_room: the bytes count as free only after this. */
		atomic_fetch_sub_explicit(page->account, page->size, memory_order_release);
	free(page->fields);
	free(page);
}

/* The page is complete: add the form of its head that HTTP/2 sends. 0 or -ENOMEM. */
static int
hand_out(struct sws_page *page, struct sws_page **out)
{
	assert_page(page);
	page->fields = sws_fields_new(page->head, page->head_len);
	if (page->fields == NULL) {
		sws_page_unref(page);
		return -ENOMEM;
	}
	page->size += page->fields->size;
	*out = page;
	return 0;
}

/* ---- files --------------------------------------------------------------------------------- */

struct head_text {
	char text[HEAD_ROOM];
	size_t len;
	uint16_t date_at, length_at, validators_at, etag_at, etag_len;
	bool dated, young;
	struct sws_key key;
	uint8_t codings;
};

/* Has every later change of the file a later time of change than t? */
static bool
is_unique(const struct timespec *t, const struct timespec *now)
{
	int64_t age_s = now->tv_sec - t->tv_sec;

	/* A time in whole seconds may be of a file system that keeps no others. */
	if (age_s < 0 || age_s > COARSE_S || t->tv_nsec == 0)
		return age_s > COARSE_S;
	return age_s * SECOND_NS + now->tv_nsec - t->tv_nsec > SWS_REST_NS;
}

/*
 * Which validators the file has now. A tag must not name two versions, nor a date; otherwise a
 * client would hear that the one it has is still good. A page of a file that has just changed is
 * built again when it is next compared with its file.
 */
static void
choose_validators(struct head_text *h, const struct stat *st)
{
	struct timespec now;
	bool unique;

	clock_gettime(CLOCK_REALTIME, &now);
	unique = is_unique(&st->st_ctim, &now);
	/* Longer than it takes to be unique: the clock of a remote file system may be late. */
	h->young = !unique || st->st_ctim.tv_sec + COARSE_S >= now.tv_sec;
	/* The body of an error has no validators: a client does not keep it. */
	if (h->key.role >= SWS_ROLE_ERROR)
		return;
	h->etag_len = unique ? HTTP_ETAG_LEN : 0;
	h->dated = st->st_mtim.tv_sec + COARSE_S <= now.tv_sec;
}

static const char *reason(int status);

/* The lines that an operator adds to answers for a path. */
static const char *
further_fields(const struct head_text *h, const struct sws_page_style *style, const char *path,
    char lines[SWS_FIELDS_MAX])
{
	if ((style->rules == NULL || style->rules->count == 0)
	    && h->key.role != SWS_ROLE_FALLBACK)
		return style->fields;
	snprintf(lines, SWS_FIELDS_MAX, "%s", style->fields);
	if (style->rules != NULL)
		sws_field_rules_apply(style->rules, path, h->key.path_len, lines, SWS_FIELDS_MAX);
	/* What is there tomorrow must not be hidden by an answer of today. */
	if (h->key.role == SWS_ROLE_FALLBACK)
		(void)http_lines_add(lines, SWS_FIELDS_MAX, "Cache-Control: no-cache");
	return lines;
}

static void
write_head(struct head_text *h, const char *type, const char *fields, const struct stat *st)
{
	char date[HTTP_DATE_LEN], etag[HTTP_ETAG_LEN];
	int n, status = SWS_ROLE_STATUS(h->key.role);

	choose_validators(h, st);
	http_date_format(st->st_mtim.tv_sec, date);
	http_etag(st, h->key.coding, etag);
	n = sprintf(h->text, "HTTP/1.1 %d %s\r\nDate: ", status, reason(status));
	h->date_at = (uint16_t)n;
	n += snprintf(h->text + n, 768, DATE_ROOM "\r\nServer: sws\r\n"
	    "%sContent-Type: %.512s\r\n", status == 200 ? "Accept-Ranges: bytes\r\n" : "", type);
	if (h->key.coding != HTTP_IDENTITY)
		n += sprintf(h->text + n, "Content-Encoding: %s\r\n",
		    http_coding_name(h->key.coding));
	h->length_at = (uint16_t)n;
	n += sprintf(h->text + n, "Content-Length: %llu\r\n", (unsigned long long)st->st_size);
	h->validators_at = (uint16_t)n;
	n += sprintf(h->text + n, "%s", fields);
	if (h->key.coding != HTTP_IDENTITY || h->codings != 0)
		n += sprintf(h->text + n, "Vary: Accept-Encoding\r\n");
	if (h->dated)
		n += sprintf(h->text + n, "Last-Modified: %.*s\r\n", HTTP_DATE_LEN, date);
	h->etag_at = 0;
	if (h->etag_len > 0) {
		n += sprintf(h->text + n, "ETag: ");
		h->etag_at = (uint16_t)n;
		n += sprintf(h->text + n, "%.*s\r\n", HTTP_ETAG_LEN, etag);
	}
	n += sprintf(h->text + n, "\r\n");
	h->len = (size_t)n;
	SWS_ASSERT(h->len < sizeof h->text);
}

/* Read size bytes from the start. -ESTALE: the file is shorter, or a read failed. */
static int
read_all(int fd, char *to, size_t size, bool wait)
{
	size_t have = 0;

	SWS_ASSERT(fd >= 0);
	while (have < size) {
		struct iovec iov = {to + have, size - have};
		ssize_t n = preadv2(fd, &iov, 1, (off_t)have, wait ? 0 : RWF_NOWAIT);

		if (n < 0 && !wait) {
			if (errno == EAGAIN)
				return -EAGAIN;
			/* The file system or the kernel cannot tell. */
			wait = true;
			continue;
		}
		if (n <= 0)
			return -ESTALE;
		have += (size_t)n;
	}
	return 0;
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
	    && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
	    && a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool
sws_page_matches(const struct sws_page *page, const struct stat *st)
{
	/* A page of an error has no file that it could match. */
	SWS_ASSERT(page->validators_at != 0);
	return page->dev == st->st_dev && page->ino == st->st_ino
	    && (page->made ? page->source_size : page->file_size) == (uint64_t)st->st_size
	    && page->mtime.tv_sec == st->st_mtim.tv_sec
	    && page->mtime.tv_nsec == st->st_mtim.tv_nsec
	    && page->ctime.tv_sec == st->st_ctim.tv_sec
	    && page->ctime.tv_nsec == st->st_ctim.tv_nsec;
}

/* The media type of a path. */
static const char *
type_of(const struct sws_page_style *style, const char *path, size_t len)
{
	return path[len - 1] == '/' ? mime_type(style->mime, style->index, strlen(style->index))
	    : mime_type(style->mime, path, len);
}

static void
fill(struct sws_page *page, const struct sws_page_style *style, const struct head_text *h,
    uint64_t hash, const struct stat *st)
{
	memcpy((char *)page->head, h->text, h->len);
	page->hash = hash;
	page->site = style->site;
	page->status = (uint16_t)SWS_ROLE_STATUS(h->key.role);
	page->date_at = h->date_at;
	page->length_at = h->length_at;
	page->validators_at = h->validators_at;
	page->etag_at = h->etag_at;
	page->etag_len = h->etag_len;
	page->file_size = (uint64_t)st->st_size;
	page->modified_s = st->st_mtim.tv_sec;
	page->dev = st->st_dev;
	page->ino = st->st_ino;
	page->mtime = st->st_mtim;
	page->ctime = st->st_ctim;
	page->dated = h->dated;
	page->young = h->young;
	page->coding = (uint8_t)h->key.coding;
	page->codings = h->codings;
}

int
sws_page_encoded(struct sws_page **out, const struct sws_page_style *style, const char *key,
    size_t key_len, uint64_t hash, const struct stat *st, const char *bytes, size_t len)
{
	struct head_text h = {.key = sws_key_parts(key, key_len)};
	struct stat coded = *st;
	char lines[SWS_FIELDS_MAX];
	struct sws_page *page;

	SWS_ASSERT(h.key.coding != HTTP_IDENTITY && (bytes != NULL) == (len > 0));
	/* The length is that of the bytes, and a part of the tag, too. */
	coded.st_size = (off_t)len;
	write_head(&h, type_of(style, key, h.key.path_len),
	    further_fields(&h, style, key, lines), &coded);
	page = page_new(key, key_len, h.len, len);
	if (page == NULL)
		return -ENOMEM;
	fill(page, style, &h, hash, &coded);
	if (len > 0)
		memcpy((char *)page->body, bytes, len);
	page->made = true;
	page->vain = bytes == NULL;
	page->source_size = (uint64_t)st->st_size;
	return hand_out(page, out);
}

int
sws_page_build(struct sws_page **out, const struct sws_page_style *style, const char *key,
    size_t key_len, uint64_t hash, int fd, const struct stat *first, uint8_t codings,
    enum sws_body body)
{
	const char *type, *fields;
	char lines[SWS_FIELDS_MAX];
	struct stat st = *first, after;
	struct head_text h = {.key = sws_key_parts(key, key_len), .codings = codings};
	struct sws_page *page;
	int tries = 0, status = 0;

	SWS_ASSERT(key_len > 0 && key[0] == '/');
	type = type_of(style, key, h.key.path_len);
	fields = further_fields(&h, style, key, lines);
	do {
		size_t body_len = body != SWS_BODY_NONE ? (size_t)st.st_size : 0;

		write_head(&h, type, fields, &st);
		page = page_new(key, key_len, h.len, body_len);
		if (page == NULL)
			return -ENOMEM;
		if (body == SWS_BODY_NONE)
			break;
		/* The bytes are of one version only if the file is the same before and after. */
		status = read_all(fd, (char *)page->body, body_len, body == SWS_BODY_READ);
		if (status == 0 && fstat(fd, &after) != 0)
			status = -ESTALE;
		else if (status == 0 && !same_file(&st, &after))
			status = -ESTALE, st = after;
		if (status == 0)
			break;
		sws_page_unref(page);
	} while (++tries < READ_TRIES && st.st_size == first->st_size && status == -ESTALE);
	if (status != 0)
		return status;
	fill(page, style, &h, hash, &st);
	/* sendfile lends the kernel the pages of the file itself, and a write to them changes what
	 * is still on its way. So a file that has changed of late, and may again, is copied. */
	page->copy = h.young || style->copy;
	return hand_out(page, out);
}

/* ---- several ranges ------------------------------------------------------------------------- */

#define TYPE_FIELD "\r\nContent-Type: "

const char *
sws_page_type(const struct sws_page *page, size_t *len)
{
	const char *end = page->head + page->length_at;
	const char *line = memmem(page->head, page->length_at, TYPE_FIELD,
	    sizeof TYPE_FIELD - 1), *type = line + sizeof TYPE_FIELD - 1;

	/* Every page of a file has one, before its length. */
	SWS_ASSERT(page->length_at != 0 && line != NULL);
	*len = (size_t)((const char *)memchr(type, '\r', (size_t)(end - type)) - type);
	return type;
}

int
sws_page_multipart(struct sws_page **out, const struct sws_page *of, const char *boundary,
    uint64_t len)
{
	size_t date_at = of->date_at, type_len;
	const char *type = sws_page_type(of, &type_len), *end = of->head + of->head_len;
	const char *server = of->head + date_at + HTTP_DATE_LEN, *after = type + type_len;
	size_t room = of->head_len + strlen(boundary) + 128;
	char *head = malloc(room);
	struct sws_page *page;
	int n, date;

	if (head == NULL)
		return -ENOMEM;
	date = sprintf(head, "HTTP/1.1 206 Partial Content\r\nDate: ");
	n = date + snprintf(head + date, room - (size_t)date, DATE_ROOM
	    "%.*smultipart/byteranges; boundary=%s%.*sContent-Length: %llu\r\n%.*s",
	    (int)(type - server), server, boundary, (int)(of->head + of->length_at - after),
	    after, (unsigned long long)len, (int)(end - of->head - of->validators_at),
	    of->head + of->validators_at);
	SWS_ASSERT((size_t)n < room);
	page = page_new("", 0, (size_t)n, 0);
	if (page != NULL) {
		memcpy((char *)page->head, head, (size_t)n);
		page->date_at = (uint16_t)date;
		page->status = 206;
		page->file_size = len;
	}
	free(head);
	return page != NULL ? hand_out(page, out) : -ENOMEM;
}

/* ---- what is not a file ---------------------------------------------------------------------- */

/* No script runs in it, and nothing is loaded. */
#define POLICY "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"

int
sws_page_made(struct sws_page **out, const struct sws_page_style *style, const char *path,
    size_t len, const struct sws_page_made *made)
{
	/* Its fields are those of a fallback: it is never kept without asking again. */
	struct head_text h = {.key = {len, HTTP_IDENTITY, SWS_ROLE_FALLBACK}};
	char lines[SWS_FIELDS_MAX], etag[HTTP_ETAG_LEN], *head = h.text;
	struct sws_page *page;
	int n = sprintf(head, "HTTP/1.1 200 OK\r\nDate: ");

	h.date_at = (uint16_t)n;
	n += snprintf(head + n, 512, DATE_ROOM "\r\nServer: sws\r\nContent-Type: %.256s\r\n",
	    made->type);
	h.length_at = (uint16_t)n;
	if (made->body != NULL)
		n += sprintf(head + n, "Content-Length: %zu\r\n", made->body_len);
	else if (made->chunked)
		n += sprintf(head + n, "Transfer-Encoding: chunked\r\n");
	h.validators_at = (uint16_t)n;
	n += sprintf(head + n, "%s" POLICY "%s", further_fields(&h, style, path, lines),
	    made->vary ? "Vary: Accept\r\n" : "");
	if (made->body != NULL) {
		http_etag_of_bytes(made->body, made->body_len, etag);
		n += sprintf(head + n, "ETag: ");
		h.etag_at = (uint16_t)n;
		n += sprintf(head + n, "%.*s\r\n", HTTP_ETAG_LEN, etag);
	}
	n += sprintf(head + n, "\r\n");
	SWS_ASSERT((size_t)n < sizeof h.text);
	page = page_new("", 0, (size_t)n, made->body_len);
	if (page == NULL)
		return -ENOMEM;
	memcpy((char *)page->head, head, (size_t)n);
	page->status = 200;
	page->date_at = h.date_at;
	if (made->body != NULL) {
		memcpy((char *)page->body, made->body, made->body_len);
		page->file_size = made->body_len;
		page->length_at = h.length_at;
		page->validators_at = h.validators_at;
		page->etag_at = h.etag_at;
		page->etag_len = HTTP_ETAG_LEN;
	}
	return hand_out(page, out);
}

/* ---- errors and redirections ----------------------------------------------------------------- */

static const char *
reason(int status)
{
	switch (status) {
	case 200: return "OK";
	case 301: return "Moved Permanently";
	case 302: return "Found";
	case 303: return "See Other";
	case 307: return "Temporary Redirect";
	case 308: return "Permanent Redirect";
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 408: return "Request Timeout";
	case 412: return "Precondition Failed";
	case 413: return "Content Too Large";
	case 414: return "URI Too Long";
	case 416: return "Range Not Satisfiable";
	case 421: return "Misdirected Request";
	case 431: return "Request Header Fields Too Large";
	case 501: return "Not Implemented";
	case 503: return "Service Unavailable";
	case 505: return "HTTP Version Not Supported";
	default: return "Internal Server Error";
	}
}

int
sws_page_text(struct sws_page **out, int status, const char *type, const char *fields,
    const char *body, size_t body_len)
{
	size_t room = 512 + strlen(fields) + strlen(type);
	char *head = malloc(room);
	struct sws_page *page;
	int n, date_at;

	if (head == NULL)
		return -ENOMEM;
	date_at = n = snprintf(head, room, "HTTP/1.1 %d %s\r\nDate: ", status, reason(status));
	n += snprintf(head + n, room - (size_t)n, DATE_ROOM "\r\nServer: sws\r\n%s"
	    "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", fields, type, body_len);
	SWS_ASSERT((size_t)n < room);
	page = page_new("", 0, (size_t)n, body_len);
	if (page != NULL) {
		memcpy((char *)page->head, head, (size_t)n);
		memcpy((char *)page->body, body, body_len);
		page->date_at = (uint16_t)date_at;
		page->status = (uint16_t)status;
		free(head);
		return hand_out(page, out);
	}
	free(head);
	return -ENOMEM;
}

/* A page that says what its status means, with further fields. */
static int
text_page(struct sws_page **out, int status, const char *extra)
{
	char body[256];
	int n = snprintf(body, sizeof body, "<!DOCTYPE html>\n<title>%d %s</title>\n"
	    "<h1>%d %s</h1>\n", status, reason(status), status, reason(status));

	SWS_ASSERT(n > 0 && (size_t)n < sizeof body);
	return sws_page_text(out, status, "text/html; charset=utf-8", extra, body, (size_t)n);
}

int
sws_page_error(struct sws_page **page, int status)
{
	/* A redirection would lack its Location. */
	SWS_ASSERT(status >= 400 && status < 600);
	return text_page(page, status, status == 405 ? "Allow: GET, HEAD\r\n" : "");
}

int
sws_page_unsatisfiable(struct sws_page **page, uint64_t size)
{
	char extra[64];

	snprintf(extra, sizeof extra, "Content-Range: bytes */%llu\r\n",
	    (unsigned long long)size);
	return text_page(page, 416, extra);
}

int
sws_page_redirect(struct sws_page **page, const char *path, size_t len, const char *query,
    size_t query_len)
{
	static const char name[] = "Location: ";
	size_t room = sizeof name + 3 * len + query_len + 8, n = sizeof name - 1;
	char *extra = malloc(room);
	int status;

	/* With a slash at the end already, the client would be sent from path to path. */
	SWS_ASSERT(len > 1 && path[0] == '/' && path[len - 1] != '/');
	SWS_ASSERT(query_len == 0 || query[0] == '?');
	if (extra == NULL)
		return -ENOMEM;
	memcpy(extra, name, n);
	/* Not the path as the client sent it: "//host" would name another site. */
	n += http_path_encode(path, len, extra + n);
	extra[n++] = '/';
	SWS_ASSERT(n + query_len + 3 <= room);
	memcpy(extra + n, query, query_len);
	memcpy(extra + n + query_len, "\r\n", 3);
	status = text_page(page, 301, extra);
	free(extra);
	return status;
}

int
sws_page_moved(struct sws_page **page, const struct sws_redirect *r, const char *query,
    size_t query_len)
{
	static const char name[] = "Location: ";
	size_t room = sizeof name + r->to_len + 3 * r->rest_len + query_len + 8;
	size_t n = sizeof name - 1;
	char *extra = malloc(room);
	int status;

	SWS_ASSERT(r->to_len > 0 && r->status > 300 && r->status < 309);
	if (extra == NULL)
		return -ENOMEM;
	memcpy(extra, name, n);
	memcpy(extra + n, r->to, r->to_len);
	n += r->to_len;
	n += http_path_encode(r->rest, r->rest_len, extra + n);
	if (memchr(r->to, '?', r->to_len) == NULL) {
		memcpy(extra + n, query, query_len);
		n += query_len;
	}
	SWS_ASSERT(n + 3 <= room);
	memcpy(extra + n, "\r\n", 3);
	status = text_page(page, r->status, extra);
	free(extra);
	return status;
}
