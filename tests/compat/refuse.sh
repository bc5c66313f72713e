#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Statements that must not compile in a program of dialect "mely".
set -u
# shellcheck source=tests/compat/pairs.sh
. "${0%/*}/pairs.sh"
includes="-I$src/compat/include/mely"

declare_all mely <<'END'
#include "mely.h"
void none();
void one(int);
int gives();
void two(const char *, int);
void six(int, int, int, int, int, int);
void nine(int, int, int, int, int, int, int, int, int);
struct subject { void m(int); void c(int) const; };
struct other { void m(int); };
extern subject *s;
END

for standard in $standards; do
	# The color is left out: 1 is the color, and the argument is open.
	pair $standard 'cbv c = cwrap(one, 1, 0); (void)c;' 'cbv c = cwrap(one, 1); (void)c;'
	pair $standard 'cbi c = cwrap(one, 1); (void)c;' 'cbi c = cwrap(one, 1, 0); (void)c;'
	pair $standard 'cpucb(cpwrap(one, 1, 2, 3));' 'cpucb(cpwrap(one, 1, 2));'
	pair $standard 'cpucb(cwrap_timeleft(one, 1, 2, 3));' 'cpucb(cwrap_timeleft(one, 1, 2));'
	pair $standard 'cpucb(cpwrap_timeleft(one, 1, 2, 3, 4));' \
	    'cpucb(cpwrap_timeleft(one, 1, 2, 3));'
	# More arguments than the function takes.
	pair $standard 'wrap(one, 1);' 'wrap(one, 1, 2);'
	pair $standard 'cwrap(none, 1);' 'cwrap(none, 1, 2);'
	# An argument of another type.
	pair $standard 'wrap(two, "a");' 'wrap(two, 1);'
	pair $standard 'wrap(two, "a", 1);' 'wrap(two, 1, "a");'
	# The result type must match.
	pair $standard 'callback<int> *c = wrap(gives); (void)c;' 'cbv c = wrap(gives); (void)c;'
	# Up to five arguments are bound, up to three are open.
	pair $standard 'wrap(six, 1, 2, 3);' 'wrap(six, 1, 2);'
	pair $standard 'wrap(six, 1, 2, 3, 4, 5);' 'wrap(six, 1, 2, 3, 4, 5, 6);'
	pair $standard 'none();' 'wrap(nine, 1, 2, 3, 4, 5);'
	# Only methods that are not const, of an object of their own class.
	pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &subject::c, 1);'
	pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &other::m, 1);'
	# A timer has seconds and nanoseconds here.
	pair $standard 'delaycb(1, 0, wrap(none));' 'delaycb(1, wrap(none));'
	pair $standard 'timespec t = {0, 0}; timecb(t, wrap(none));' 'timecb(1, wrap(none));'
	# A program cannot create a timecb_t or copy a callback object.
	pair $standard 'timecb_t *t = 0; timecb_remove(t);' 'timecb_t t; timecb_remove(&t);'
	pair $standard 'cbv a = wrap(none), b = a; (void)b;' \
	    'cbv a = wrap(none); melycompat::call b(*a); (void)b;'
	# Only the factories create a callback; its color and priority do not change.
	pair $standard 'callback<void> *c = 0; (void)c;' 'callback<void> c; (void)c;'
	pair $standard 'wrap(none)->setFlagAutoFree(false);' 'wrap(none)->setcolor(1);'
	pair $standard '(void)wrap(none)->getprio();' 'wrap(none)->setprio(1);'
	# Both dialects in one file: they share a guard.
	alone $standard '}
#undef MELYCOMPAT_DIALECT_MELY
#include "../async/async.h"
void g() {' '}
#include "../async/async.h"
void g() {'
done
# A lambda does not have the argument types of a function pointer.
pair gnu++17 'wrap(+[] { });' 'wrap([] { });'
pair gnu++17 'cwrap(+[](int) { }, 1, 2);' 'cwrap([](int) { }, 1, 2);'

pairs_end
