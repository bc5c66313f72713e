/* SPDX-License-Identifier: MIT */
/*
 * main.c: mely-top, a view of a running Mely program. See mely-top(1).
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "find.h"
#include "once.h"
#include "options.h"
#include "screen.h"

static int
failed(const struct link *link, int error, const char *told)
{
	const char *why = strerror(-error);

	if (error == -EREMOTEIO)
		why = told != NULL ? told : "the program reports an error";
	else if (error == -ECONNRESET)
		why = "the program has ended";
	else if (error == -ETIMEDOUT)
		why = "the program does not answer";
	else if (error == -EPROTONOSUPPORT)
		why = "the program has another version of the library";
	fprintf(stderr, "mely-top: %s: %s%s", link->path, why,
	    why[strlen(why) > 0 ? strlen(why) - 1 : 0] == '\n' ? "" : "\n");
	return 1;
}

/* Names come from programs: on a terminal they must not move its cursor. */
static void
make_plain(char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]) && text[i] != '\n' && text[i] != '\t')
			text[i] = '?';
}

/* Print an answer that is text. */
static int
print_answer(struct link *link, const char *request)
{
	char *answer;
	size_t length;
	int error = link_ask(link, request, &answer, &length), status = 0;

	if (error != 0) {
		status = failed(link, error, answer);
	} else {
		if (isatty(STDOUT_FILENO))
			make_plain(answer, length);
		fwrite(answer, 1, length, stdout);
	}
	free(answer);
	return status;
}

static void
nap(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static int
once(struct link *link, const struct top_options *options)
{
	struct mely_stats *before = NULL, *now = NULL;
	struct sample sample;
	char request[64];
	bool made = false;
	int error = 0;

	if (options->interval_ns > 0) {
		error = link_look(link, "stats\n", &before);
		if (error == 0)
			nap(options->interval_ns);
		/* The program closes a connection that is idle for a minute. */
		if (error == 0 && options->interval_ns > UINT64_C(30000000000)) {
			link_close(link);
			error = link_open(link, link->path);
		}
	}
	snprintf(request, sizeof request, "stats colors %u\n", options->colors);
	if (error == 0)
		error = link_look(link, request, &now);
	if (error == 0) {
		made = sample_make(&sample, now, before);
		error = made ? 0 : -ENOMEM;
	}
	if (error == 0 && options->mode == TOP_ONCE)
		once_text(&sample);
	else if (error == 0)
		error = once_json(&sample) ? 0 : -ENOMEM;
	if (made)
		sample_free(&sample);
	free(before);
	free(now);
	return error == 0 ? 0 : failed(link, error, NULL);
}

static int
run(struct link *link, const struct top_options *options)
{
	switch (options->mode) {
	case TOP_DUMP:
		return print_answer(link, "dump\n");
	case TOP_PROMETHEUS:
		return print_answer(link, "prometheus\n");
	case TOP_SCREEN:
		return screen_run(link, options);
	default:
		return once(link, options);
	}
}

int
main(int argc, char **argv)
{
	struct top_options options;
	struct link link = {.fd = -1};
	int status;

	switch (top_options_parse(&options, argc, argv)) {
	case TOP_OPTIONS_DONE:
		return 0;
	case TOP_OPTIONS_USAGE:
		return 2;
	case TOP_OPTIONS_RUN:
		break;
	}
	switch (find(options.target, &link)) {
	case FIND_NONE:
		return 1;
	case FIND_SEVERAL:
		if (options.mode == TOP_SCREEN)
			return 0;
		fputs("mely-top: several programs: name one by its PID\n", stderr);
		return 2;
	case FIND_ONE:
		break;
	}
	status = run(&link, &options);
	link_close(&link);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "mely-top: standard output: %s\n", strerror(errno));
		return 1;
	}
	return status;
}
