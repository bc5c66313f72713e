/* SPDX-License-Identifier: MIT */
/*
 * melycompat/bound.h: the part of the callback factories that repeats for each number of bound
 * arguments and for each factory, in both dialects. No guard: callback.h of a dialect includes it
 * once, and defines MELYC_BINDABLE, the template of melycompat for the types that a bound argument
 * accepts; MELYC_BOUND(n), the classes of n bound arguments; and MELYC_FACTORY(name, n), the
 * functions.
 */
#pragma GCC system_header

#define MELYC_CLASSES_0
#define MELYC_CLASSES_1 , class A1
#define MELYC_CLASSES_2 MELYC_CLASSES_1, class A2
#define MELYC_CLASSES_3 MELYC_CLASSES_2, class A3
#define MELYC_CLASSES_4 MELYC_CLASSES_3, class A4
#define MELYC_CLASSES_5 MELYC_CLASSES_4, class A5

#define MELYC_TYPES_0
#define MELYC_TYPES_1 A1,
#define MELYC_TYPES_2 MELYC_TYPES_1 A2,
#define MELYC_TYPES_3 MELYC_TYPES_2 A3,
#define MELYC_TYPES_4 MELYC_TYPES_3 A4,
#define MELYC_TYPES_5 MELYC_TYPES_4 A5,

#define MELYC_PARAMETERS_0
#define MELYC_PARAMETERS_1 , typename melycompat::MELYC_BINDABLE<A1>::type a1
#define MELYC_PARAMETERS_2 MELYC_PARAMETERS_1, typename melycompat::MELYC_BINDABLE<A2>::type a2
#define MELYC_PARAMETERS_3 MELYC_PARAMETERS_2, typename melycompat::MELYC_BINDABLE<A3>::type a3
#define MELYC_PARAMETERS_4 MELYC_PARAMETERS_3, typename melycompat::MELYC_BINDABLE<A4>::type a4
#define MELYC_PARAMETERS_5 MELYC_PARAMETERS_4, typename melycompat::MELYC_BINDABLE<A5>::type a5

#define MELYC_PASS_0
#define MELYC_PASS_1 , a1
#define MELYC_PASS_2 MELYC_PASS_1, a2
#define MELYC_PASS_3 MELYC_PASS_2, a3
#define MELYC_PASS_4 MELYC_PASS_3, a4
#define MELYC_PASS_5 MELYC_PASS_4, a5

#define MELYC_KEEP_0
#define MELYC_KEEP_1 , _a1(a1)
#define MELYC_KEEP_2 MELYC_KEEP_1, _a2(a2)
#define MELYC_KEEP_3 MELYC_KEEP_2, _a3(a3)
#define MELYC_KEEP_4 MELYC_KEEP_3, _a4(a4)
#define MELYC_KEEP_5 MELYC_KEEP_4, _a5(a5)

#define MELYC_MEMBERS_0
#define MELYC_MEMBERS_1 A1 _a1;
#define MELYC_MEMBERS_2 MELYC_MEMBERS_1 A2 _a2;
#define MELYC_MEMBERS_3 MELYC_MEMBERS_2 A3 _a3;
#define MELYC_MEMBERS_4 MELYC_MEMBERS_3 A4 _a4;
#define MELYC_MEMBERS_5 MELYC_MEMBERS_4 A5 _a5;

#define MELYC_KEPT_0
#define MELYC_KEPT_1 _a1,
#define MELYC_KEPT_2 MELYC_KEPT_1 _a2,
#define MELYC_KEPT_3 MELYC_KEPT_2 _a3,
#define MELYC_KEPT_4 MELYC_KEPT_3 _a4,
#define MELYC_KEPT_5 MELYC_KEPT_4 _a5,

#define MELYC_ALL_BOUND \
	MELYC_BOUND(0) \
	MELYC_BOUND(1) \
	MELYC_BOUND(2) \
	MELYC_BOUND(3) \
	MELYC_BOUND(4) \
	MELYC_BOUND(5)

/* ---- for each factory: what it takes behind bound arguments, and what it notes of that ---- */

#define MELYC_TRAIL_wrap
#define MELYC_TRAIL_cwrap , int color
#define MELYC_TRAIL_cpwrap , int color, int prio
#define MELYC_TRAIL_wrap_timeleft , int timeleft
#define MELYC_TRAIL_cwrap_timeleft , int color, int timeleft
#define MELYC_TRAIL_cpwrap_timeleft , int color, int prio, int timeleft

#define MELYC_NOTES_wrap 0, 0, 0
#define MELYC_NOTES_cwrap color, 0, 0
#define MELYC_NOTES_cpwrap color, prio, 0
#define MELYC_NOTES_wrap_timeleft 0, 0, timeleft
#define MELYC_NOTES_cwrap_timeleft color, 0, timeleft
#define MELYC_NOTES_cpwrap_timeleft color, prio, timeleft

#define MELYC_FACTORIES(name) \
	MELYC_FACTORY(name, 0) \
	MELYC_FACTORY(name, 1) \
	MELYC_FACTORY(name, 2) \
	MELYC_FACTORY(name, 3) \
	MELYC_FACTORY(name, 4) \
	MELYC_FACTORY(name, 5)

#define MELYC_ALL_FACTORIES \
	MELYC_FACTORIES(wrap) \
	MELYC_FACTORIES(cwrap) \
	MELYC_FACTORIES(cpwrap) \
	MELYC_FACTORIES(wrap_timeleft) \
	MELYC_FACTORIES(cwrap_timeleft) \
	MELYC_FACTORIES(cpwrap_timeleft)
