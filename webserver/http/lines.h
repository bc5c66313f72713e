/* SPDX-License-Identifier: MIT */
/*
 * lines.h: lines of fields that an operator adds to answers. Pure functions, any thread.
 */
#ifndef SWS_HTTP_LINES_H
#define SWS_HTTP_LINES_H

#include <stddef.h>

enum http_lines_error {
	HTTP_LINES_FINE,
	HTTP_LINES_FORM,  /**< not of the form "NAME: VALUE" */
	HTTP_LINES_OWN,   /**< a field that the server writes itself, or that frames a message */
	HTTP_LINES_FULL
};

/**
 * Add "NAME: VALUE" to lines, each with its CR LF, in place of one of that name; without a value
 * there is none then. lines is terminated and has room bytes.
 */
enum http_lines_error http_lines_add(char *lines, size_t room, const char *line);

#endif
