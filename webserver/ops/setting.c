/* SPDX-License-Identifier: MIT */
/*
 * setting.c: the table of settings, and the parser of each kind of value.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "http/lines.h"
#include "net/endpoint.h"
#include "net/proxy.h"
#include "ops/log.h"
#include "ops/options.h"
#include "ops/setting.h"
#include "site/encode.h"
#include "site/rules.h"

/* A longer one is cut. */
#define REFUSAL_MAX 1000

#define SERVER(member) .at = offsetof(struct sws_options, member), .of_site = false
#define SITE(member) .at = offsetof(struct sws_site_options, member), .of_site = true

const struct sws_setting sws_settings[] = {
	{"port", SWS_SETTING_NUMBER, SERVER(port), .max = 65535},
	{"bind", SWS_SETTING_TEXT, SERVER(bind), .check = sws_host_check},
	{"listen", SWS_SETTING_TEXTS, SERVER(listens), .check = sws_endpoint_check,
	    .path = SWS_PATH_ENDPOINT},
	{"cores", SWS_SETTING_NUMBER, SERVER(cores), .min = 1, .max = MELY_CORES_MAX},
	{"hand-over", SWS_SETTING_SWITCH, SERVER(hand_over)},
	{"accept", SWS_SETTING_CHOICE, SERVER(accepting), .choices = SWS_ACCEPTINGS},
	{"coloring", SWS_SETTING_CHOICE, SERVER(coloring), .choices = SWS_COLORINGS},
	{"max-clients", SWS_SETTING_COUNT, SERVER(clients_max), .min = 1, .max = 100000000},
	{"max-clients-per-address", SWS_SETTING_COUNT, SERVER(address_clients_max),
	    .max = 100000000},
	{"min-rate", SWS_SETTING_BYTES, SERVER(min_rate)},
	{"rate", SWS_SETTING_BYTES, SERVER(rate)},
	{"rate-per-address", SWS_SETTING_BYTES, SERVER(rate_address)},
	{"rate-per-connection", SWS_SETTING_BYTES, SERVER(rate_connection)},
	{"http2", SWS_SETTING_CHOICE, SERVER(http2), .choices = "off|on"},
	{"http2-streams", SWS_SETTING_NUMBER, SERVER(http2_streams), .min = 1, .max = 10000},
	{"http2-resets", SWS_SETTING_NUMBER, SERVER(http2_resets), .min = 1, .max = 1000000000},
	{"http2-frames", SWS_SETTING_NUMBER, SERVER(http2_frames), .min = 1, .max = 1000000000},
	{"header-timeout", SWS_SETTING_SECONDS, SERVER(header_timeout_ns)},
	{"idle-timeout", SWS_SETTING_SECONDS, SERVER(idle_timeout_ns)},
	{"drain-timeout", SWS_SETTING_SECONDS, SERVER(drain_timeout_ns)},
	{"cache-size", SWS_SETTING_BYTES, SERVER(cache_size)},
	{"tls-certificate", SWS_SETTING_TEXTS, SERVER(tls.certificates),
	    .check = sws_tls_pair_check, .path = SWS_PATH_PAIR},
	{"tls-min-version", SWS_SETTING_CHOICE, SERVER(tls.min_version), .choices = "1.2|1.3"},
	{"inotify", SWS_SETTING_SWITCH, SERVER(inotify)},
	{"cache-file-size", SWS_SETTING_BYTES, SITE(cache_file_size)},
	{"sendfile", SWS_SETTING_SWITCH, SITE(sendfile)},
	{"root", SWS_SETTING_TEXT, SITE(root), .path = SWS_PATH_READ},
	{"name", SWS_SETTING_TEXTS, SITE(names), .check = sws_host_name_check},
	{"precompressed", SWS_SETTING_CODINGS, SITE(codings)},
	{"field", SWS_SETTING_FIELD, SITE(fields)},
	{"field-for", SWS_SETTING_TEXTS, SITE(field_rules), .check = sws_field_rule_check},
	{"redirect", SWS_SETTING_TEXTS, SITE(redirects), .check = sws_redirect_check},
	{"error-page", SWS_SETTING_TEXTS, SITE(error_pages), .check = sws_error_page_check},
	{"fallback", SWS_SETTING_TEXT, SITE(fallback), .check = sws_own_path_check},
	{"index", SWS_SETTING_TEXT, SITE(index), .check = sws_index_check},
	{"symlinks", SWS_SETTING_CHOICE, SITE(symlinks), .choices = "beneath|none|follow"},
	{"dotfiles", SWS_SETTING_CHOICE, SITE(dotfiles), .choices = "hide|serve"},
	{"compress", SWS_SETTING_CODINGS, SITE(compress), .check = sws_encode_check},
	{"listing", SWS_SETTING_CHOICE, SITE(listing), .choices = "off|html|json|auto"},
	{"list-dotfiles", SWS_SETTING_SWITCH, SITE(list_dotfiles)},
	{"mime-types", SWS_SETTING_TEXT, SITE(mime_types), .path = SWS_PATH_READ},
	{"user", SWS_SETTING_TEXT, SERVER(user)},
	{"chroot", SWS_SETTING_TEXT, SERVER(chroot)},
	{"sandbox", SWS_SETTING_CHOICE, SERVER(sandbox), .choices = "auto|require|off"},
	{"sandbox-read", SWS_SETTING_TEXTS, SERVER(sandbox_read), .path = SWS_PATH_READ},
	{"trusted", SWS_SETTING_TEXTS, SERVER(trusted), .check = sws_network_check},
	{"metrics-listen", SWS_SETTING_TEXT, SERVER(metrics_listen),
	    .check = sws_endpoint_inside_check,
	    .path = SWS_PATH_ENDPOINT},
	{"access-log", SWS_SETTING_TEXT, SERVER(access_log), .path = SWS_PATH_LOG},
	{"log-format", SWS_SETTING_CHOICE, SERVER(log_format), .choices = SWS_LOG_FORMATS},
	{.name = NULL}
};

