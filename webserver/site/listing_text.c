/* SPDX-License-Identifier: MIT */
/*
 * listing_text.c: a page that needs no script and no other file, in the colors that the reader
 * prefers. Names are bytes: what is not UTF-8 is shown as U+FFFD, and a link has the bytes.
 */
#include <string.h>
#include <time.h>

#include "base/assertion.h"
#include "http/path.h"
#include "site/listing_text.h"

/* The last parts of the path that are links; those before are left out. */
#define CRUMBS_MAX 8

static const char style[] =
    ":root{color-scheme:light dark;--text:#1c1e21;--dim:#676d76;--line:#e3e5e8;--back:#fff;"
    "--row:#f4f6f8;--link:#0b57d0}"
    "@media(prefers-color-scheme:dark){:root{--text:#e4e6ea;--dim:#9aa0a8;--line:#33373d;"
    "--back:#16181b;--row:#1f2226;--link:#8ab4f8}}"
    "body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem;background:var(--back);"
    "color:var(--text);font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.25rem;font-weight:600;margin:0 0 1rem;overflow-wrap:anywhere}"
    "h1 span,footer,.note,td+td{color:var(--dim)}"
    "a{color:var(--link);text-decoration:none}a:hover,a:focus{text-decoration:underline}"
    "table{width:100%;border-collapse:collapse}"
    "th{text-align:left;font-weight:600;border-bottom:2px solid var(--line)}"
    "th,td{padding:.3rem .6rem}th:first-child{width:100%}td{border-bottom:1px solid var(--line)}"
    "td:first-child{overflow-wrap:anywhere}tbody tr:hover{background:var(--row)}"
    "th:nth-child(2),td:nth-child(2){text-align:right}td+td,th+th{white-space:nowrap;"
    "font-variant-numeric:tabular-nums}.d{font-weight:600}"
    "footer{font-size:.875rem;margin-top:1rem}"
    "@media(max-width:36rem){th:nth-child(3),td:nth-child(3){display:none}}";

/* ---- escaping ------------------------------------------------------------------------------ */

