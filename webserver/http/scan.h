/* SPDX-License-Identifier: MIT */
/*
 * scan.h: finds the delimiters of a request head, a block at a time.
 *
 * Every function reads whole blocks, so up to HTTP_PAD bytes after the given end must be readable;
 * their values do not matter. Pure functions, any thread.
 */
#ifndef SWS_HTTP_SCAN_H
#define SWS_HTTP_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assertion.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/** Bytes after the end of the data that must be readable. */
#define HTTP_PAD 64
#define HTTP_BLOCK 16

/** What http_scan_target finds besides the end. */
enum http_target_marks {
	HTTP_TARGET_PERCENT = 1, /**< an escape */
	HTTP_TARGET_QUERY = 2,   /**< a question mark */
	HTTP_TARGET_HASH = 4,    /**< a fragment, which no request may carry */
	HTTP_TARGET_DOTS = 8     /**< "//" or "/." : not in normal form, or hidden */
};

#ifdef __SSE2__

/* Bit i: byte i of a block is DEL or a control other than HTAB, which field lines must not have. */
static inline uint32_t
http_block_controls(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
	__m128i tab = _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'));
	__m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));

	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del));
}

static inline uint32_t
http_block_equal(const char *p, char c)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

/* Bit i: byte i is a letter, a digit or '-', as in usual field names. */
static inline uint32_t
http_block_name(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	__m128i alpha = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i dash = _mm_cmpeq_epi8(v, _mm_set1_epi8('-'));

	alpha = _mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha);
	digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(alpha, digit), dash));
}

/* Bit i: byte i is a letter, a digit, '-', '.' or ':', as in usual hosts. */
static inline uint32_t
http_block_host(const char *p)
{
	return http_block_name(p) | http_block_equal(p, '.') | http_block_equal(p, ':');
}

/* Bit i: byte i is a digit. */
static inline uint32_t
http_block_digit(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));

	return (uint32_t)_mm_movemask_epi8(
	    _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));
}

/* Bit i: byte i cannot be part of a request target: up to space, DEL and above. */
static inline uint32_t
http_block_target_end(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	/* Bytes from 0x80 on are negative as signed numbers, so they are below 0x21 too. */
	__m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x21));
	__m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));

	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, del));
}

#else

static inline uint32_t
http_block_controls(const char *p)
{
	uint32_t mask = 0;

	for (int i = 0; i < HTTP_BLOCK; i++) {
		unsigned char c = (unsigned char)p[i];

		mask |= (uint32_t)((c < 0x20 && c != '\t') || c == 0x7f) << i;
	}
	return mask;
}

static inline uint32_t
http_block_equal(const char *p, char c)
{
	uint32_t mask = 0;

	for (int i = 0; i < HTTP_BLOCK; i++)
		mask |= (uint32_t)(p[i] == c) << i;
	return mask;
}

static inline uint32_t
http_block_name(const char *p)
{
	uint32_t mask = 0;

	for (int i = 0; i < HTTP_BLOCK; i++) {
		unsigned char c = (unsigned char)p[i];

		mask |= (uint32_t)((unsigned char)((c | 0x20) - 'a') <= 25
		    || (unsigned char)(c - '0') <= 9 || c == '-') << i;
	}
	return mask;
}

static inline uint32_t
http_block_host(const char *p)
{
	return http_block_name(p) | http_block_equal(p, '.') | http_block_equal(p, ':');
}

static inline uint32_t
http_block_digit(const char *p)
{
	uint32_t mask = 0;

	for (int i = 0; i < HTTP_BLOCK; i++)
		mask |= (uint32_t)((unsigned char)(p[i] - '0') <= 9) << i;
	return mask;
}

static inline uint32_t
http_block_target_end(const char *p)
{
	uint32_t mask = 0;

	for (int i = 0; i < HTTP_BLOCK; i++) {
		unsigned char c = (unsigned char)p[i];

		mask |= (uint32_t)(c < 0x21 || c >= 0x7f) << i;
	}
	return mask;
}

#endif

/**
 * An iterator over the control characters of a text. It scans a block as a whole and keeps the
 * controls in a mask, so that finding the end of a line does not depend on the result of parsing
 * the line before.
 */
struct http_controls {
	const char *buf;
	size_t base; /* of the block in mask */
	size_t end;
	uint64_t mask;
};

static inline uint64_t
http_wide_controls(const char *p)
{
	return http_block_controls(p) | (uint64_t)http_block_controls(p + 16) << 16
	    | (uint64_t)http_block_controls(p + 32) << 32
	    | (uint64_t)http_block_controls(p + 48) << 48;
}

static inline struct http_controls
http_controls_begin(const char *buf, size_t at, size_t end)
{
	struct http_controls it = {buf, at, end, 0};

	if (at < end)
		it.mask = http_wide_controls(buf + at);
	return it;
}

/** The offset of the next control, or end; it does not move before http_controls_skip. */
static inline size_t
http_controls_next(struct http_controls *it)
{
	size_t at;

	while (it->mask == 0) {
		it->base += 64;
		if (it->base >= it->end)
			return it->end;
		it->mask = http_wide_controls(it->buf + it->base);
	}
	at = it->base + (size_t)__builtin_ctzll(it->mask);
	return at < it->end ? at : it->end;
}

static inline void
http_controls_skip(struct http_controls *it)
{
	/* With no control to skip, the caller is out of step with the text. */
	SWS_DEBUG_ASSERT(it->mask != 0);
	it->mask &= it->mask - 1;
}

/**
 * The offset of the first byte of buf[at .. end) that cannot be part of a request target; end if
 * there is none. *marks: what precedes it. Marks after the first '?' count too, which only costs
 * time.
 */
static inline size_t
http_scan_target(const char *buf, size_t at, size_t end, unsigned *marks)
{
	uint32_t slash_before = 0;
	unsigned found = 0;

	SWS_DEBUG_ASSERT(at <= end);
	for (; at < end; at += HTTP_BLOCK) {
		uint32_t stop = http_block_target_end(buf + at);
		uint32_t valid = stop != 0 ? (stop & -stop) - 1 : 0xffff;
		uint32_t slash = http_block_equal(buf + at, '/');
		uint32_t pair = (slash << 1 | slash_before)
		    & (slash | http_block_equal(buf + at, '.')) & valid;
		uint32_t percent = http_block_equal(buf + at, '%') & valid;
		uint32_t query = http_block_equal(buf + at, '?') & valid;
		uint32_t hash = http_block_equal(buf + at, '#') & valid;

		if (pair | percent | query | hash)
			found |= (percent ? HTTP_TARGET_PERCENT : 0)
			    | (query ? HTTP_TARGET_QUERY : 0) | (hash ? HTTP_TARGET_HASH : 0)
			    | (pair ? HTTP_TARGET_DOTS : 0);
		slash_before = slash >> 15 & 1;
		if (stop != 0) {
			at += (size_t)__builtin_ctz(stop);
			break;
		}
	}
	*marks = found;
	return at < end ? at : end;
}

#endif
