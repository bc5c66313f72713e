/* SPDX-License-Identifier: MIT */
/*
 * forwarded.c: elements of X-Forwarded-For, from the right.
 */
#include <string.h>

#include "http/forwarded.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '"';
}

/* "[2001:db8::1]:80", "192.0.2.1:80" */
static struct http_text
without_port(struct http_text t)
{
	const char *colon = t.len > 0 ? memchr(t.at, ':', t.len) : NULL;
	const char *end = t.len > 0 ? memchr(t.at, ']', t.len) : NULL;

	if (t.len > 0 && t.at[0] == '[' && end != NULL)
		return (struct http_text){t.at + 1, (size_t)(end - t.at - 1)};
	if (colon != NULL && memrchr(t.at, ':', t.len) == colon)
		t.len = (size_t)(colon - t.at);
	return t;
}

bool
http_forwarded_last(struct http_text *list, struct http_text *address)
{
	struct http_text t = {list->at, list->len};
	const char *comma = list->len > 0 ? memrchr(list->at, ',', list->len) : NULL;

	if (list->len == 0)
		return false;
	if (comma != NULL) {
		t.at = comma + 1;
		t.len = (size_t)(list->at + list->len - t.at);
	}
	list->len = comma != NULL ? (size_t)(comma - list->at) : 0;
	for (; t.len > 0 && is_blank(t.at[0]); t.at++)
		t.len--;
	while (t.len > 0 && is_blank(t.at[t.len - 1]))
		t.len--;
	*address = without_port(t);
	return true;
}
