#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Statements that must not compile in a program of dialect "async".
set -u
# shellcheck source=tests/compat/pairs.sh
. "${0%/*}/pairs.sh"
includes="-I$src/compat/include/async -I$build/compat/include/async"

# ---- callbacks and references ----

base_pairs()
{
	local standard
	declare_all base <<-'END'
		#include "callback.h"
		#undef NULL
		#define NULL 0
		void none();
		void one(int);
		int gives();
		void two(const char *, int);
		void by_value(double);
		void by_const(const double &);
		void by_reference(double &);
		void six(int, int, int, int, int, int);
		void nine(int, int, int, int, int, int, int, int, int);
		struct base { void b(int); };
		struct subject : base { void m(int); void c(int) const; };
		struct other { void m(int); };
		struct knows_itself : public virtual refcount { };
		extern subject *s;
		extern const subject *cs;
		extern ptr<subject> p;
		extern ptr<base> pb;
		extern ptr<const subject> pc;
		extern double d;
	END
	for standard in $standards; do
		# A ref is never null, nor is a cbv, which is one.
		pair $standard 'cbv::ptr c; (void)c;' 'cbv c; (void)c;'
		pair $standard 'cbv::ptr c = NULL; (void)c;' 'cbv c = NULL; (void)c;'
		pair $standard 'ptr<int> r = NULL; (void)r;' 'ref<int> r = NULL; (void)r;'
		pair $standard 'ptr<int> r; (void)r;' 'ref<int> r; (void)r;'
		pair $standard 'ref<subject> r = p; p = NULL;' 'ref<subject> r = p; r = NULL;'
		# The color is left out: 1 is the color, and the argument is open.
		pair $standard 'cbv c = cwrap(one, 1, 0);' 'cbv c = cwrap(one, 1);'
		pair $standard 'cbi c = cwrap(one, 1);' 'cbi c = cwrap(one, 1, 0);'
		pair $standard 'cbv c = cpwrap(one, 1, 2, 3);' 'cbv c = cpwrap(one, 1, 2);'
		pair $standard 'cbv c = cwrap_timeleft(one, 1, 2, 3);' \
		    'cbv c = cwrap_timeleft(one, 1, 2);'
		pair $standard 'cbv c = cpwrap_timeleft(one, 1, 2, 3, 4);' \
		    'cbv c = cpwrap_timeleft(one, 1, 2, 3);'
		# More than the function takes.
		pair $standard 'cbv c = wrap(one, 1);' 'cbv c = wrap(one, 1, 2);'
		pair $standard 'cbv c = cwrap(none, 1);' 'cbv c = cwrap(none, 1, 2);'
		# An argument of another type.
		pair $standard 'wrap(two, "a");' 'wrap(two, 1);'
		pair $standard 'wrap(two, "a", 1);' 'wrap(two, 1, "a");'
		# What it gives back, and what it is called with, must be the same.
		pair $standard 'callback<int>::ptr c = wrap(gives);' 'cbv c = wrap(gives);'
		pair $standard 'cbi c = wrap(one);' 'callback<void, long>::ref c = wrap(one);'
		pair $standard 'cbi c = wrap(one); c(1);' 'cbi c = wrap(one); c();'
		# A variable of the caller's is not bound for writing.
		pair $standard 'wrap(by_value, d);' 'wrap(by_reference, d);'
		pair $standard 'wrap(by_const, d);' 'wrap(by_reference, d);'
		# Up to five are bound, up to three are open.
		pair $standard 'wrap(six, 1, 2, 3);' 'wrap(six, 1, 2);'
		pair $standard 'wrap(six, 1, 2, 3, 4, 5);' 'wrap(six, 1, 2, 3, 4, 5, 6);'
		pair $standard 'none();' 'wrap(nine, 1, 2, 3, 4, 5);'
		# A method, of an object of its very class, and const where the object is.
		pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &other::m, 1);'
		pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &base::b, 1);'
		pair $standard 'wrap(p, &subject::m, 1);' 'wrap(p, &base::b, 1);'
		pair $standard 'wrap(cs, &subject::c, 1);' 'wrap(cs, &subject::m, 1);'
		pair $standard 'wrap(pc, &subject::c, 1);' 'wrap(pc, &subject::m, 1);'
		# What a factory makes is for a handle, and so is a counted object.
		pair $standard 'cbv c = wrap(none); c();' 'wrap(none)->trigger();'
		pair $standard 'cbv c = wrap(none); (*c)();' '(*wrap(none))();'
		pair $standard 'p = New refcounted<subject>;' 's = New refcounted<subject>;'
		pair $standard 'ptr<base> b = New refcounted<subject>;' \
		    'ptr<subject> b = New refcounted<base>;'
		# Conversions are those of pointers.
		pair $standard 'pb = p;' 'p = pb;'
		pair $standard 'pc = p;' 'p = pc;'
		pair $standard 's = p;' 'p = s;'
		pair $standard 'ptr<void> v = p;' 'ptr<other> v = p;'
		# Only what has a count of its own has handles of itself.
		pair $standard 'mkref((knows_itself *)0);' 'mkref((subject *)0);'
	done
	# A lambda does not have the argument types of a function pointer.
	pair gnu++17 'cbv c = wrap(+[] { });' 'cbv c = wrap([] { });'
	pair gnu++17 'cbv c = cwrap(+[](int) { }, 1, 2);' 'cbv c = cwrap([](int) { }, 1, 2);'
}

