/* SPDX-License-Identifier: MIT */
/*
 * async_spelling.cc: typical uses of containers in programs of libasync: caches, consistent
 * hashing, tables of connections, services with their own keys and slots. Each must compile as
 * written here.
 */
#include "async.h"
#include "ihash.h"
#include "itree.h"
#include "qhash.h"

#include "facts.h"

/* ---- a cache of pages: a table and a queue of the least recently used ---- */

template <class KEY, class VALUE, u_int max_entries = 0, class R = qhash_lookup_return<VALUE> >
class lru_cache
{
	struct entry {
		lru_cache *const c;
		const KEY k;
		VALUE v;
		ihash_entry<entry> hlink;
		tailq_entry<entry> lrulink;

		entry (lru_cache *cc, const KEY &kk, const VALUE &vv) : c (cc), k (kk), v (vv)
		{
			c->tab.insert (this);
			c->lru.insert_tail (this);
			if (max_entries && ++c->n > max_entries)
				delete c->lru.first;
		}
		~entry ()
		{
			c->lru.remove (this);
			c->tab.remove (this);
			c->n--;
		}
	};
	friend struct entry;

	u_int n;
	ihash<const KEY, entry, &entry::k, &entry::hlink> tab;
	tailq<entry, &entry::lrulink> lru;

public:
	lru_cache () : n (0) {}
	~lru_cache () { tab.deleteall (); }
	size_t size () { return tab.size (); }
	void insert (const KEY &k, const VALUE &v) { vNew entry (this, k, v); }
	typename R::type
	operator[] (const KEY &k)
	{
		entry *e = tab[k];

		if (!e)
			return R::ret (NULL);
		lru.remove (e);
		lru.insert_tail (e);
		return R::ret (&e->v);
	}
};

static void
page_cache ()
{
	lru_cache<str, str, 3> pages;

	pages.insert ("/a", "A");
	pages.insert ("/b", "B");
	pages.insert ("/c", "C");
	FACT (*pages["/a"] == "A");
	pages.insert ("/d", "D");
	FACT (pages["/b"] == NULL);
	FACT (pages["/a"] && pages["/c"] && pages["/d"]);
	FACT_EQ (pages.size (), 3);
	FACTS_END ();
}

/* ---- a ring of nodes: the successor of a key ---- */

struct ring_node_t {
	const u_int32_t _key;
	str _name;
	itree_entry<ring_node_t> _lnk;

	ring_node_t (u_int32_t k, const str &n) : _key (k), _name (n) {}
};

typedef itree<const u_int32_t, ring_node_t, &ring_node_t::_key, &ring_node_t::_lnk> ring_t;

static ring_node_t *
successor (ring_t &ring, u_int32_t k)
{
	ring_node_t *n = ring.root (), *best = NULL;

	while (n) {
		if (n->_key >= k) {
			best = n;
			n = ring.left (n);
		} else
			n = ring.right (n);
	}
	return best ? best : ring.first ();
}

static int
cmp_fn (u_int32_t k, const ring_node_t *n)
{
	return k < n->_key ? -1 : k > n->_key;
}

static void
hash_ring ()
{
	ring_t ring;

	for (u_int32_t i = 1; i <= 10; i++)
		ring.insert (New ring_node_t (i * 100, strbuf ("n%u", i)));
	FACT (successor (ring, 250)->_name == "n3");
	FACT (successor (ring, 300)->_name == "n3");
	FACT (successor (ring, 1001)->_name == "n1");
	FACT (ring.search (wrap (cmp_fn, u_int32_t (400)))->_name == "n4");

	const ring_node_t *n, *nn;
	size_t s = 0;

	for (n = ring.first (); n; n = nn) {
		nn = ring.next (n);
		s++;
	}
	FACT_EQ (s, 10);
	ring.deleteall_correct ();
	FACT (!ring.first ());
	FACTS_END ();
}

/* ---- leases ordered by expiry: a comparison of whole elements ---- */

