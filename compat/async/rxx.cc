/* SPDX-License-Identifier: MIT */
/*
 * rxx.cc: regular expressions on PCRE2. A compiled expression never changes, so all copies of an
 * rxx share it; each object has its own memory for the result of a search.
 */
#include "rxx.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "err.h"

namespace melycompat {

struct regex {
	std::atomic<int> users;
	pcre2_code *code;
};

static regex *
regex_use(regex *x)
{
	/* The copied object holds a reference already. */
	if (x != nullptr)
		x->users.fetch_add(1, std::memory_order_relaxed);
	return x;
}

static void
regex_drop(regex *x)
{
	/* acq_rel: what the other users did with it happens before the last one frees it; pairs
	 * with itself. */
	if (x != nullptr && x->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
		pcre2_code_free(x->code);
		delete x;
	}
}

static pcre2_match_data *
found(regex_results *r)
{
	return reinterpret_cast<pcre2_match_data *>(r);
}

static regex_results *
results_for(const regex *x)
{
	return x == nullptr ? nullptr
	                    : reinterpret_cast<regex_results *>(
	                          pcre2_match_data_create_from_pattern(x->code, nullptr));
}

/* Convert option letters to options; *strict: X was among them. False: a letter is unknown. */
static bool
options_of(const char *letters, uint32_t *options, bool *strict)
{
	static const struct {
		char letter;
		uint32_t option;
	} known[] = {
	    {'^', PCRE2_ANCHORED},  {'i', PCRE2_CASELESS}, {'s', PCRE2_DOTALL}, {'S', 0},
	    {'m', PCRE2_MULTILINE}, {'x', PCRE2_EXTENDED}, {'U', PCRE2_UNGREEDY}, {'X', 0},
	    {'8', PCRE2_UTF},
	};

	*options = 0;
	*strict = std::strchr(letters, 'X') != nullptr;
	for (; *letters != '\0'; letters++) {
		bool is_known = false;

		for (const auto &k : known)
			if (k.letter == *letters) {
				*options |= k.option;
				is_known = true;
			}
		if (!is_known)
			return false;
	}
	return true;
}

static str
message_of(int error)
{
	PCRE2_UCHAR text[256];

	if (pcre2_get_error_message(error, text, sizeof text) < 0)
		return "unknown error";
	return reinterpret_cast<const char *>(text);
}

/* Compile as PCRE did before PCRE2: lines end in \n, whatever the library's default is, and an
 * unknown escape such as \j is the letter itself. */
static pcre2_code *
compiled(const char *pattern, uint32_t options, bool strict, int *error, PCRE2_SIZE *offset)
{
	pcre2_compile_context *context = pcre2_compile_context_create(nullptr);
	pcre2_code *code;

	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	if (!strict)
		pcre2_set_compile_extra_options(context, PCRE2_EXTRA_BAD_ESCAPE_IS_LITERAL);
	code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, options,
	    error, offset, context);
	pcre2_compile_context_free(context);
	return code;
}

}

using namespace melycompat;

rrxx::rrxx() : _regex(nullptr), _results(nullptr), _found(0)
{
}

rrxx::rrxx(const rrxx &x) : _regex(nullptr), _results(nullptr), _found(0)
{
	*this = x;
}

rrxx &
rrxx::operator=(const rrxx &x)
{
	if (this == &x)
		return *this;
	clear();
	pcre2_match_data_free(found(_results));
	regex_drop(_regex);
	_regex = regex_use(x._regex);
	_results = results_for(_regex);
	_found = x._found;
	if (_found > 0)
		std::memcpy(pcre2_get_ovector_pointer(found(_results)),
		    pcre2_get_ovector_pointer(found(x._results)),
		    2 * (size_t)_found * sizeof(PCRE2_SIZE));
	_subject = x._subject;
	_error = x._error;
	return *this;
}

rrxx::~rrxx()
{
	pcre2_match_data_free(found(_results));
	regex_drop(_regex);
}

