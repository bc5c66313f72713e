/* SPDX-License-Identifier: MIT */
/*
 * file_work.cc: runs blocking calls on helper threads of the runtime.
 *
 * NOTE(steps)
 *   A call is queued, and an event of color 0 starts it, so that no callback runs before the
 *   function that queued it has returned. A helper thread runs the call. Then color 0 passes the
 *   result to the program, frees the call and starts the next one.
 */
#include "file_work.h"

#include <unistd.h>

#include "loop.h"

namespace melycompat {

file_work::file_work(aiod *whose, u_int calls_max, size_t all_max, size_t one_max)
    : handle(whose), running_max(calls_max > 0 ? calls_max : 1), bytes_max(all_max),
      buffer_max(one_max < all_max ? one_max : all_max), running(0), held(0), bytes(0),
      finalized(false), pumping(false)
{
}

/* ---- construction and destruction ---- */

void
file_work::hold()
{
	held++;
}

void
file_work::release()
{
	if (--held == 0 && finalized) {
		delete handle;
		delete this;
	}
}

void
file_work::finalize()
{
	hold();
	finalized = true;
	release();
}

/* ---- buffers ---- */

bool
file_work::buffer_fits(size_t n) const
{
	if (n > buffer_max)
		panic("aiod: a buffer of %lu bytes: %lu at most\n", (u_long)n, (u_long)buffer_max);
	return n <= bytes_max - bytes;
}

void
file_work::buffer_made(size_t n)
{
	bytes += n;
	hold();
}

void
file_work::buffer_gone(size_t n)
{
	bytes -= n;
	if (!waiters.empty())
		pump_soon();
	release();
}

void
file_work::when_room(cbv cb)
{
	waiters.push_back(cb);
	if (bytes == 0)
		pump_soon();
}

/* Waiters ask for a buffer again, and may have to wait again. */
void
file_work::call_waiters()
{
	std::vector<cbv> now;

	now.swap(waiters);
	for (const cbv &cb : now)
		(*cb)();
}

/* ---- calls ---- */

void
file_work::submit(open_file *file, bool closes, file_call call, file_reply reply)
{
	if (file != nullptr)
		file->users++;
	hold();
	queue.push_back(new task{this, file, closes, 0, std::move(call), std::move(reply)});
	pump_soon();
}

void
file_work::refuse(int code, file_reply reply)
{
	submit(nullptr, false, [code] { return code; }, std::move(reply));
}

void
file_work::leave(open_file *file)
{
	if (--file->users > 0)
		return;
	if (file->dir != nullptr)
		(void)::closedir(file->dir);
	else if (file->fd >= 0)
		(void)::close(file->fd);
	delete file;
}

void
file_work::pump_soon()
{
	if (pumping)
		return;
	pumping = true;
	hold();
	main_post(in_color_0, this);
}

void
file_work::in_color_0(void *arg)
{
	file_work *w = static_cast<file_work *>(arg);

	w->pumping = false;
	w->call_waiters();
	w->pump();
	w->release();
}

bool
file_work::may_start(const task *t) const
{
	return running < running_max && (!t->closes || t->file->running == 0);
}

void
file_work::pump()
{
	while (!queue.empty() && may_start(queue.front())) {
		task *t = queue.front();
		queue.pop_front();
		start(t);
	}
}

/* Without a helper thread color 0 runs the call itself, which delays other events but does the
 * work. */
void
file_work::start(task *t)
{
	running++;
	if (t->file != nullptr)
		t->file->running++;
	if (main_work(MELY_WORK_FILES, helper, replied, t) == 0)
		return;
	helper(t);
	main_post(replied, t);
}

/* On a helper thread. */
void
file_work::helper(void *arg)
{
	task *t = static_cast<task *>(arg);

	t->code = t->call();
}

void
file_work::replied(void *arg)
{
	task *t = static_cast<task *>(arg);

	t->owner->finish(t);
}

void
file_work::finish(task *t)
{
	running--;
	if (t->file != nullptr) {
		t->file->running--;
		leave(t->file);
	}
	t->reply(t->code);
	delete t;
	pump();
	release();
}

}
