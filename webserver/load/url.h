/* SPDX-License-Identifier: MIT */
/*
 * url.h: the URL of the command line, in parts.
 */
#ifndef LOAD_URL_H
#define LOAD_URL_H

#include <stdbool.h>

struct load_url {
	bool tls;
	char host[256]; /* without the brackets of an IPv6 address */
	char port[6];
	char authority[272]; /* as in a Host field */
	char path[4096];     /* with the query; "/" if there is none */
};

/** Take a URL apart. NULL, or what is wrong with it. */
const char *load_url_parse(struct load_url *url, const char *text);

/** True for what may be the path of a request: it begins with / and has no blank or control. */
bool load_path_ok(const char *path);

#endif
