/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h: queues of callbacks per descriptor and direction, as dialect "mely" has them. Any
 * thread.
 */
#ifndef MELYCOMPAT_DESCRIPTORS_H
#define MELYCOMPAT_DESCRIPTORS_H

#include "job.h"

namespace melycompat {

/** Append to the queue of (fd, for writing?). Held before amain. */
void descriptor_append(int fd, bool write, const job &j);
/** Drop the whole queue; what runs now is freed when it has returned. */
void descriptor_drop(int fd, bool write);
/** In the callback of a descriptor: is it done with? Elsewhere nothing. */
void descriptor_finished(bool finished);

/** In amain: watch what has been held. */
void descriptors_start();

}

#endif