const struct sws_setting *
sws_setting_find(const char *name, size_t len)
{
	for (const struct sws_setting *s = sws_settings; s->name != NULL; s++)
		if (strlen(s->name) == len && memcmp(s->name, name, len) == 0)
			return s;
	return NULL;
}

bool
sws_setting_refuse(const struct sws_source *source, const char *name, const char *format, ...)
{
	char text[REFUSAL_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* One line, whatever the value has in it. */
	for (char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	if (source->file == NULL)
		fprintf(stderr, "sws: --%s: %s\n", name, text);
	else
		fprintf(stderr, "sws: %s:%d: %s: %s\n", source->file, source->line, name, text);
	return false;
}

/* A value and what is needed to refuse it. */
struct given {
	const struct sws_setting *setting;
	const struct sws_source *source;
	const char *text;
};

#define REFUSE(g, ...) sws_setting_refuse((g)->source, (g)->setting->name, __VA_ARGS__)

/* ---- the kinds ----------------------------------------------------------------------------- */

static bool
number(const struct given *g, long *value)
{
	long min = g->setting->min, max = g->setting->max;
	char *end;

	errno = 0;
	*value = strtol(g->text, &end, 10);
	if (errno != 0 || end == g->text || *end != '\0' || *value < min || *value > max)
		return REFUSE(g, "'%s' is not a number between %ld and %ld", g->text, min, max);
	return true;
}

static bool
bytes(const struct given *g, size_t *value)
{
	static const char suffixes[] = "kKmMgG";
	const char *suffix;
	unsigned long long n;
	char *end;
	int shift = 0;

	errno = 0;
	n = strtoull(g->text, &end, 10);
	if (end != g->text && *end != '\0') {
		suffix = strchr(suffixes, *end);
		shift = suffix != NULL && end[1] == '\0' ? 10 * (1 + (int)(suffix - suffixes) / 2)
		    : -1;
	}
	if (errno != 0 || end == g->text || shift < 0 || g->text[0] == '-'
	    || n > (SIZE_MAX >> 1 >> shift))
		return REFUSE(g, "'%s' is not a size in bytes", g->text);
	*value = (size_t)n << shift;
	SWS_ASSERT(*value >> shift == n);
	return true;
}

/* A time in seconds, possibly with a fraction. */
static bool
seconds(const struct given *g, uint64_t *ns)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(g->text, &end);
	if (errno != 0 || end == g->text || *end != '\0' || !(s >= 0.001 && s <= 86400))
		return REFUSE(g, "'%s' is not a time between 0.001 and 86400 seconds", g->text);
	*ns = (uint64_t)(s * 1e9);
	/* 0 would mean a timer that does not repeat. */
	SWS_ASSERT(*ns > 0);
	return true;
}

static bool
is_sound(const struct given *g)
{
	const char *wrong = g->text[0] == '\0' ? "a value is missing"
	    : g->setting->check != NULL ? g->setting->check(g->text) : NULL;

	return wrong == NULL || REFUSE(g, "'%s': %s", g->text, wrong);
}

static bool
text(const struct given *g, const char **value)
{
	if (!is_sound(g))
		return false;
	*value = g->text;
	return true;
}

static bool
one_of_texts(const struct given *g, struct sws_texts *texts)
{
	return is_sound(g) && (sws_texts_add(texts, g->text, g->source->owner, g->source->arena)
	    || REFUSE(g, "no memory"));
}

static bool
choice(const struct given *g, const char *choices, int *value)
{
	size_t len = strlen(g->text);
	int i = 0;

	for (const char *p = choices; ; p++, i++) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, g->text, n) == 0) {
			*value = i;
			return true;
		}
		p += n;
		if (*p == '\0')
			return REFUSE(g, "'%s' is none of %s", g->text, choices);
	}
}