# ---- strings and messages ----

text_pairs()
{
	local standard
	declare_all text <<-'END'
		#include "amisc.h"
		struct unknown { int x; };
		extern str s;
		extern const str constant;
		extern strbuf sb;
		extern suio uio;
		extern mstr m;
		extern unknown u;
	END
	for standard in $standards; do
		# Its bytes do not change.
		pair $standard 'const char *p = s; (void)p;' 'char *p = s; (void)p;'
		pair $standard 'char *p = m; p[0] = 1;' 's[0] = 1;'
		pair $standard 's = s;' 'constant = s;'
		# From a suio by name only.
		pair $standard 'str t(uio);' 'str t = uio;'
		# One owner each.
		pair $standard 'strbuf t(sb);' 'strbuf t; t = sb;'
		pair $standard 'mstr t(5);' 'mstr t(m);'
		pair $standard 'suio t; t.take(&uio);' 'suio t(uio);'
		# What has no strbuf_cat.
		pair $standard 'sb << u.x;' 'sb << u;'
		pair $standard 'warn << u.x;' 'warn << u;'
		# These names are macros.
		pair $standard 'int w = 5; (void)w;' 'int warn = 5; (void)warn;'
		pair $standard 'int p = 5; (void)p;' 'int panic = 5; (void)panic;'
		# A message takes no arguments but a format.
		pair $standard 'warn ("x");' 'warn (5);'
		pair $standard 'fatal ("x");' 'fatal (u);'
	done
}

# ---- containers ----

cont_pairs()
{
	local standard
	declare_all cont <<-'END'
		#include "async.h"
		#include "bbuddy.h"
		#include "itree.h"
		#include "list.h"
		#include "qhash.h"
		#include "rctree.h"
		struct elm {
			int key;
			long number;
			list_entry<elm> l;
			tailq_entry<elm> q;
			ihash_entry<elm> h;
			itree_entry<elm> t;
			rctree_entry_t<elm> r;
		};
		typedef list<elm, &elm::l> elms;
		typedef tailq<elm, &elm::q> queue;
		typedef ihash<int, elm, &elm::key, &elm::h> table;
		typedef itree<int, elm, &elm::key, &elm::t> tree;
		typedef rctree_t<int, elm, &elm::r> counted;
		extern elms l;
		extern queue q;
		extern table h;
		extern tree t;
		extern counted c;
		extern bbuddy b;
		extern elm *e;
		extern qhash<str, int> values;
		extern const qhash<str, int> constant;
		extern const vec<int> numbers;
		extern const bhash<str> set;
		struct no_default { no_default(int); };
	END
	for standard in $standards; do
		# A pointer is not a key, except for C strings.
		pair $standard 'qhash<const char *, int> v; v.insert("a", 1);' \
		    'qhash<elm *, int> v; v.insert(e, 1);'
		pair $standard 'hashfn<char *> f; (void)f;' 'hashfn<void *> f; (void)f;'
		# Containers of elements with links are not copied.
		pair $standard 'elms m; (void)m;' 'elms m(l);'
		pair $standard 'queue m; (void)m;' 'queue m; m = q;'
		pair $standard 'table m; (void)m;' 'table m(h);'
		pair $standard 'tree m; (void)m;' 'tree m(t);'
		pair $standard 'counted m; (void)m;' 'counted m(c);'
		pair $standard 'qhash<str, int> m(values);' 'bbuddy m(b);'
		# A link belongs to one kind of container, a key to its type.
		pair $standard 'list<elm, &elm::l> m; (void)m;' 'list<elm, &elm::q> m; (void)m;'
		pair $standard 'ihash<long, elm, &elm::number, &elm::h> m;' \
		    'ihash<int, elm, &elm::number, &elm::h> m;'
		# Counted objects only in what counts.
		pair $standard 't.insert(e);' 'c.insert(1, e);'
		# What is const is not changed.
		pair $standard '*values["a"] = 1;' '*constant["a"] = 1;'
		pair $standard '(void)constant["a"];' 'values = constant; constant.clear();'
		pair $standard '(void)numbers[0];' 'numbers[0] = 1;'
		pair $standard '(void)set["a"];' 'set.remove("a");'
		# Without a default there is nothing to fill up with.
		pair $standard 'vec<no_default> v; v.push_back(1);' \
		    'vec<no_default> v; v.setsize(1);'
		# With async.h comes what else a program has of the system.
		pair $standard 'sigset_t set; sigfillset(&set); kill(getpid(), SIGTERM);
			if (open("x", O_RDONLY) < 0 && waitpid(0, NULL, WNOHANG) < 0 && errno)
				printf("%zu", strlen((char *)malloc(1)));' \
		    'no_function_of_the_system();'
		# Both dialects in one file: they share a guard.
		alone $standard '}
#undef MELYCOMPAT_DIALECT_ASYNC
#include "../mely/mely.h"
void g() {' '}
#include "../mely/mely.h"
void g() {'
	done
}

base_pairs
text_pairs
cont_pairs

pairs_end