/* The bytes of the character at p, or 0: it is not UTF-8 (RFC 3629, 4). */
static size_t
character(const unsigned char *p, const unsigned char *end)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3
	    : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	if (n == 0 || (size_t)(end - p) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0)
	    || (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

static void
add_literal(struct sws_text *t, const char *text)
{
	sws_text_add(t, text, strlen(text));
}

static void
add_html(struct sws_text *t, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	size_t n;

	for (; p < end; p += n > 0 ? n : 1) {
		n = character(p, end);
		if (n == 0 || *p < 0x20 || *p == 0x7f)
			add_literal(t, "\xef\xbf\xbd");
		else if (*p == '&')
			add_literal(t, "&amp;");
		else if (*p == '<')
			add_literal(t, "&lt;");
		else if (*p == '>')
			add_literal(t, "&gt;");
		else if (*p == '"')
			add_literal(t, "&quot;");
		else
			sws_text_add(t, (const char *)p, n);
	}
}

static void
add_json(struct sws_text *t, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	size_t n;

	for (; p < end; p += n > 0 ? n : 1) {
		n = character(p, end);
		if (n == 0)
			add_literal(t, "\\ufffd");
		else if (*p < 0x20 || *p == '"' || *p == '\\' || *p == '<' || *p == 0x7f)
			sws_text_format(t, "\\u%04x", *p);
		else
			sws_text_add(t, (const char *)p, n);
	}
}

/* Escaped, a name has no colon, and so cannot look like a scheme. */
static void
add_url(struct sws_text *t, const char *name, size_t len)
{
	if (sws_text_reserve(t, 3 * len + 1))
		t->len += http_path_encode(name, len, t->bytes + t->len);
}

/* ---- HTML ---------------------------------------------------------------------------------- */

/* The path as links, and at the end the directory itself. */
static void
add_crumbs(struct sws_text *t, const char *path)
{
	size_t len = strlen(path), parts = 0, part = 0;

	for (size_t i = 1; i < len; i++)
		parts += path[i] == '/';
	add_literal(t, "<h1>");
	if (parts <= CRUMBS_MAX) {
		add_literal(t, parts == 0 ? "/" : "<a href=\"./");
		for (size_t k = 0; k < parts; k++)
			add_literal(t, "../");
		add_literal(t, parts == 0 ? "" : "\">/</a>");
	} else {
		add_literal(t, "<span>\xe2\x80\xa6/</span>");
	}
	for (size_t from = 1, to; from < len; from = to + 1, part++) {
		to = from + strcspn(path + from, "/");
		if (parts - part > CRUMBS_MAX)
			continue;
		if (part + 1 < parts) {
			add_literal(t, "<a href=\"./");
			for (size_t k = part + 1; k < parts; k++)
				add_literal(t, "../");
			add_literal(t, "\">");
		}
		add_html(t, path + from, to - from);
		add_literal(t, part + 1 < parts ? "</a><span>/</span>" : "<span>/</span>");
	}
	add_literal(t, "</h1>\n");
}

/* The head of a column: a link that sorts by it, or the other way round. */
static void
add_column(struct sws_listing *l, const char *title, const char *name, enum sws_listing_sort sort)
{
	bool is_this = l->form.sort == sort && l->sorted, down = is_this && !l->form.descending;

	if (!l->sorted)
		sws_text_format(&l->text, "<th>%s</th>", title);
	else
		sws_text_format(&l->text, "<th%s><a href=\"?sort=%s&amp;order=%s\">%s%s</a></th>",
		    !is_this ? "" : l->form.descending ? " aria-sort=\"descending\""
		    : " aria-sort=\"ascending\"", name, down ? "desc" : "asc", title,
		    !is_this ? "" : l->form.descending ? " \xe2\x86\x93" : " \xe2\x86\x91");
}

static void
begin_html(struct sws_listing *l)
{
	struct sws_text *t = &l->text;

	add_literal(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	add_html(t, l->path, strlen(l->path));
	add_literal(t, "</title>\n<style>");
	add_literal(t, style);
	add_literal(t, "</style>\n</head>\n<body>\n");
	add_crumbs(t, l->path);
	if (!l->sorted)
		sws_text_format(t, "<p class=\"note\">More than %d entries: they are not sorted."
		    "</p>\n", SWS_LISTING_SORTED_MAX);
	add_literal(t, "<table>\n<thead><tr>");
	add_column(l, "Name", "name", SWS_LISTING_NAME);
	add_column(l, "Size", "size", SWS_LISTING_SIZE);
	add_column(l, "Modified (UTC)", "time", SWS_LISTING_TIME);
	add_literal(t, "</tr></thead>\n<tbody>\n");
	if (l->path[1] != '\0')
		add_literal(t, "<tr><td class=\"d\"><a href=\"../\">..</a></td><td></td><td></td>"
		    "</tr>\n");
}

static void
add_size(struct sws_text *t, uint64_t size)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	uint64_t tenths = size * 10;
	int unit = -1;

	if (size < 1024) {
		sws_text_format(t, "%u B", (unsigned)size);
		return;
	}
	if (size > UINT64_MAX / 16)
		tenths = UINT64_MAX;
	for (; tenths >= 10240; unit++)
		tenths /= 1024;
	SWS_ASSERT(unit >= 0 && unit < 6);
	if (tenths < 1000)
		sws_text_format(t, "%u.%u %s", (unsigned)tenths / 10, (unsigned)tenths % 10,
		    units[unit]);
	else
		sws_text_format(t, "%u %s", (unsigned)tenths / 10, units[unit]);
}

static void
entry_html(struct sws_text *t, const struct sws_listing_entry *e, const char *name, size_t len,
    const struct tm *tm)
{
	char time[32];

	add_literal(t, e->directory ? "<tr><td class=\"d\"><a href=\"" : "<tr><td><a href=\"");
	add_url(t, name, len);
	add_literal(t, e->directory ? "/\">" : "\">");
	add_html(t, name, len);
	add_literal(t, e->directory ? "/</a></td><td>" : "</a></td><td>");
	if (!e->directory) {
		sws_text_format(t, "<span title=\"%llu bytes\">", (unsigned long long)e->size);
		add_size(t, e->size);
		add_literal(t, "</span>");
	}
	strftime(time, sizeof time, "%Y-%m-%d %H:%M", tm);
	sws_text_format(t, "</td><td>%s</td></tr>\n", time);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void
entry_json(struct sws_text *t, const struct sws_listing_entry *e, const char *name, size_t len,
    const struct tm *tm)
{
	char time[32];

	add_literal(t, "{\"name\":\"");
	add_json(t, name, len);
	add_literal(t, e->directory ? "\",\"type\":\"directory\"" : "\",\"type\":\"file\"");
	if (!e->directory)
		sws_text_format(t, ",\"size\":%llu", (unsigned long long)e->size);
	strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", tm);
	sws_text_format(t, ",\"mtime\":\"%s\",\"url\":\"", time);
	add_url(t, name, len);
	add_literal(t, e->directory ? "/\"}" : "\"}");
}

/* ---- both ---------------------------------------------------------------------------------- */

void
sws_listing_text_begin(struct sws_listing *l)
{
	if (l->form.json)
		add_literal(&l->text, "[");
	else
		begin_html(l);
}

void
sws_listing_text_entry(struct sws_listing *l, const struct sws_listing_entry *e, const char *name)
{
	time_t t = (time_t)e->modified_s;
	struct tm tm;

	/* A year that does not fit becomes 1900. */
	if (gmtime_r(&t, &tm) == NULL || tm.tm_year > 8099 || tm.tm_year < -1900)
		memset(&tm, 0, sizeof tm), tm.tm_mday = 1;
	if (l->form.json) {
		add_literal(&l->text, l->listed > 0 ? ",\n" : "\n");
		entry_json(&l->text, e, name, strlen(name), &tm);
	} else {
		entry_html(&l->text, e, name, strlen(name), &tm);
	}
}

void
sws_listing_text_end(struct sws_listing *l)
{
	if (l->form.json)
		add_literal(&l->text, "\n]\n");
	else
		sws_text_format(&l->text, "</tbody>\n</table>\n<footer>%llu %s</footer>\n</body>\n"
		    "</html>\n", (unsigned long long)l->listed,
		    l->listed == 1 ? "entry" : "entries");
}

const char *
sws_listing_type(const struct sws_listing_form *form)
{
	return form->json ? "application/json; charset=utf-8" : "text/html; charset=utf-8";
}
