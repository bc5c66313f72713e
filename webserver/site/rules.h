/* SPDX-License-Identifier: MIT */
/*
 * rules.h: what an operator says of some paths of a site:
 *
 *   "GLOB NAME: VALUE"      a field of the answers for the paths that match
 *   "FROM TO [STATUS]"      a redirection; FROM may end with '*', and so may TO then
 *   "STATUS PATH"           the file that is the body of an error
 *
 * They are read where a page is built, and so cost a request nothing. Any thread.
 */
#ifndef SWS_SITE_RULES_H
#define SWS_SITE_RULES_H

#include <stddef.h>

#include "base/texts.h"

/** Longest name of a host. */
#define SWS_HOST_MAX 253

/** What is wrong with a rule, or NULL. */
const char *sws_field_rule_check(const char *rule);
const char *sws_redirect_check(const char *rule);
const char *sws_error_page_check(const char *rule);
/** A path of the site itself, such as that of a fallback. */
const char *sws_own_path_check(const char *path);

/** A name of a host: in lower case, perhaps "*." and a name. */
const char *sws_host_name_check(const char *name);

/** Add the fields of the rules that match a path (in normal form) to lines. */
void sws_field_rules_apply(const struct sws_texts *rules, const char *path, size_t len,
    char *lines, size_t room);

/** A redirection that applies to a path. */
struct sws_redirect {
	const char *to;
	size_t to_len;
	const char *rest;        /**< of the path, to be added to `to`, encoded */
	size_t rest_len;
	int status;
};

/** Does a redirection apply to this path? The first one that does. */
bool sws_redirect_find(const struct sws_texts *rules, const char *path, size_t len,
    struct sws_redirect *redirect);

/** The path of the page for an error status, or NULL. */
const char *sws_error_page_find(const struct sws_texts *rules, int status);

#endif