struct lease {
	const u_int64_t cgen;
	const u_int32_t fsno;
	u_int32_t expire;
	ihash_entry<lease> synclink;
	itree_entry<lease> explink;

	lease (u_int64_t c, u_int32_t f, u_int32_t e) : cgen (c), fsno (f), expire (e) {}
};

struct lease_compare {
	lease_compare () {}
	int
	operator() (const lease &a, const lease &b) const
	{
		return a.expire < b.expire ? -1 : b.expire != a.expire;
	}
};

static itree_core<lease, &lease::explink, lease_compare> leasetree;
static ihash2<const u_int64_t, const u_int32_t, lease, &lease::cgen, &lease::fsno,
    &lease::synclink> leasetab;

static void
leases ()
{
	for (int i = 0; i < 20; i++) {
		lease *l = New lease (i % 5, i / 5, (i * 7) % 20);

		leasetree.insert (l);
		leasetab.insert (l);
	}
	FACT (leasetab (3, 2)->expire == 13 * 7 % 20);
	for (u_int32_t t = 0; t < 20; t++) {
		lease *l = leasetree.first ();

		FACT_EQ (l->expire, t);
		leasetree.remove (l);
		leasetab.remove (l);
		delete l;
	}
	FACT_EQ (leasetab.size (), 0);
	FACTS_END ();
}

/* ---- servers by a key that a function returns ---- */

class server_t
{
	const str _host;
	const str _key;

public:
	server_t (const str &h, int p) : _host (h), _key (strbuf () << h << ":" << p) {}
	const str &host () const { return _host; }
	const str &peer () const { return _key; }
	list_entry<server_t> _lnk;
	ihash_entry<server_t> _hlnk;
};

template <> struct keyfn<server_t, str> {
	keyfn () {}
	const str &operator() (server_t *s) const { return s->peer (); }
};

class client_t
{
	list<server_t, &server_t::_lnk> _servers;
	fhash<str, server_t, &server_t::_hlnk> _servers_hash;
	bhash<str> _wanted;

	void drop (server_t *s)
	{
		if (_wanted[s->peer ()])
			return;
		_servers.remove (s);
		_servers_hash.remove (s);
		delete s;
	}

public:
	~client_t ()
	{
		_wanted.clear ();
		_servers.traverse (wrap (this, &client_t::drop));
	}
	void add (const str &h, int p)
	{
		server_t *s = New server_t (h, p);

		_servers.insert_head (s);
		_servers_hash.insert (s);
	}
	void want (const str &k) { _wanted.insert (k); }
	void clean () { _servers.traverse (wrap (this, &client_t::drop)); }
	size_t size () { return _servers_hash.size (); }
	server_t *find (const str &k) { return _servers_hash[k]; }
	server_t *first () { return _servers.first; }
};

static void
servers ()
{
	client_t c;

	for (int p = 1; p <= 6; p++)
		c.add ("host", p);
	FACT (c.find ("host:4"));
	c.want ("host:4");
	c.want ("host:9");
	c.clean ();
	FACT_EQ (c.size (), 1);
	FACT (c.first () == c.find ("host:4") && !c.find ("host:5"));
	FACT (c.first ()->host () == "host");
	FACTS_END ();
}

/* ---- keys of the program's own ---- */

struct handle_t {
	u_int64_t container, object;
};

inline bool
operator== (const handle_t &a, const handle_t &b)
{
	return a.container == b.container && a.object == b.object;
}

template <> struct hashfn<handle_t> {
	hashfn () {}
	hash_t operator() (const handle_t &h) const { return h.container ^ h.object; }
};

/* A list of words. */
template <> struct hashfn<vec<str> > {
	hashfn () {}
	hash_t
	operator() (const vec<str> &v) const
	{
		u_int val = HASHSEED;

		for (const str *sp = v.base (); sp < v.lim (); sp++)
			val = hash_bytes (sp->cstr (), sp->len (), val);
		return val;
	}
};

template <> struct equals<vec<str> > {
	equals () {}
	bool
	operator() (const vec<str> &a, const vec<str> &b) const
	{
		if (a.size () != b.size ())
			return false;
		for (size_t i = 0; i < a.size (); i++)
			if (a[i] != b[i])
				return false;
		return true;
	}
};

