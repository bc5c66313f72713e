/* SPDX-License-Identifier: MIT */
/*
 * report.h: results as text, JSON, CSV and SVG.
 */
#ifndef LOAD_REPORT_H
#define LOAD_REPORT_H

#include <stdio.h>

#include "load/options.h"
#include "load/result.h"

/** The percentiles that every report has. */
#define LOAD_PERCENTILES 8
extern const double load_percentiles[LOAD_PERCENTILES];

/** For people. */
void load_report_text(const struct load_result *r, const struct load_options *o, FILE *out);
void load_report_json(const struct load_result *r, const struct load_options *o, FILE *out);
/** A row for each second. */
void load_report_csv(const struct load_result *r, FILE *out);
/** The latencies against their percentiles. */
void load_report_svg(const struct load_result *r, const struct load_options *o, FILE *out);

/** Write the files that the options name. Prints what is wrong and returns false. */
bool load_report_files(const struct load_result *r, const struct load_options *o);

#endif
