/* SPDX-License-Identifier: MIT */
/*
 * aiod_place.h: for tests of aiod.h: an aiod, and a separate folder for the files of each case.
 */
#ifndef MELY_TESTS_AIOD_PLACE_H
#define MELY_TESTS_AIOD_PLACE_H

#include "aiod.h"
#include "facts.h"

static aiod *files;
static str place; /* the folder of this case */
static int calls;

static inline void
remove_place()
{
	str command = strbuf() << "rm -rf " << place;

	FACT(system(command) == 0);
}

static inline str
in_place(const char *name)
{
	return strbuf() << place << "/" << name;
}

static inline void
begin(u_int nproc = 1)
{
	char name[] = "/tmp/mely-aiod-XXXXXX";

	FACT(mkdtemp(name) != NULL);
	place = name;
	atexit(remove_place);
	files = New aiod(nproc);
}

static inline void
put_file(const char *name, const char *text)
{
	FILE *f = fopen(in_place(name), "w");

	FACT(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* ---- callbacks ---- */

static inline void
no_error(int err)
{
	FACT_EQ(err, 0);
	FACT_EQ(get_current_color(), 0);
	calls++;
}

static inline void
error_is(int code, int err)
{
	FACT_EQ(err, code);
	calls++;
}

static inline void
end(int err)
{
	FACT_EQ(err, 0);
	FACTS_END();
}

static inline void
no_status(int code, struct stat *status, int err)
{
	FACT(status == NULL);
	FACT_EQ(err, code);
	calls++;
}

#endif