static void
own_keys ()
{
	qhash<handle_t, str> objects;
	qhash<vec<str>, int> lines;
	handle_t h = {1, 2}, g = {2, 1};
	vec<str> v;

	objects.insert (h, "one");
	objects.insert (g, "two");
	FACT (*objects[h] == "one" && *objects[g] == "two");
	v.push_back ("GET");
	v.push_back ("/");
	lines.insert (v, 7);
	v[1] = "/x";
	FACT (!lines[v]);
	v.back () = "/";
	FACT (*lines[v] == 7);
	FACTS_END ();
}

/* ---- slots of the program's own, allocated elsewhere ---- */

struct expr_t : virtual refcount {
	int value;
	explicit expr_t (int v) : value (v) {}
};

static int slots;

template <> struct qhash_slot<str, ptr<expr_t> > {
	ihash_entry<qhash_slot> link;
	str key;
	ptr<expr_t> value;

	qhash_slot (const str &k, const ptr<expr_t> &v) : key (k), value (v) {}
	static void *
	operator new (size_t n)
	{
		slots++;
		return ::operator new (n);
	}
	static void
	operator delete (void *p)
	{
		slots--;
		::operator delete (p);
	}
};

class bindtab_t : public qhash<str, ptr<expr_t> >, public virtual refcount
{
public:
	typedef qhash_const_iterator_t<str, ptr<expr_t> > const_iterator_t;
	typedef qhash_iterator_t<str, ptr<expr_t> > iterator_t;

	static ptr<bindtab_t> alloc () { return New refcounted<bindtab_t> (); }
	bindtab_t &
	operator+= (const bindtab_t &in)
	{
		const_iterator_t it (in);
		const str *k;
		ptr<expr_t> v;

		while ((k = it.next (&v)))
			insert (*k, v);
		return *this;
	}
	bool
	lookup (const str &k, ptr<const expr_t> *x = NULL) const
	{
		const ptr<expr_t> *v = (*this)[k];

		if (v && x)
			*x = *v;
		return v;
	}
	ptr<const_iterator_t> iter () const { return New refcounted<const_iterator_t> (*this); }
};

static void
own_slots ()
{
	ptr<bindtab_t> a = bindtab_t::alloc (), b = bindtab_t::alloc ();
	ptr<const expr_t> x;
	int n = 0;

	a->insert ("x", New refcounted<expr_t> (1));
	b->insert ("x", New refcounted<expr_t> (2));
	b->insert ("y", New refcounted<expr_t> (3));
	*a += *b;
	FACT_EQ (a->size (), 2);
	FACT_EQ (slots, 4);
	FACT (a->lookup ("x", &x) && x->value == 2);
	FACT (!a->lookup ("z"));

	ptr<bindtab_t::const_iterator_t> it = a->iter ();

	while (it->next ())
		n++;
	FACT_EQ (n, 2);
	a = NULL;
	b = NULL;
	FACT_EQ (slots, 0);
	FACTS_END ();
}

/* ---- a specialised lookup result; only the members in use are defined ---- */

struct auth_t {
	int *p;
};

template <> struct qhash_lookup_return<auth_t> {
	typedef int *type;
	typedef int *const_type;
	static type
	ret (auth_t *a)
	{
		if (a)
			return a->p;
		return NULL;
	}
};

static void
count_calls (strbuf *b, bool *first, const u_int &proc, u_int *n)
{
	*b << (*first ? "" : ",") << proc << "x" << *n;
	*first = false;
}

static void
own_lookups ()
{
	qhash<int, auth_t> auths;
	qhash<u_int, u_int> calls;
	int seven = 7;
	auth_t a = {&seven};
	u_int *n;
	strbuf b;
	bool first = true;

	auths.insert (1, a);
	FACT (*auths[1] == 7 && !auths[2]);
	for (int i = 0; i < 3; i++)
		if ((n = calls[5]))
			(*n)++;
		else
			calls.insert (5, 1);
	calls.traverse (wrap (count_calls, &b, &first));
	FACT (str (b) == "5x3");
	FACTS_END ();
}

