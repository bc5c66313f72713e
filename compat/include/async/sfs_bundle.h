/* SPDX-License-Identifier: MIT */
/*
 * sfs_bundle.h: up to four values in one, for more arguments than wrap accepts. Values are copied;
 * a bundle is as safe across colors as its values.
 */
#ifndef MELYCOMPAT_ASYNC_SFS_BUNDLE_H
#define MELYCOMPAT_ASYNC_SFS_BUNDLE_H

#pragma GCC system_header

namespace sfs {

template <class T1 = void, class T2 = void, class T3 = void, class T4 = void> class bundle_t
{
public:
	bundle_t(const T1 &a, const T2 &b, const T3 &c, const T4 &d) : _a(a), _b(b), _c(c), _d(d) {}

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

template <class T1, class T2, class T3> class bundle_t<T1, T2, T3, void>
{
public:
	bundle_t(const T1 &a, const T2 &b, const T3 &c) : _a(a), _b(b), _c(c) {}

	const T1 &obj1() const { return _a; }
	const T2 &obj2() const { return _b; }
	const T3 &obj3() const { return _c; }

private:
	T1 _a;
	T2 _b;
	T3 _c;
};

template <class T1, class T2> class bundle_t<T1, T2, void, void>
{
public:
	bundle_t(const T1 &a, const T2 &b) : _a(a), _b(b) {}

	const T1 &obj1() const { return _a; }
	const T2 &obj2() const { return _b; }

private:
	T1 _a;
	T2 _b;
};

template <class T1> class bundle_t<T1, void, void, void>
{
public:
	explicit bundle_t(const T1 &a) : _a(a) {}

	const T1 &obj1() const { return _a; }

private:
	T1 _a;
};

}

#endif
