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
		# More arguments than the function takes.
		pair $standard 'cbv c = wrap(one, 1);' 'cbv c = wrap(one, 1, 2);'
		pair $standard 'cbv c = cwrap(none, 1);' 'cbv c = cwrap(none, 1, 2);'
		# An argument of another type.
		pair $standard 'wrap(two, "a");' 'wrap(two, 1);'
		pair $standard 'wrap(two, "a", 1);' 'wrap(two, 1, "a");'
		# The result type and the types of the open arguments must match.
		pair $standard 'callback<int>::ptr c = wrap(gives);' 'cbv c = wrap(gives);'
		pair $standard 'cbi c = wrap(one);' 'callback<void, long>::ref c = wrap(one);'
		pair $standard 'cbi c = wrap(one); c(1);' 'cbi c = wrap(one); c();'
		# A variable of the caller is not bound to a non-const reference.
		pair $standard 'wrap(by_value, d);' 'wrap(by_reference, d);'
		pair $standard 'wrap(by_const, d);' 'wrap(by_reference, d);'
		# Up to five arguments are bound, up to three are open.
		pair $standard 'wrap(six, 1, 2, 3);' 'wrap(six, 1, 2);'
		pair $standard 'wrap(six, 1, 2, 3, 4, 5);' 'wrap(six, 1, 2, 3, 4, 5, 6);'
		pair $standard 'none();' 'wrap(nine, 1, 2, 3, 4, 5);'
		# Only methods of the object's class, and only const ones of a const object.
		pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &other::m, 1);'
		pair $standard 'wrap(s, &subject::m, 1);' 'wrap(s, &base::b, 1);'
		pair $standard 'wrap(p, &subject::m, 1);' 'wrap(p, &base::b, 1);'
		pair $standard 'wrap(cs, &subject::c, 1);' 'wrap(cs, &subject::m, 1);'
		pair $standard 'wrap(pc, &subject::c, 1);' 'wrap(pc, &subject::m, 1);'
		# The result of a factory must be stored in a handle, and so must a counted object.
		pair $standard 'cbv c = wrap(none); c();' 'wrap(none)->trigger();'
		pair $standard 'cbv c = wrap(none); (*c)();' '(*wrap(none))();'
		pair $standard 'p = New refcounted<subject>;' 's = New refcounted<subject>;'
		pair $standard 'ptr<base> b = New refcounted<subject>;' \
		    'ptr<subject> b = New refcounted<base>;'
		# Handles convert as pointers do.
		pair $standard 'pb = p;' 'p = pb;'
		pair $standard 'pc = p;' 'p = pc;'
		pair $standard 's = p;' 'p = s;'
		pair $standard 'ptr<void> v = p;' 'ptr<other> v = p;'
		# Only a type that contains a count can create handles of itself.
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
		# The bytes of a str do not change.
		pair $standard 'const char *p = s; (void)p;' 'char *p = s; (void)p;'
		pair $standard 'char *p = m; p[0] = 1;' 's[0] = 1;'
		pair $standard 's = s;' 'constant = s;'
		# A str is constructed from a suio only explicitly.
		pair $standard 'str t(uio);' 'str t = uio;'
		# Buffers cannot be copied: each has one owner.
		pair $standard 'strbuf t(sb);' 'strbuf t; t = sb;'
		pair $standard 'mstr t(5);' 'mstr t(m);'
		pair $standard 'suio t; t.take(&uio);' 'suio t(uio);'
		# A type without strbuf_cat cannot be appended.
		pair $standard 'sb << u.x;' 'sb << u;'
		pair $standard 'warn << u.x;' 'warn << u;'
		# These names are macros.
		pair $standard 'int w = 5; (void)w;' 'int warn = 5; (void)warn;'
		pair $standard 'int p = 5; (void)p;' 'int panic = 5; (void)panic;'
		# A message takes only a format and its arguments.
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
		# Containers whose elements carry links cannot be copied.
		pair $standard 'elms m; (void)m;' 'elms m(l);'
		pair $standard 'queue m; (void)m;' 'queue m; m = q;'
		pair $standard 'table m; (void)m;' 'table m(h);'
		pair $standard 'tree m; (void)m;' 'tree m(t);'
		pair $standard 'counted m; (void)m;' 'counted m(c);'
		pair $standard 'qhash<str, int> m(values);' 'bbuddy m(b);'
		# A link fits one kind of container, a key only its own type.
		pair $standard 'list<elm, &elm::l> m; (void)m;' 'list<elm, &elm::q> m; (void)m;'
		pair $standard 'ihash<long, elm, &elm::number, &elm::h> m;' \
		    'ihash<int, elm, &elm::number, &elm::h> m;'
		# Containers of handles accept counted objects only.
		pair $standard 't.insert(e);' 'c.insert(1, e);'
		# Const objects are not changed.
		pair $standard '*values["a"] = 1;' '*constant["a"] = 1;'
		pair $standard '(void)constant["a"];' 'values = constant; constant.clear();'
		pair $standard '(void)numbers[0];' 'numbers[0] = 1;'
		pair $standard '(void)set["a"];' 'set.remove("a");'
		# Elements without a default constructor cannot be appended as defaults.
		pair $standard 'vec<no_default> v; v.push_back(1);' \
		    'vec<no_default> v; v.setsize(1);'
		# async.h also declares the system's names.
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
