/* SPDX-License-Identifier: MIT */
/*
 * sfs_bundle.h: up to four values in one, for more arguments than wrap accepts. Values are copied;
 * a bundle is as safe across colors as its values.
 */
#ifndef MELYCOMPAT_ASYNC_SFS_BUNDLE_H
#define MELYCOMPAT_ASYNC_SFS_BUNDLE_H

#pragma GCC system_header

namespace sfs {

/** The type of a value that a bundle does not have. */
struct nil_t {
};
extern nil_t g_nil;

template <class T1, class T2 = nil_t, class T3 = nil_t, class T4 = nil_t> class bundle_t
{
public:
	bundle_t(const T1 &a, const T2 &b = T2(), const T3 &c = T3(), const T4 &d = T4())
	    : _a(a), _b(b), _c(c), _d(d)
	{
	}

	T1 &obj1() { return _a; }
	T2 &obj2() { return _b; }
	T3 &obj3() { return _c; }
	T4 &obj4() { return _d; }
	const T1 &obj1() const { return _a; }
	const T2 &obj2() const { return _b; }
	const T3 &obj3() const { return _c; }
	const T4 &obj4() const { return _d; }

private:
	T1 _a;
	T2 _b;
	T3 _c;
	T4 _d;
};

}

#endif