/* ---- connections that remove themselves when they end; tables that are never destroyed ---- */

struct conn {
	const int fd;
	const str peer;
	ihash_entry<conn> fdlink;
	list_entry<conn> lnk;

	conn (int f, const str &p);
	~conn ();
};

typedef ihash<const int, conn, &conn::fd, &conn::fdlink> conntab_t;
static conntab_t &conntab = *New conntab_t;
static list<conn, &conn::lnk> connlist;

conn::conn (int f, const str &p) : fd (f), peer (p)
{
	conntab.insert (this);
	connlist.insert_head (this);
}

conn::~conn ()
{
	conntab.remove (this);
	connlist.remove (this);
}

static void
connections ()
{
	vec<str> peers;

	for (int i = 3; i < 10; i++)
		vNew conn (i, strbuf ("p%d", i));
	for (conn *c = connlist.first, *nc; c; c = nc) {
		nc = connlist.next (c);
		if (c->fd % 2)
			delete c;
		else
			peers.push_back (c->peer);
	}
	FACT (peers.size () == 3 && peers.pop_front () == "p8" && peers.pop_back () == "p4");
	FACT (conntab[4] && !conntab[5]);
	conntab.deleteall ();
	FACT (!connlist.first);
	FACTS_END ();
}

/* ---- vectors of all kinds ---- */

static vec<ptr<expr_t> > exprs;

static void
fill (vec<str> *to, const vec<str, 2> &from)
{
	for (const str *s = from.base (); s < from.lim (); s++)
		to->push_back () = *s;
}

static void
vectors ()
{
	ref<vec<u_int32_t> > keys = New refcounted<vec<u_int32_t> > ();
	vec<str> words;
	vec<str, 2> two;
	vec<vec<int> > rows;
	vec<cbv> todo;
	vec<bool> flags;

	two.push_back ("a");
	two.push_back ("b");
	two.push_back ("c");
	fill (&words, two);
	FACT (words.size () == 3 && words[2] == "c");
	exprs.push_back (New refcounted<expr_t> (4));
	FACT_EQ (exprs.pop_front ()->value, 4);
	keys->push_back (1);
	FACT_EQ ((*keys)[0], 1);
	rows.setsize (3);
	rows[1].push_back (5);
	rows.push_back ().push_back (6);
	FACT (rows[1][0] == 5 && rows.back ().back () == 6);
	todo.push_back (wrap (&words, &vec<str>::clear));
	while (!todo.empty ())
		(*todo.pop_front ()) ();
	FACT (words.empty ());
	flags.push_back (true);
	FACT (flags[0]);
	FACTS_END ();
}

/* ---- a table that is only read ---- */

struct param {
	const str name;
	const int value;
	ihash_entry<param> hlink;

	param (const str &n, int v) : name (n), value (v) {}
};

struct params {
	ihash<const str, param, &param::name, &param::hlink> tab;

	static void add (int *sum, const param &p) { *sum += p.value; }
	int
	sum () const
	{
		int n = 0;

		tab.traverse (wrap (&params::add, &n));
		return n;
	}
};

static void
read_only ()
{
	params p;

	FACT_EQ (p.sum (), 0);
	p.tab.insert (New param ("a", 20));
	p.tab.insert (New param ("b", 3));
	FACT_EQ (p.sum (), 23);
	p.tab.deleteall ();
	FACTS_END ();
}

static const struct fact facts[] = {
	CASE_ON (1, page_cache),
	CASE_ON (1, hash_ring),
	CASE_ON (1, leases),
	CASE_ON (1, servers),
	CASE_ON (1, own_keys),
	CASE_ON (1, own_slots),
	CASE_ON (1, own_lookups),
	CASE_ON (1, connections),
	CASE_ON (1, vectors),
	CASE_ON (1, read_only),
};

FACTS_MAIN (facts)
