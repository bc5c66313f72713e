/* SPDX-License-Identifier: MIT */
/*
 * timer_table.cc: see NOTE(timers) in timer_table.h.
 */
#include "timer_table.h"

#include "quiet.h"
#include "say.h"

namespace melycompat {

static_assert(sizeof(void *) == 8, "a timer's name must fit into a pointer");

enum : uint64_t {
	PLACE_BITS = 24,
	PLACE_MASK = (1u << PLACE_BITS) - 1,
	GENERATION_BITS = 39,
	GENERATION_MASK = (static_cast<uint64_t>(1) << GENERATION_BITS) - 1,
	SECOND_NS = 1000000000,
	AGAIN_NS = 1000000
};

uint64_t
timer_ns(time_t sec, long long nsec)
{
	__int128 ns = static_cast<__int128>(sec) * SECOND_NS + nsec;

	if (ns < 0)
		return 0;
	return ns > INT64_MAX ? INT64_MAX : static_cast<uint64_t>(ns);
}

uint64_t
timer_now_ns()
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (time(nullptr) < now.tv_sec)
		return timer_ns(now.tv_sec, -1);
	return timer_ns(now.tv_sec, now.tv_nsec);
}

/* B of NOTE(timers). */
uint64_t
timer_table::name_of(uint32_t index) const
{
	return static_cast<uint64_t>(_bit) << 63 |
	    (_places[index].generation & GENERATION_MASK) << PLACE_BITS | (index + 1);
}

/* The place of a name, or NULL if the name is stale. */
timer_table::place *
timer_table::find(uint64_t name)
{
	uint32_t index = static_cast<uint32_t>(name & PLACE_MASK) - 1;

	if (index >= _places.size())
		return nullptr;
	return _places[index].stage != FREE && name_of(index) == name ? &_places[index] : nullptr;
}

uint32_t
timer_table::place_new()
{
	uint32_t index = _first_free;

	if (index != 0) {
		_first_free = _places[index - 1].next_free;
		return index - 1;
	}
	if (_places.size() >= PLACE_MASK - 1)
		die("too many timers: %zu", _places.size());
	_places.emplace_back();
	return static_cast<uint32_t>(_places.size() - 1);
}

void
timer_table::place_free(place *p, uint64_t name)
{
	p->stage = FREE;
	p->generation++;
	p->next_free = _first_free;
	_first_free = static_cast<uint32_t>(name & PLACE_MASK);
}

uint64_t
timer_table::add(uint64_t due_ns, const job &j)
{
	uint32_t index = place_new();
	place &p = _places[index];

	p.stage = WAITS;
	p.j = j;
	p.due_ns = due_ns;
	p.age = _ages++;
	_order.emplace(std::make_pair(due_ns, p.age), index);
	return name_of(index);
}

uint64_t
timer_table::first_ns() const
{
	return _order.empty() ? UINT64_MAX : _order.begin()->first.first;
}

uint64_t
timer_table::look_ns() const
{
	uint64_t first = first_ns();
	timespec now;

	if (first == UINT64_MAX || first <= timer_now_ns())
		return first;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t soon = timer_ns(now.tv_sec, now.tv_nsec) + AGAIN_NS;
	return first + AGAIN_NS > soon ? first : soon;
}

uint64_t
timer_table::take_due(uint64_t now_ns, uint64_t age_end, job *j)
{
	auto first = _order.begin();

	/* Few timers are too young: those armed in this pass without a delay. */
	while (first != _order.end() && first->first.first <= now_ns &&
	    first->first.second >= age_end)
		++first;
	if (first == _order.end() || first->first.first > now_ns)
		return 0;
	uint32_t index = first->second;
	_order.erase(first);
	_places[index].stage = DUE;
	*j = _places[index].j;
	return name_of(index);
}

bool
timer_table::begin(uint64_t name, job *j)
{
	place *p = find(name);

	if (p == nullptr)
		return false;
	p->stage = RUNS;
	p->runner = pthread_self();
	*j = p->j;
	return true;
}

void
timer_table::end(uint64_t name)
{
	place_free(find(name), name);
}

bool
timer_table::run(uint64_t name)
{
	guard locked(lock);
	job j;

	if (!begin(name, &j))
		return false;
	locked.unlock();
	take(j.callback);
	j.ops->run(j.callback);
	j.free_if_owned();
	locked.lock();
	end(name);
	return true;
}

timer_removal
timer_table::remove(uint64_t name)
{
	guard locked(lock);
	place *p = find(name);

	if (p == nullptr)
		return TIMER_INVALID;
	if (p->stage == RUNS)
		return pthread_equal(p->runner, pthread_self()) ?
		    TIMER_INVALID : TIMER_RUNS_ELSEWHERE;
	if (p->stage == WAITS)
		_order.erase(std::make_pair(p->due_ns, p->age));
	job j = p->j;
	place_free(p, name);
	locked.unlock();
	quiet unseen; /* another color may have armed it */
	j.free_if_owned();
	return TIMER_REMOVED;
}

}
