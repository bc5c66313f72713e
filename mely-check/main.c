/* SPDX-License-Identifier: MIT */
/*
 * main.c: mely-check runs a program under the color checker and sums up its reports.
 *
 *     mely-check [OPTION...] PROGRAM [ARGUMENT...]
 *     mely-check [OPTION...] --reports FILE...
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mely/base.h>

#include "child.h"
#include "pairs.h"
#include "program.h"
#include "show.h"
#include "text.h"

enum { NOTHING_FOUND = 0, FAULTS_FOUND = 1, UNUSABLE = 2 };

static const char usage[] =
    "usage: mely-check [OPTION...] PROGRAM [ARGUMENT...]\n"
    "       mely-check [OPTION...] --reports FILE...\n"
    "\n"
    "Run a program under Mely's color checker, and report handlers of different colors that touch\n"
    "the same data without an order between them, on one core as on many. Compile the program\n"
    "with -fsanitize=thread -g, and link it with -lmely-check, or with a shared libmely: then\n"
    "mely-check loads libmely-check instead. The summary goes to stderr.\n"
    "\n"
    "  -j, --json          write the summary as JSON\n"
    "  -o, --output FILE   write the summary to FILE\n"
    "  -l, --log FILE      keep the sanitizer's own reports in FILE\n"
    "  -s, --status        if nothing is found, exit with the program's own status\n"
    "  -c, --children      PROGRAM is an interpreter such as a shell: check what it starts\n"
    "  -e, --every         count each time, not each pair of stacks once; slow\n"
    "      --io            a write to a descriptor orders what follows a read from it\n"
    "      --library FILE  the libmely-check.so to load\n"
    "      --reports       sum up reports in files, run no program\n"
    "  -h, --help          print this text\n"
    "  -V, --version       print the version\n"
    "\n"
    "Exit status: 0 nothing found, 1 something found, 2 invalid usage, or the program cannot be\n"
    "run or checked. The program's own status is in the summary.\n";

struct options {
	bool json, every, io, reports, status, children;
	const char *output, *log, *library;
};

static int
complain(const char *message)
{
	fprintf(stderr, "mely-check: %s\n", message);
	return UNUSABLE;
}

/* ---- the library ---------------------------------------------------------------------------- */

