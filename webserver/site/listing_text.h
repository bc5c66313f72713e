/* SPDX-License-Identifier: MIT */
/*
 * listing_text.h: the text of a listing, in HTML or JSON. For listing.c.
 */
#ifndef SWS_SITE_LISTING_TEXT_H
#define SWS_SITE_LISTING_TEXT_H

#include "site/listing.h"

/** Add what precedes the entries, an entry, and what follows all to the text of a listing. */
void sws_listing_text_begin(struct sws_listing *listing);
void sws_listing_text_entry(struct sws_listing *listing, const struct sws_listing_entry *entry,
    const char *name);
void sws_listing_text_end(struct sws_listing *listing);

/** The media type of the text. */
const char *sws_listing_type(const struct sws_listing_form *form);

#endif
