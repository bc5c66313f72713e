/* SPDX-License-Identifier: MIT */
/*
 * sws_config.c: fuzz target for the configuration file of sws: libconfig's tree, the table of
 * settings, and the parser of each value.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the corpus.
 *
 * Checks for every input: it is accepted without a word, or refused in one line that a terminal can
 * show; nothing is left behind (by the sanitizer); what is accepted is within its bounds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../webserver/net/endpoint.h"
#include "../../webserver/ops/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libconfig does not free a string, or the name of an included file, that the end of the file
 * cuts. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:strbuf_append\nleak:libconfig_yylex\n";
}

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stdout, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			fflush(stdout); \
			abort(); \
		} \
	} while (0)

static void
check_options(const struct sws_options *o)
{
	REQUIRE(o->sites_count >= 1 && o->listens.count >= 1);
	REQUIRE(o->port >= -1 && o->port <= 65535);
	REQUIRE(o->header_timeout_ns > 0 && o->idle_timeout_ns > 0 && o->drain_timeout_ns > 0);
	for (int i = 0; i < o->listens.count; i++)
		REQUIRE(sws_endpoint_check(o->listens.text[i]) == NULL);
	for (int i = 0; i < o->sites_count; i++)
		REQUIRE(o->sites[i].root != NULL && o->sites[i].root[0] != '\0');
}

/* One line, with nothing in it that a terminal would obey. */
static void
check_line(const char *text, size_t size)
{
	REQUIRE(size > 6 && memcmp(text, "sws: ", 5) == 0);
	REQUIRE(memchr(text, '\n', size) == text + size - 1);
	for (size_t i = 0; i < size - 1; i++)
		REQUIRE((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], program[] = "sws", option[] = "--config", dir[] = "/";
	char *argv[] = {program, option, path, dir, NULL}, *said = NULL;
	int fd = memfd_create("sws.conf", MFD_CLOEXEC);
	enum sws_options_result result;
	struct sws_options options;
	FILE *errors = stderr;
	size_t said_size = 0;

	/* It could read this process's input, or without an end. */
	if (memmem(data, size, "@include", 8) != NULL) {
		close(fd);
		return 0;
	}
	REQUIRE(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	stderr = open_memstream(&said, &said_size);
	REQUIRE(stderr != NULL);
	result = sws_options_parse(&options, 4, argv);
	fclose(stderr);
	stderr = errors;
	if (result == SWS_OPTIONS_RUN) {
		REQUIRE(said_size == 0);
		check_options(&options);
	} else {
		REQUIRE(result == SWS_OPTIONS_USAGE);
		check_line(said, said_size);
	}
	sws_options_free(&options);
	free(said);
	close(fd);
	return 0;
}

#ifndef SWS_LIBFUZZER

#include "corpus.h"

/* Try every prefix, and the input with each byte changed in several ways. */
static void
try_input(uint8_t *data, size_t size)
{
	static const uint8_t other[] = {0, '\n', '"', '\\', '=', ';', '(', '}', '9', 0x80};

	for (size_t i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(data, i);
	for (size_t i = 0; i < size; i++) {
		uint8_t was = data[i];

		for (size_t k = 0; k < sizeof other; k++) {
			data[i] = other[k];
			LLVMFuzzerTestOneInput(data, size);
		}
		data[i] = was;
	}
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 5);
}

#endif