bool
rrxx::compile(const char *pattern, const char *options)
{
	uint32_t bits;
	bool strict;
	int error;
	PCRE2_SIZE offset;

	*this = rrxx();
	if (pattern == nullptr || !options_of(options != nullptr ? options : "", &bits, &strict)) {
		_error = strbuf() << "bad options \"" << (options != nullptr ? options : "")
				  << "\" or no pattern";
		return false;
	}
	pcre2_code *code = compiled(pattern, bits, strict, &error, &offset);
	if (code == nullptr) {
		_error = strbuf() << message_of(error) << " at offset " << (u_int64_t)offset
				  << " of \"" << pattern << "\"";
		return false;
	}
	_regex = new regex{{1}, code};
	_results = results_for(_regex);
	return true;
}

void
rrxx::clear()
{
	_found = 0;
	_subject = str();
}

bool
rrxx::_exec(const char *p, size_t len, int options)
{
	_found = 0;
	if (_regex == nullptr) {
		if (!_error)
			_error = "no expression";
		return false;
	}
	if (len > INT_MAX) {
		_error = "the string is too long";
		return false;
	}
	int rc = pcre2_match(_regex->code, reinterpret_cast<PCRE2_SPTR>(p), len, 0,
	    (uint32_t)options, found(_results), nullptr);
	if (rc < 0 && rc != PCRE2_ERROR_NOMATCH && rc != PCRE2_ERROR_PARTIAL) {
		_error = message_of(rc);
		return false;
	}
	_error = str();
	_found = rc > 0 ? rc : 0;
	return true;
}

void
rrxx::look(const str &s, int options)
{
	_found = 0;
	_subject = s;
	if (s)
		_exec(s.cstr(), s.len(), options);
}

rrxx::matchresult
rrxx::search(const str &s, int options)
{
	look(s, options);
	return *this;
}

rrxx::matchresult
rrxx::match(const str &s, int options)
{
	look(s, options | (int)PCRE2_ANCHORED);
	if (success() && (size_t)end(0) != s.len())
		_found = 0;
	return *this;
}

rrxx::matchresult
rrxx::search_cstr(const char *p, size_t len, int options)
{
	clear();
	_exec(p, len, options);
	return *this;
}

rrxx::matchresult
rrxx::match_cstr(const char *p, size_t len, int options)
{
	search_cstr(p, len, options | (int)PCRE2_ANCHORED);
	if (success() && (size_t)end(0) != len)
		_found = 0;
	return *this;
}

int
rrxx::start(ptrdiff_t n) const
{
	if (n < 0 || n >= _found)
		return -1;
	PCRE2_SIZE at = pcre2_get_ovector_pointer(found(_results))[2 * n];
	return at == PCRE2_UNSET ? -1 : (int)at;
}

int
rrxx::end(ptrdiff_t n) const
{
	if (start(n) < 0)
		return -1;
	return (int)pcre2_get_ovector_pointer(found(_results))[2 * n + 1];
}

int
rrxx::len(ptrdiff_t n) const
{
	int from = start(n);

	return from < 0 ? -1 : end(n) - from;
}

str
rrxx::at(ptrdiff_t n) const
{
	int length = len(n);

	if (length < 0 || !_subject)
		return str();
	return str(_subject.cstr() + start(n), (size_t)length);
}

rxx::rxx(const char *pattern, const char *options)
{
	if (!compile(pattern, options))
		panic << "rxx: " << geterr() << "\n";
}

int
split(vec<str> *out, rxx pattern, str expr, size_t lim, bool emptylast)
{
	size_t n = 0;

	if (out != nullptr)
		out->clear();
	if (!expr || lim == 0)
		return 0;
	const char *p = expr.cstr();
	const char *end = p + expr.len();
	for (; p < end && n + 1 < lim; n++) {
		if (!pattern._exec(p, (size_t)(end - p), 0)) {
			if (out != nullptr)
				out->clear();
			return 0;
		}
		if (!pattern.success())
			break;
		if (out != nullptr)
			out->push_back(str(p, (size_t)pattern.start(0)));
		p += std::max(pattern.end(0), 1);
	}
	if (p < end || emptylast) {
		n++;
		if (out != nullptr)
			out->push_back(str(p, (size_t)(end - p)));
	}
	return (int)n;
}

str
join(const str &sep, const vec<str> &v)
{
	strbuf b;

	for (size_t i = 0; i < v.size(); i++) {
		if (i > 0)
			b << sep;
		b << v[i];
	}
	return b;
}
