/* SPDX-License-Identifier: MIT */
/*
 * setting.h: what an operator can set: one table of names, kinds and limits for the command line
 * and for the configuration file, and one parser for their values.
 */
#ifndef SWS_OPS_SETTING_H
#define SWS_OPS_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/texts.h"

/** Where a value stands. */
struct sws_source {
	const char *file;        /**< NULL: the command line */
	int line;
	const void *owner;       /**< lists of another owner are replaced, not extended */
	struct sws_arena *arena;
};

enum sws_setting_kind {
	SWS_SETTING_NUMBER,      /**< int, from min to max */
	SWS_SETTING_COUNT,       /**< long, from min to max */
	SWS_SETTING_BYTES,       /**< size_t, with suffix k, m or g */
	SWS_SETTING_SECONDS,     /**< uint64_t in ns */
	SWS_SETTING_TEXT,        /**< const char *, not empty; the caller keeps the text */
	SWS_SETTING_TEXTS,       /**< struct sws_texts; can be given many times */
	SWS_SETTING_SWITCH,      /**< bool: on or off */
	SWS_SETTING_CHOICE,      /**< int: the index in choices */
	SWS_SETTING_CODINGS,     /**< the list of codings of a site */
	SWS_SETTING_FIELD        /**< the fields of a site; can be given many times */
};

/** What the server does with the file that a text names, while it runs: the sandbox allows that. */
enum sws_setting_path {
	SWS_PATH_NONE,           /**< it is not a path, or is used at the start only */
	SWS_PATH_READ,           /**< read the file, or what is beneath the directory */
	SWS_PATH_REPLACED,       /**< read the file, or one that takes its place */
	SWS_PATH_PAIR,           /**< the same for two files, FILE,FILE */
	SWS_PATH_LOG,            /**< write it, and make it again */
	SWS_PATH_ENDPOINT        /**< remove it, if it is a Unix socket */
};

/** A row of the table. */
struct sws_setting {
	const char *name;
	enum sws_setting_kind kind;
	size_t at;               /**< offset in struct sws_options, or in struct sws_site_options */
	bool of_site;
	long min, max;
	const char *choices;     /**< words with '|' in between */
	/** What is wrong with a text, or NULL; NULL: nothing is. */
	const char *(*check)(const char *text);
	enum sws_setting_path path;
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

#endif
