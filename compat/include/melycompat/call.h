/* SPDX-License-Identifier: MIT */
/*
 * melycompat/call.h: what the library sees of every callback: its annotations. What it calls is
 * in the class template of the dialect.
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

	/** As given to the factory, before it is reduced modulo MAX_COLORS. */
	virtual int getcolor() const { return _color; }
	virtual int getprio() const { return _prio; }
	virtual int get_timeleft() const { return _timeleft; }
	/** May the runtime delete the object after its last use? True from the start. */
	virtual void setFlagAutoFree(bool on) { _auto_free = on; }
	virtual bool getFlagAutoFree() const { return _auto_free; }
	/** The function that is called; of a method, as far as the compiler's ABI tells. */
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
