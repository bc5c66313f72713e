/* SPDX-License-Identifier: MIT */
/*
 * precompiled.h: what most sources of the library include, compiled once for all of them. No source
 * relies on it: each includes what it needs.
 */
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>
