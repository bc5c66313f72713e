/* SPDX-License-Identifier: MIT */
/*
 * fields.h: the field lines of a page's head, as HTTP/2 sends them: names in lower case, and apart
 * from their values. Made once, with the page, so that an answer parses nothing. Any thread.
 */
#ifndef SWS_SITE_FIELDS_H
#define SWS_SITE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

struct sws_field {
	const char *name;
	const char *value;       /**< in the head */
	uint16_t name_len;
	uint16_t value_len;
	uint16_t at;             /**< offset of the line in the head */
};

struct sws_fields {
	size_t size;             /**< of this object */
	unsigned count;
	struct sws_field field[];
};

/**
 * The lines of a head, without Date, whose value is only a place, and without those about the
 * connection. The head must last as long as the fields. free() ends them. NULL: no memory.
 */
struct sws_fields *sws_fields_new(const char *head, size_t len);

#endif
