/* SPDX-License-Identifier: MIT */
/*
 * url.c: http://HOST[:PORT][/PATH].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "load/url.h"

bool
load_path_ok(const char *path)
{
	if (path[0] != '/' || strlen(path) >= sizeof ((struct load_url *)0)->path)
		return false;
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 127 || *c == '#')
			return false;
	return true;
}

/* The port after the host: ":80" or nothing. */
static const char *
parse_port(struct load_url *url, const char *text, size_t len)
{
	long port;
	char digits[6] = "";

	if (len == 0) {
		strcpy(url->port, url->tls ? "443" : "80");
		return NULL;
	}
	if (text[0] != ':' || len < 2 || len > 6)
		return "bad port";
	memcpy(digits, text + 1, len - 1);
	if (strspn(digits, "0123456789") != len - 1)
		return "bad port";
	port = strtol(digits, NULL, 10);
	if (port < 1 || port > 65535)
		return "bad port";
	snprintf(url->port, sizeof url->port, "%ld", port);
	return NULL;
}

const char *
load_url_parse(struct load_url *url, const char *text)
{
	const char *error, *path, *host_end;
	size_t host_len, authority_len;
	bool brackets;

	memset(url, 0, sizeof *url);
	if (strncasecmp(text, "http://", 7) == 0)
		text += 7;
	else if (strncasecmp(text, "https://", 8) == 0) {
		text += 8;
		url->tls = true;
	} else
		return "it begins with neither http:// nor https://";
	authority_len = strcspn(text, "/?#");
	path = text + authority_len;
	if (memchr(text, '@', authority_len) != NULL)
		return "users and passwords are not supported";
	brackets = text[0] == '[';
	host_end = memchr(text, brackets ? ']' : ':', authority_len);
	if (brackets && host_end == NULL)
		return "] is missing";
	host_len = host_end != NULL ? (size_t)(host_end - text) : authority_len;
	if (host_len <= (size_t)brackets || host_len >= sizeof url->host)
		return "bad host";
	memcpy(url->host, text + brackets, host_len - brackets);
	for (const char *c = url->host; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 127)
			return "bad host";
	error = parse_port(url, text + host_len + brackets,
	    authority_len - host_len - (size_t)brackets);
	if (error != NULL)
		return error;
	snprintf(url->authority, sizeof url->authority, "%.*s", (int)authority_len, text);
	if (strlen(path) + 2 > sizeof url->path)
		return "too long";
	snprintf(url->path, sizeof url->path, "%s%s", path[0] == '/' ? "" : "/", path);
	return load_path_ok(url->path) ? NULL : "bad path";
}
