/* SPDX-License-Identifier: MIT */
/*
 * conftab.cc: the table of options that a configuration file may set.
 */
#include "parseopt.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <strings.h>

#include "err.h"

namespace melycompat {

/* An option. Derived classes differ in the arguments that they accept. */
struct option {
	const str name;
	bool was_set = false;

	explicit option(const str &n) : name(n) {}
	virtual ~option() {}

	/* Set the option from the words of the line at `where`; set *error if they are invalid. */
	virtual void take(const vec<str> &words, const str &where, bool *error) = 0;
	/* Set the option to its default. False: it has no default. */
	virtual bool use_default() { return false; }
	virtual void say(const strbuf &) const {}
};

/* Options with one value. */
struct value_option : option {
	using option::option;

	virtual bool set(const str &value) = 0;
	/* The name of the kind of value, for a message. */
	virtual str kind() const = 0;

	void take(const vec<str> &words, const str &where, bool *error) override
	{
		bool one = words.size() == 2 || (words.size() > 2 && words[2][0] == '#');

		if (one && set(words[1]))
			return;
		warn << where << ": usage: " << name << " " << kind() << "\n";
		*error = true;
	}
};

struct str_option : value_option {
	str *to;
	bool has_default;
	str fallback;

	str_option(const str &n, str *p, bool has, const str &def)
	    : value_option(n), to(p), has_default(has), fallback(def)
	{
	}
	bool set(const str &value) override
	{
		*to = value;
		return true;
	}
	str kind() const override { return "<string>"; }
	bool use_default() override
	{
		if (has_default)
			*to = fallback;
		return has_default;
	}
	void say(const strbuf &b) const override { b << (*to ? *to : str("(null)")); }
};

struct bool_option : value_option {
	bool *to;
	bool has_default;
	bool fallback;

	bool_option(const str &n, bool *p, bool has, bool def)
	    : value_option(n), to(p), has_default(has), fallback(def)
	{
	}
	bool set(const str &value) override
	{
		static const char *const words[][2] = {
		    {"0", "1"}, {"false", "true"}, {"no", "yes"}, {"off", "on"},
		    {"f", "t"}, {"n", "y"},
		};

		for (const auto &w : words)
			for (int truth = 0; truth < 2; truth++)
				if (strcasecmp(value.cstr(), w[truth]) == 0) {
					*to = truth != 0;
					return true;
				}
		return false;
	}
	str kind() const override { return "<true or false>"; }
	bool use_default() override
	{
		if (has_default)
			*to = fallback;
		return has_default;
	}
	void say(const strbuf &b) const override { b << (*to ? "true" : "false"); }
};

struct number_option : value_option {
	conftab::number *to;
	bool has_default;
	long long fallback;

	number_option(const str &n, conftab::number *p, bool has, long long def)
	    : value_option(n), to(p), has_default(has), fallback(def)
	{
	}
	~number_option() override { delete to; }
	bool set(const str &value) override
	{
		long long n;

		if (!convertint(value, &n) || n < to->lo || n > to->hi)
			return false;
		to->set(n);
		return true;
	}
	str kind() const override
	{
		return strbuf() << "<number from " << (int64_t)to->lo << " to "
				<< (int64_t)to->hi << ">";
	}
	bool use_default() override
	{
		if (has_default)
			to->set(fallback);
		return has_default;
	}
	void say(const strbuf &b) const override { b << (int64_t)to->get(); }
};

struct double_option : value_option {
	double *to;
	double lo, hi;
	bool has_default;
	double fallback;

	double_option(const str &n, double *p, double from, double upto, bool has, double def)
	    : value_option(n), to(p), lo(from), hi(upto), has_default(has), fallback(def)
	{
	}
	bool set(const str &value) override
	{
		char *end;
		double n = std::strtod(value.cstr(), &end);

		if (value.len() == 0 || end != value.cstr() + value.len() || std::isnan(n) ||
		    n < lo || n > hi)
			return false;
		*to = n;
		return true;
	}
	str kind() const override
	{
		return strbuf() << "<number from " << lo << " to " << hi << ">";
	}
	bool use_default() override
	{
		if (has_default)
			*to = fallback;
		return has_default;
	}
	void say(const strbuf &b) const override { b << *to; }
};

struct callback_option : option {
	confcb cb;

	callback_option(const str &n, const confcb &c) : option(n), cb(c) {}
	void take(const vec<str> &words, const str &where, bool *error) override
	{
		(*cb)(words, where, error);
	}
};

/* An option with one word, passed to the callback of ads. */
struct word_option : value_option {
	cbs cb;

