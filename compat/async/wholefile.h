/* SPDX-License-Identifier: MIT */
/*
 * wholefile.h: a file as bytes.
 */
#ifndef MELYCOMPAT_ASYNC_WHOLEFILE_H
#define MELYCOMPAT_ASYNC_WHOLEFILE_H

#include <vector>

namespace melycompat {

/* All that can be read from fd, which is closed, to *bytes. False with errno set on an error. No
 * copy of it stays behind. */
bool read_whole(int fd, std::vector<char> *bytes);

}

#endif
