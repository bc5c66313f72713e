/* SPDX-License-Identifier: MIT */
/*
 * options.h: all that an operator says of sws, on the command line and in its file. Read-only once
 * it is read.
 */
#ifndef SWS_OPTIONS_H
#define SWS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "net/tls.h"
#include "ops/setting.h"
#include "site/site.h"

/** What keeps the process from other files and from other system calls. */
enum sws_sandbox {
	SWS_SANDBOX_AUTO,         /**< what the kernel has */
	SWS_SANDBOX_REQUIRE,      /**< do not start with less */
	SWS_SANDBOX_OFF
};

struct sws_options {
	const char *bind;         /**< NULL, and port -1: not said */
	int port;
	struct sws_texts listens; /**< the endpoints, in the end with that of bind and port */
	bool listens_by_default;  /**< none of these was said */
	int cores;                /**< 0: the runtime's default */
	bool hand_over;           /**< SIGUSR2 does something */
	int accepting;            /**< enum sws_accepting */
	int coloring;             /**< enum sws_coloring */
	int http2;                /**< 1: on */
	int http2_streams;        /**< of a connection at a time */
	int http2_resets;         /**< ... that end early, in ten seconds */
	int http2_frames;         /**< ... and frames that ask for nothing */
	long clients_max;         /**< 0: from the limit of descriptors */
	long address_clients_max; /**< of one address; 0: no limit */
	size_t min_rate;          /**< a client that takes fewer bytes a second is disconnected */
	size_t rate;              /**< most bytes a second, to all; 0: no limit */
	size_t rate_address;      /**< ... to an address */
	size_t rate_connection;
	uint64_t header_timeout_ns;
	uint64_t idle_timeout_ns;
	uint64_t drain_timeout_ns;
	size_t cache_size;        /**< most bytes of all prebuilt responses */
	struct sws_tls_options tls;
	struct sws_site_options site;   /**< what sites begin with */
	struct sws_site_options *sites; /**< the first one is for other names, too */
	int sites_count;
	const char *config;       /**< the file, or NULL */
	struct sws_texts files;   /**< all that were read for it, included ones, too */
	const char *user;         /**< USER or USER:GROUP to become, or NULL */
	const char *chroot;       /**< the new root of all paths, or NULL */
	int sandbox;              /**< enum sws_sandbox */
	struct sws_texts sandbox_read;
	struct sws_texts trusted; /**< networks of proxies */
	const char *metrics_listen; /**< the endpoint for metrics, or NULL */
	const char *access_log;   /**< a path, "-" for standard output, or "off" */
	int log_format;           /**< enum sws_log_format */
	bool inotify;             /**< watch the directories of pages */
	bool only_check;
	struct sws_arena arena;   /**< holds all that the file says */
};

/** What main does after it has parsed the command line. */
enum sws_options_result {
	SWS_OPTIONS_RUN,
	SWS_OPTIONS_DONE,  /**< --help or --version: exit 0 */
	SWS_OPTIONS_USAGE  /**< invalid, reported in one line on stderr: exit 2 */
};

/**
 * Read the command line and the file that it names. argv must last as long as the options. In any
 * case sws_options_free follows. Not at once from two threads.
 */
enum sws_options_result sws_options_parse(struct sws_options *options, int argc, char **argv);
void sws_options_free(struct sws_options *options);

#endif