/* The path of libmely-check.so: the one named, else one beside this program, else the installed. */
static const char *
library(const struct options *options)
{
	static const char name[] = "libmely-check.so.0";
	const char *asked = options->library != NULL ? options->library
	    : getenv("MELY_CHECK_LIBRARY");
	char self[4096];
	const char *places[3];
	ssize_t length;
	char *slash;
	size_t i;

	if (asked != NULL)
		return access(asked, R_OK) == 0 ? asked : NULL;
	length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	places[0] = text_format("%s/../lib/%s", self, name);
	places[1] = text_format("%s/../mely/.libs/%s", self, name);
	places[2] = text_format("%s/%s", MELY_CHECK_LIBDIR, name);
	for (i = 0; i < 3; i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return NULL;
}

/* Find out whether the program runs as it is, or with the library preloaded. 0, or a status after a
 * message. */
static int
prepare(const struct program *program, const struct options *options, struct child *child)
{
	struct program symbolizer;

	if (!program->elf || options->children)
		return 0;
	if (!program->instrumented)
		return complain(text_format("%s was compiled without -fsanitize=thread: compile "
		    "and link it with \"clang -g -O1 -fsanitize=thread\" and -lmely-check",
		    program->path));
	if (program->clang && program_look(&symbolizer, "llvm-symbolizer") != 0)
		fprintf(stderr, "mely-check: llvm-symbolizer not found (package llvm): functions "
		    "and lines may be unknown\n");
	if (program->checker)
		return 0;
	if (!program->shared_library)
		return complain(text_format("%s is not linked with a shared libmely: link it with "
		    "-lmely-check", program->path));
	child->preload = library(options);
	if (child->preload == NULL)
		return complain("no libmely-check.so.0: configure mely with --enable-color-check, "
		    "or name it with --library");
	return 0;
}

/* ---- the two ways to run -------------------------------------------------------------------- */

static int
summarise(const struct options *options, const struct reports *reports,
    const struct child *child, char **argv)
{
	struct faults faults;
	FILE *out = stderr;

	faults_find(&faults, reports);
	if (options->output != NULL && (out = fopen(options->output, "w")) == NULL)
		return complain(text_format("%s: %s", options->output, strerror(errno)));
	(options->json ? show_json : show_text)(out, &faults, child, argv);
	if (out != stderr && fclose(out) != 0)
		return complain(text_format("%s: %s", options->output, strerror(errno)));
	return faults.count + faults.others_count > 0 ? FAULTS_FOUND : NOTHING_FOUND;
}

static int
sum_up(const struct options *options, char **files)
{
	struct reports reports = {NULL, 0};
	FILE *file;

	for (; *files != NULL; files++) {
		file = fopen(*files, "r");
		if (file == NULL)
			return complain(text_format("%s: %s", *files, strerror(errno)));
		reports_read(&reports, file);
		fclose(file);
	}
	return summarise(options, &reports, NULL, NULL);
}

static int
run(const struct options *options, char **argv)
{
	struct reports reports = {NULL, 0};
	struct program program;
	struct child child;
	const char *where;
	FILE *raw = NULL;
	int rc, status;

	memset(&child, 0, sizeof child);
	child.every = options->every;
	child.io = options->io;
	rc = program_look(&program, argv[0]);
	if (rc != 0)
		return complain(text_format("%s: %s", argv[0], strerror(-rc)));
	if ((status = prepare(&program, options, &child)) != 0)
		return status;
	if (options->log != NULL && (raw = fopen(options->log, "w")) == NULL)
		return complain(text_format("%s: %s", options->log, strerror(errno)));
	rc = child_place(&child, &where);
	if (rc != 0)
		return complain(text_format("%s: %s", where, strerror(-rc)));
	rc = child_run(&child, program.path, argv);
	if (rc == 0)
		child_reports(&child, &reports, raw);
	child_clean(&child);
	if (raw != NULL && fclose(raw) != 0)
		return complain(text_format("%s: %s", options->log, strerror(errno)));
	if (rc != 0)
		return complain(text_format("%s: %s", argv[0], strerror(-rc)));
	status = summarise(options, &reports, &child, argv);
	return status == NOTHING_FOUND && options->status ? child_status(&child) : status;
}

/* ---- options -------------------------------------------------------------------------------- */

enum { OPTION_IO = 256, OPTION_LIBRARY, OPTION_REPORTS };

static const struct option long_options[] = {
    {"json", no_argument, NULL, 'j'},
    {"output", required_argument, NULL, 'o'},
    {"log", required_argument, NULL, 'l'},
    {"status", no_argument, NULL, 's'},
    {"children", no_argument, NULL, 'c'},
    {"every", no_argument, NULL, 'e'},
    {"io", no_argument, NULL, OPTION_IO},
    {"library", required_argument, NULL, OPTION_LIBRARY},
    {"reports", no_argument, NULL, OPTION_REPORTS},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0}};

int
main(int argc, char **argv)
{
	struct options options;
	int c;

	memset(&options, 0, sizeof options);
	/* The first word that is not an option ends them: what follows belongs to the program. */
	while ((c = getopt_long(argc, argv, "+:jo:l:scehV", long_options, NULL)) != -1) {
		switch (c) {
		case 'j': options.json = true; break;
		case 'o': options.output = optarg; break;
		case 'l': options.log = optarg; break;
		case 's': options.status = true; break;
		case 'c': options.children = true; break;
		case 'e': options.every = true; break;
		case OPTION_IO: options.io = true; break;
		case OPTION_LIBRARY: options.library = optarg; break;
		case OPTION_REPORTS: options.reports = true; break;
		case 'h': fputs(usage, stdout); return 0;
		case 'V': printf("mely-check %s\n", MELY_VERSION_STRING); return 0;
		case ':':
			return complain(text_format("option '%s' needs a value (try --help)",
			    argv[optind - 1]));
		default:
			return complain(text_format("invalid option '%s' (try --help)",
			    argv[optind - 1]));
		}
	}
	if (optind == argc)
		return complain(options.reports ? "no file named (try --help)"
		                                : "no program named (try --help)");
	return options.reports ? sum_up(&options, argv + optind) : run(&options, argv + optind);
}
