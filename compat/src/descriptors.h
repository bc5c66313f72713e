/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h: queues of callbacks per descriptor and direction, for dialect "mely". Any thread.
 */
#ifndef MELYCOMPAT_DESCRIPTORS_H
#define MELYCOMPAT_DESCRIPTORS_H

#include "job.h"

namespace melycompat {

/** Append to the queue of (fd, for writing?). Held before amain. */
void descriptor_append(int fd, bool write, const job &j);
/** Drop the whole queue; a callback that runs now is freed after it returns. */
void descriptor_drop(int fd, bool write);
/** In the callback of a descriptor: true removes it after it returns. No effect elsewhere. */
void descriptor_finished(bool finished);

/** In amain: watch the descriptors of the held callbacks. */
void descriptors_start();

}

#endif
