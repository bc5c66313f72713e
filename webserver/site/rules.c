/* SPDX-License-Identifier: MIT */
/*
 * rules.c: checking and finding rules. Each is kept as its text: they are few, and asked for when a
 * page is built only.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "http/lines.h"
#include "http/parse.h"
#include "http/path.h"
#include "site/page.h"
#include "site/rules.h"

/* A word of a rule. */
struct word {
	const char *at;
	size_t len;
};

/* The next word of *text, which moves behind it and the spaces that follow. */
static struct word
next_word(const char **text)
{
	struct word w = {*text + strspn(*text, " "), 0};

	w.len = strcspn(w.at, " ");
	*text = w.at + w.len + strspn(w.at + w.len, " ");
	return w;
}

static bool
has_last(struct word w, char c)
{
	return w.len > 0 && w.at[w.len - 1] == c;
}

/* ---- fields -------------------------------------------------------------------------------- */

const char *
sws_field_rule_check(const char *rule)
{
	char lines[SWS_FIELDS_MAX] = "";

	next_word(&rule);
	switch (http_lines_add(lines, sizeof lines, rule)) {
	case HTTP_LINES_FINE:
		return NULL;
	case HTTP_LINES_OWN:
		return "sws writes this field itself";
	case HTTP_LINES_FULL:
		return "the field is too long";
	default:
		return "not of the form 'GLOB NAME: VALUE'";
	}
}

/* A pattern with a slash is for the whole path, another for its last part. */
static bool
matches(struct word glob, const char *path, size_t len)
{
	char pattern[HTTP_TARGET_MAX + 1], text[HTTP_TARGET_MAX + 1];
	const char *from = path;

	if (glob.len >= sizeof pattern || len >= sizeof text)
		return false;
	if (memchr(glob.at, '/', glob.len) == NULL)
		for (size_t i = 0; i < len; i++)
			if (path[i] == '/')
				from = path + i + 1;
	memcpy(pattern, glob.at, glob.len);
	pattern[glob.len] = '\0';
	memcpy(text, from, len - (size_t)(from - path));
	text[len - (size_t)(from - path)] = '\0';
	return fnmatch(pattern, text, 0) == 0;
}

void
sws_field_rules_apply(const struct sws_texts *rules, const char *path, size_t len, char *lines,
    size_t room)
{
	for (int i = 0; i < rules->count; i++) {
		const char *rule = rules->text[i];
		struct word glob = next_word(&rule);

		/* Where there is no more room, the field is left out. */
		if (matches(glob, path, len))
			(void)http_lines_add(lines, room, rule);
	}
}

/* ---- hosts --------------------------------------------------------------------------------- */

const char *
sws_host_name_check(const char *name)
{
	if (strncmp(name, "*.", 2) == 0)
		name += 2;
	if (name[0] == '\0' || name[0] == '.' || strlen(name) > SWS_HOST_MAX
	    || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-._:[]") != strlen(name))
		return "not the name of a host in lower case, such as example.org or *.example.org";
	return NULL;
}

/* ---- redirections -------------------------------------------------------------------------- */

const char *
sws_redirect_check(const char *rule)
{
	struct word from = next_word(&rule), to = next_word(&rule), status = next_word(&rule);

	if (from.len == 0 || to.len == 0 || from.at[0] != '/' || *rule != '\0')
		return "not of the form '/FROM TO [STATUS]'";
	if (has_last(to, '*') && !has_last(from, '*'))
		return "TO ends with '*', and FROM does not";
	for (size_t i = 0; i < to.len; i++)
		if ((unsigned char)to.at[i] <= ' ' || (unsigned char)to.at[i] >= 0x7f)
			return "TO has a byte that must be escaped";
	if (status.len != 0 && (status.len != 3 || (memcmp(status.at, "301", 3) != 0
	    && memcmp(status.at, "302", 3) != 0 && memcmp(status.at, "303", 3) != 0
	    && memcmp(status.at, "307", 3) != 0 && memcmp(status.at, "308", 3) != 0)))
		return "STATUS is none of 301, 302, 303, 307, 308";
	return NULL;
}

bool
sws_redirect_find(const struct sws_texts *rules, const char *path, size_t len,
    struct sws_redirect *redirect)
{
	for (int i = 0; i < rules->count; i++) {
		const char *rule = rules->text[i];
		struct word from = next_word(&rule), to = next_word(&rule);
		bool prefix = has_last(from, '*'), append = has_last(to, '*');
		size_t n = from.len - prefix;

		if ((prefix ? len < n : len != n) || memcmp(from.at, path, n) != 0)
			continue;
		/* "//host" would name another site. */
		if (append && to.len > 1 && to.at[to.len - 2] == '/')
			while (n < len && path[n] == '/')
				n++;
		*redirect = (struct sws_redirect){
			.to = to.at, .to_len = to.len - append,
			.rest = path + n, .rest_len = append ? len - n : 0,
			.status = *rule != '\0' ? atoi(rule) : 301
		};
		return true;
	}
	return false;
}

/* ---- error pages --------------------------------------------------------------------------- */

const char *
sws_own_path_check(const char *path)
{
	size_t len = strlen(path);

	return http_path_is_normal(path, len) && !http_path_is_hidden(path, len) ? NULL
	    : "not a path from the root on, such as /index.html";
}

const char *
sws_error_page_check(const char *rule)
{
	struct word status = next_word(&rule);

	if (status.len != 3 || (status.at[0] != '4' && status.at[0] != '5')
	    || strspn(status.at, "0123456789") != 3 || *rule == '\0')
		return "not of the form 'STATUS /PATH', such as '404 /404.html'";
	return sws_own_path_check(rule);
}

const char *
sws_error_page_find(const struct sws_texts *rules, int status)
{
	for (int i = 0; i < rules->count; i++) {
		const char *rule = rules->text[i];
		struct word number = next_word(&rule);

		SWS_ASSERT(number.len == 3);
		if (atoi(number.at) == status)
			return rule;
	}
	return NULL;
}
