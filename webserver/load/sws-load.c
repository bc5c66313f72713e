/* SPDX-License-Identifier: MIT */
/*
 * sws-load.c: the program: what the command line asks for, the progress line, the result, the exit
 * status.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/options.h"
#include "load/remote.h"
#include "load/report.h"
#include "load/run.h"
#include "load/specweb.h"

struct progress {
	unsigned seconds;
	struct load_progress last;
};

static void
show_progress(void *arg, const struct load_progress *p)
{
	struct progress *shown = arg;

	fprintf(stderr, "sws-load: %4u s: %9llu responses/s, %8.1f MB/s, %llu errors\n",
	    ++shown->seconds, (unsigned long long)(p->responses - shown->last.responses),
	    (double)(p->bytes - shown->last.bytes) / 1e6, (unsigned long long)p->errors);
	shown->last = *p;
}

/* The text of the file of paths; NULL if there is none. False after an error. */
static bool
read_list(const char *name, char **text)
{
	size_t size = 0;
	FILE *file;
	ssize_t n;

	*text = NULL;
	if (name == NULL)
		return true;
	file = fopen(name, "re");
	n = file != NULL ? getdelim(text, &size, '\0', file) : -1;
	if (n < 0 && (file == NULL || ferror(file)))
		fprintf(stderr, "sws-load: %s: %s\n", name, strerror(errno));
	else if (n < 0)
		fprintf(stderr, "sws-load: %s: empty\n", name);
	if (file != NULL)
		fclose(file);
	return n >= 0;
}

/* Report what was measured; the exit status. */
static int
conclude(const struct load_result *result, const struct load_options *o)
{
	bool to_stdout = (o->json != NULL && strcmp(o->json, "-") == 0)
	    || (o->csv != NULL && strcmp(o->csv, "-") == 0)
	    || (o->svg != NULL && strcmp(o->svg, "-") == 0);

	load_report_text(result, o, to_stdout ? stderr : stdout);
	fflush(stdout);
	if (!load_report_files(result, o))
		return 1;
	if (load_result_errors(result) > o->errors_max)
		return 1;
	if (result->counters[LOAD_responses] == 0) {
		fputs("sws-load: no response in the measured time\n", stderr);
		return 1;
	}
	return 0;
}

static bool
measure(const struct load_options *o, const char *list, struct load_result *result)
{
	struct progress shown = {0};
	load_progress_fn *progress = o->quiet ? NULL : show_progress;
	struct load_run run;
	bool ok;

	if (o->master != NULL)
		return load_master(o, list, progress, &shown, result);
	ok = load_run_init(&run, o, list) && load_run(&run, progress, &shown, result);
	load_run_fini(&run);
	return ok;
}

int
main(int argc, char **argv)
{
	static struct load_options options;
	struct load_result result;
	char *list;
	int status = 1;

	switch (load_options_parse(&options, argc, argv)) {
	case LOAD_OPTIONS_DONE:
		return 0;
	case LOAD_OPTIONS_USAGE:
		return 2;
	case LOAD_OPTIONS_RUN:
		break;
	}
	if (options.make_specweb != NULL)
		return load_specweb_make(options.make_specweb, options.specweb_dirs) ? 0 : 1;
	if (options.slave != NULL)
		return load_slave(options.slave);
	if (!read_list(options.list, &list))
		return 1;
	if (!load_result_init(&result))
		fputs("sws-load: out of memory\n", stderr);
	else if (measure(&options, list, &result))
		status = conclude(&result, &options);
	load_result_fini(&result);
	free(list);
	return status;
}
