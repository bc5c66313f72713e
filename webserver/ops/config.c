/* SPDX-License-Identifier: MIT */
/*
 * config.c: from libconfig's tree to settings. A value is converted to the text that it would have
 * on the command line, so both have one parser.
 */
#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "ops/config.h"

struct sws_config {
	config_t tree;
	const char *file;
};

/* A group of settings, and where they go. */
struct group {
	struct sws_options *options;     /* NULL: inside a site */
	struct sws_site_options *site;
	struct sws_source source;
};

static bool
note_file(struct sws_options *o, const struct sws_config *c, const char *file)
{
	if (file == NULL)
		return true;
	for (int i = 0; i < o->files.count; i++)
		if (strcmp(o->files.text[i], file) == 0)
			return true;
	file = sws_arena_copy(&o->arena, file, strlen(file));
	return file != NULL && sws_texts_add(&o->files, file, c, &o->arena);
}

/* Note the files that the settings beneath this one come from. */
static bool
note_files(struct sws_options *o, const struct sws_config *c, const config_setting_t *from)
{
	bool fine = note_file(o, c, config_setting_source_file(from));

	for (int i = 0; fine && config_setting_is_aggregate(from)
	    && i < config_setting_length(from); i++)
		fine = note_files(o, c, config_setting_get_elem(from, (unsigned)i));
	return fine;
}

struct sws_config *
sws_config_open(const char *file, struct sws_options *o)
{
	struct sws_config *c = calloc(1, sizeof *c);

	if (c == NULL) {
		fprintf(stderr, "sws: %s: no memory\n", file);
		return NULL;
	}
	c->file = file;
	config_init(&c->tree);
	if (config_read_file(&c->tree, file) == CONFIG_TRUE) {
		if (note_file(o, c, file) && note_files(o, c, config_root_setting(&c->tree)))
			return c;
		fprintf(stderr, "sws: %s: no memory\n", file);
	} else if (config_error_type(&c->tree) == CONFIG_ERR_FILE_IO)
		fprintf(stderr, "sws: %s: %s\n", file, errno != 0 ? strerror(errno)
		    : "cannot read it");
	else
		fprintf(stderr, "sws: %s:%d: %s\n", config_error_file(&c->tree) != NULL
		    ? config_error_file(&c->tree) : file, config_error_line(&c->tree),
		    config_error_text(&c->tree));
	sws_config_close(c);
	return NULL;
}

void
sws_config_close(struct sws_config *c)
{
	if (c == NULL)
		return;
	config_destroy(&c->tree);
	free(c);
}

/* The text of a scalar; NULL: it is none. */
static const char *
text_of(const config_setting_t *value, char room[64])
{
	switch (config_setting_type(value)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(room, 64, "%lld", config_setting_get_int64(value));
		return room;
	case CONFIG_TYPE_FLOAT:
		snprintf(room, 64, "%.9g", config_setting_get_float(value));
		return room;
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(value) ? "on" : "off";
	case CONFIG_TYPE_STRING:
		return config_setting_get_string(value);
	default:
		return NULL;
	}
}

/* Set what is named to one value. */
static bool
set_one(struct group *g, const struct sws_setting *s, const config_setting_t *value)
{
	char room[64];
	const char *text = text_of(value, room);

	g->source.line = (int)config_setting_source_line(value);
	if (text == NULL)
		return sws_setting_refuse(&g->source, s->name, "a text or a number is expected");
	text = sws_arena_copy(g->source.arena, text, strlen(text));
	if (text == NULL)
		return sws_setting_refuse(&g->source, s->name, "no memory");
	return sws_setting_set(s, s->of_site ? (void *)g->site : (void *)g->options, text,
	    &g->source);
}

static bool
set(struct group *g, const char *name, const config_setting_t *value)
{
	const struct sws_setting *s = sws_setting_find(name, strlen(name));
	bool many = config_setting_type(value) == CONFIG_TYPE_ARRAY
	    || config_setting_type(value) == CONFIG_TYPE_LIST;

	g->source.line = (int)config_setting_source_line(value);
	if (s == NULL)
		return sws_setting_refuse(&g->source, name, "unknown setting");
	if (!s->of_site && g->options == NULL)
		return sws_setting_refuse(&g->source, name,
		    "a setting of the server, not of a site");
	if (!many)
		return set_one(g, s, value);
	if (s->kind != SWS_SETTING_TEXTS && s->kind != SWS_SETTING_FIELD)
		return sws_setting_refuse(&g->source, name, "takes one value");
	for (int i = 0; i < config_setting_length(value); i++)
		if (!set_one(g, s, config_setting_get_elem(value, (unsigned)i)))
			return false;
	return true;
}

bool
sws_config_top(const struct sws_config *c, struct sws_options *o)
{
	const config_setting_t *root = config_root_setting(&c->tree);
	struct group g = {o, &o->site, {c->file, 0, c, &o->arena}};

	for (int i = 0; i < config_setting_length(root); i++) {
		const config_setting_t *value = config_setting_get_elem(root, (unsigned)i);
		const char *name = config_setting_name(value);

		if (strcmp(name, "sites") != 0 && !set(&g, name, value))
			return false;
	}
	return true;
}

static bool
add_site(const struct sws_config *c, struct sws_options *o, const config_setting_t *site)
{
	struct sws_site_options *to = &o->sites[o->sites_count++];
	struct group g = {NULL, to, {c->file, (int)config_setting_source_line(site), site,
		&o->arena}};

	*to = o->site;
	if (!config_setting_is_group(site))
		return sws_setting_refuse(&g.source, "sites", "each site is a group: { ... }");
	for (int i = 0; i < config_setting_length(site); i++) {
		const config_setting_t *value = config_setting_get_elem(site, (unsigned)i);

		if (!set(&g, config_setting_name(value), value))
			return false;
	}
	g.source.line = (int)config_setting_source_line(site);
	return to->root != NULL || sws_setting_refuse(&g.source, "sites", "a site has no root");
}

int
sws_config_sites_count(const struct sws_config *c)
{
	const config_setting_t *sites = c != NULL ? config_lookup(&c->tree, "sites") : NULL;

	return sites != NULL ? config_setting_length(sites) : 0;
}

bool
sws_config_sites(const struct sws_config *c, struct sws_options *o)
{
	const config_setting_t *sites = config_lookup(&c->tree, "sites");
	struct sws_source source = {c->file, 0, c, &o->arena};

	if (sites == NULL)
		return true;
	source.line = (int)config_setting_source_line(sites);
	if (!config_setting_is_list(sites))
		return sws_setting_refuse(&source, "sites", "a list is expected: ( { ... }, ... )");
	for (int i = 0; i < config_setting_length(sites); i++)
		if (!add_site(c, o, config_setting_get_elem(sites, (unsigned)i)))
			return false;
	return true;
}
