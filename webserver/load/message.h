/* SPDX-License-Identifier: MIT */
/*
 * message.h: messages between a master and its slaves: a line "NAME LENGTH", then LENGTH bytes.
 * Blocking calls, on the main thread.
 *
 *     master      slave
 *     job                      load_options_encode
 *     list                     the text of the file of paths, or nothing
 *                 ready
 *     go                       to all slaves, when all are ready
 *                 second       "RESPONSES ERRORS BYTES", once a second
 *                 result       result.h
 *                 fail         instead of ready or result: why
 */
#ifndef LOAD_MESSAGE_H
#define LOAD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define LOAD_MESSAGE_MAX ((size_t)1 << 28)

struct load_message {
	char name[16];
	char *text; /* with a terminating zero; for free */
	size_t len;
};

/** Send; false and errno. */
bool load_message_send(int fd, const char *name, const char *text, size_t len);

/** Receive; false when the peer has gone or sends no message. */
bool load_message_receive(int fd, struct load_message *m);

/** Receive, and take nothing but a message of this name. On false m holds nothing. */
bool load_message_expect(int fd, const char *name, struct load_message *m);

void load_message_fini(struct load_message *m);

#endif