static bool
on_or_off(const struct given *g, bool *value)
{
	int i;

	if (!choice(g, "off|on|false|true", &i))
		return false;
	*value = i & 1;
	return true;
}

/* A list such as "br,gz", or "off". */
static bool
codings(const struct given *g, uint8_t list[HTTP_CODINGS])
{
	const char *p = g->text;
	unsigned n = 0, seen = 0;

	memset(list, HTTP_IDENTITY, HTTP_CODINGS);
	if (!is_sound(g))
		return false;
	if (strcmp(g->text, "off") == 0)
		return true;
	for (;;) {
		size_t len = strcspn(p, ",");
		int c = HTTP_ZSTD;

		while (c < HTTP_CODINGS && (strlen(http_coding_suffix(c)) != len + 1
		    || memcmp(http_coding_suffix(c) + 1, p, len) != 0))
			c++;
		if (c == HTTP_CODINGS || (seen >> c & 1))
			return REFUSE(g, "'%s' is neither off nor a list of zst, br and gz",
			    g->text);
		seen |= 1u << c;
		list[n++] = (uint8_t)c;
		SWS_ASSERT(n < HTTP_CODINGS);
		if (p[len] == '\0')
			return true;
		p += len + 1;
	}
}

static bool
field(const struct given *g, char *lines)
{
	switch (http_lines_add(lines, SWS_FIELDS_MAX, g->text)) {
	case HTTP_LINES_FINE:
		return true;
	case HTTP_LINES_OWN:
		return REFUSE(g, "%.*s is a field that sws writes itself",
		    (int)strcspn(g->text, ":"), g->text);
	case HTTP_LINES_FULL:
		return REFUSE(g, "more than %d bytes of fields", SWS_FIELDS_MAX);
	default:
		return REFUSE(g, "'%s' is not of the form 'NAME: VALUE'", g->text);
	}
}

/* ---- all ----------------------------------------------------------------------------------- */

bool
sws_setting_set(const struct sws_setting *s, void *to, const char *value,
    const struct sws_source *source)
{
	const struct given g = {s, source, value};
	void *at = (char *)to + s->at;
	long n;

	switch (s->kind) {
	case SWS_SETTING_NUMBER:
		if (!number(&g, &n))
			return false;
		*(int *)at = (int)n;
		return true;
	case SWS_SETTING_COUNT:
		return number(&g, at);
	case SWS_SETTING_BYTES:
		return bytes(&g, at);
	case SWS_SETTING_SECONDS:
		return seconds(&g, at);
	case SWS_SETTING_TEXT:
		return text(&g, at);
	case SWS_SETTING_TEXTS:
		return one_of_texts(&g, at);
	case SWS_SETTING_SWITCH:
		return on_or_off(&g, at);
	case SWS_SETTING_CHOICE:
		return choice(&g, s->choices, at);
	case SWS_SETTING_CODINGS:
		return codings(&g, at);
	default:
		SWS_ASSERT(s->kind == SWS_SETTING_FIELD);
		return field(&g, at);
	}
}
