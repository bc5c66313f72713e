/* SPDX-License-Identifier: MIT */
/*
 * setting.h: what an operator can set: one table of names, kinds and limits for the command line
 * and for the configuration file, and one parser for their values.
 */
#ifndef SWS_OPS_SETTING_H
#define SWS_OPS_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/** Most values of a setting that takes several. */
#define SWS_TEXTS_MAX 32

/** Where a value stands, for messages. */
struct sws_source {
	const char *file;        /**< NULL: the command line */
	int line;
};

/** The values of a setting that can be given many times. */
struct sws_texts {
	const char *text[SWS_TEXTS_MAX];
	int count;
	const char *file;        /**< the source of the values; those of another replace them */
};

enum sws_setting_kind {
	SWS_SETTING_NUMBER,      /**< int, from min to max */
	SWS_SETTING_COUNT,       /**< long, from min to max */
	SWS_SETTING_BYTES,       /**< size_t, with suffix k, m or g */
	SWS_SETTING_SECONDS,     /**< uint64_t in ns */
	SWS_SETTING_TEXT,        /**< const char *, not empty; the caller keeps the text */
	SWS_SETTING_TEXTS,       /**< struct sws_texts */
	SWS_SETTING_SWITCH,      /**< bool: on or off */
	SWS_SETTING_CHOICE,      /**< int: the index in choices */
	SWS_SETTING_CODINGS,     /**< the list of codings of a site */
	SWS_SETTING_FIELD        /**< the fields of a site: adds a line, or replaces one */
};

/** A row of the table. */
struct sws_setting {
	const char *name;
	enum sws_setting_kind kind;
	size_t at;               /**< offset in struct sws_options, or in struct sws_site_options */
	bool of_site;
	long min, max;
	const char *choices;     /**< words with '|' in between */
};

/** The table; it ends with a row without a name. */
extern const struct sws_setting sws_settings[];

/** The row with this name of len bytes, or NULL. */
const struct sws_setting *sws_setting_find(const char *name, size_t len);

/**
 * Parse a value and store it in `to`, the struct of the row. False after one line on stderr. The
 * text must last as long as the struct.
 */
bool sws_setting_set(const struct sws_setting *setting, void *to, const char *text,
    const struct sws_source *source);

/** Print "sws: ", where the value stands, and a message: one line on stderr. Returns false. */
bool sws_setting_refuse(const struct sws_source *source, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Add "NAME: VALUE" to lines of fields, in place of one of that name; without a value there is none
 * then. False after one line on stderr.
 */
bool sws_setting_add_field(const struct sws_source *source, const char *name, const char *text,
    char *lines, size_t room);

#endif
