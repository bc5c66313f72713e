/* SPDX-License-Identifier: MIT */
/*
 * vec.cc: the parts of vectors and other containers that are not templates: growth, the tables of
 * bits, and the abort after misuse of a container.
 */
#include "vec.h"

#include "err.h"
#include "misuse.h"
#include "msb.h"

namespace {

vec_resizer_t *resizer;

/* Position of the highest and lowest bit set, for the bytes b to b + 15. */
#define HIGH_16(b) \
	HIGH_4(b), HIGH_4(b + 4), HIGH_4(b + 8), HIGH_4(b + 12)
#define HIGH_4(b) HIGH(b), HIGH(b + 1), HIGH(b + 2), HIGH(b + 3)
#define HIGH(b) ((b) == 0 ? 0 : 32 - __builtin_clz((b) | ((b) == 0)))
#define LOW_16(b) LOW_4(b), LOW_4(b + 4), LOW_4(b + 8), LOW_4(b + 12)
#define LOW_4(b) LOW(b), LOW(b + 1), LOW(b + 2), LOW(b + 3)
#define LOW(b) ((b) == 0 ? 0 : __builtin_ctz((b) | ((b) == 0) << 8) + 1)
#define BYTES(of) \
	of(0x00), of(0x10), of(0x20), of(0x30), of(0x40), of(0x50), of(0x60), of(0x70), \
	    of(0x80), of(0x90), of(0xa0), of(0xb0), of(0xc0), of(0xd0), of(0xe0), of(0xf0)

}

extern const char bytemsb[256] = {BYTES(HIGH_16)};
extern const char bytelsb[256] = {BYTES(LOW_16)};

vec_resizer_t::~vec_resizer_t() {}

void
set_vec_resizer(vec_resizer_t *chosen)
{
	if (chosen != resizer)
		delete resizer;
	resizer = chosen;
}

size_t
vec_resize_fn(u_int nalloc, u_int nwanted, int objid)
{
	size_t room;

	if (resizer != nullptr)
		room = resizer->resize(nalloc, nwanted, objid);
	else
		room = size_t(1) << fls(nalloc > nwanted ? nalloc : nwanted);
	return room > nwanted ? room : nwanted;
}

void
container_misused(const char *what)
{
	panic << what << "\n";
}