	word_option(const str &n, const cbs &c) : value_option(n), cb(c) {}
	bool set(const str &value) override
	{
		(*cb)(value);
		return true;
	}
	str kind() const override { return "<string>"; }
};

struct ignored_option : option {
	using option::option;
	void take(const vec<str> &, const str &, bool *) override {}
};

}

using namespace melycompat;

conftab::conftab()
{
}

conftab::~conftab()
{
	for (size_t i = 0; i < _options.size(); i++)
		delete _options[i];
}

option *
conftab::find(const str &name) const
{
	for (size_t i = 0; i < _options.size(); i++)
		if (strcasecmp(_options[i]->name.cstr(), name.cstr()) == 0)
			return _options[i];
	return nullptr;
}

/* A later option replaces an earlier one of the same name. */
conftab &
conftab::insert(option *o)
{
	for (size_t i = 0; i < _options.size(); i++)
		if (strcasecmp(_options[i]->name.cstr(), o->name.cstr()) == 0) {
			delete _options[i];
			_options[i] = o;
			return *this;
		}
	_options.push_back(o);
	return *this;
}

conftab &
conftab::add(const str &name, confcb cb)
{
	return insert(new callback_option(name, cb));
}

conftab &
conftab::ads(const str &name, cbs cb)
{
	return insert(new word_option(name, cb));
}

conftab &
conftab::add(const str &name, str *p)
{
	return insert(new str_option(name, p, false, str()));
}

conftab &
conftab::add(const str &name, str *p, const str &fallback)
{
	return insert(new str_option(name, p, true, fallback));
}

conftab &
conftab::add(const str &name, bool *p)
{
	return insert(new bool_option(name, p, false, false));
}

conftab &
conftab::add(const str &name, bool *p, bool fallback)
{
	return insert(new bool_option(name, p, true, fallback));
}

conftab &
conftab::add(const str &name, double *p)
{
	double most = std::numeric_limits<double>::infinity();

	return insert(new double_option(name, p, -most, most, false, 0));
}

conftab &
conftab::add(const str &name, double *p, double lo, double hi)
{
	return insert(new double_option(name, p, lo, hi, false, 0));
}

conftab &
conftab::add(const str &name, double *p, double lo, double hi, double fallback)
{
	return insert(new double_option(name, p, lo, hi, true, fallback));
}

conftab &
conftab::add_number(const str &name, number *n, bool has_default, long long fallback)
{
	return insert(new number_option(name, n, has_default, fallback));
}

conftab &
conftab::ignore(const str &name)
{
	return insert(new ignored_option(name));
}

bool
conftab::match(const vec<str> &av, const str &file, int line, bool *error)
{
	option *o = av.empty() ? nullptr : find(av[0]);

	if (o == nullptr)
		return false;
	o->was_set = true;
	o->take(av, strbuf() << file << ":" << line, error);
	return true;
}

void
conftab::reset()
{
	for (size_t i = 0; i < _options.size(); i++)
		_options[i]->was_set = false;
}

void
conftab::apply_defaults()
{
	for (size_t i = 0; i < _options.size(); i++)
		if (!_options[i]->was_set)
			_options[i]->use_default();
}

void
conftab::report(vec<str> *out)
{
	for (size_t i = 0; i < _options.size(); i++) {
		strbuf b;

		_options[i]->say(b);
		out->push_back(strbuf() << _options[i]->name << ": " << b);
	}
}

void
conftab::report()
{
	vec<str> lines;

	report(&lines);
	for (size_t i = 0; i < lines.size(); i++)
		warn << lines[i] << "\n";
}

bool
conftab::run(const str &file, u_int opts, int fd, status_t *status)
{
	bool error = false, unknown = false;

	reset();
	if (file) {
		parseargs lines(file, fd);
		vec<str> words;
		int line;

		if (opts & CONFTAB_VERBOSE)
			warn << "reading options from " << file << "\n";
		while (lines.getline(&words, &line))
			if (!match(words, file, line, &error)) {
				warn << file << ":" << line << ": unknown option " << words[0]
				     << "\n";
				unknown = true;
			}
	}
	if (opts & CONFTAB_APPLY_DEFAULTS)
		apply_defaults();
	if (opts & CONFTAB_VERBOSE)
		report();
	if (status != nullptr)
		*status = error ? ERROR : unknown ? UNKNOWN : OK;
	return !error && !unknown;
}
