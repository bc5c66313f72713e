/* SPDX-License-Identifier: MIT */
/*
 * melycompat/call.h: the annotations of a callback, which the library sees. The class template of
 * the dialect holds the function and its arguments.
 */
#ifndef MELYCOMPAT_CALL_H
#define MELYCOMPAT_CALL_H

#include "method.h"

#pragma GCC system_header

namespace melycompat {

/** The parts of a callback that do not depend on its type. */
class call
{
public:
	virtual ~call() {}

	/** As given to the factory, not reduced modulo MAX_COLORS. */
	virtual int getcolor() const { return _color; }
	virtual int getprio() const { return _prio; }
	virtual int get_timeleft() const { return _timeleft; }
	/** May the runtime delete the object after its last use? Initially true. */
	virtual void setFlagAutoFree(bool on) { _auto_free = on; }
	virtual bool getFlagAutoFree() const { return _auto_free; }
	/** The address of the function; for a method, if the compiler's ABI gives it. */
	virtual void *getfaddr() { return _faddr; }

	void *const _faddr;
	const int _color;
	const int _prio;
	const int _timeleft;
	bool _auto_free;

protected:
	call(void *faddr, int color, int prio, int timeleft)
	    : _faddr(faddr), _color(color), _prio(prio), _timeleft(timeleft), _auto_free(true)
	{
	}

private:
	call(const call &);
	call &operator=(const call &);
};

}

#endif
