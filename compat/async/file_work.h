/* SPDX-License-Identifier: MIT */
/*
 * file_work.h: what is behind an aiod: a queue of calls that block, which helper threads of the
 * runtime work off. Color 0 but for what is said to be a helper's.
 */
#ifndef MELYCOMPAT_FILE_WORK_H
#define MELYCOMPAT_FILE_WORK_H

#include <deque>
#include <dirent.h>
#include <functional>
#include <vector>

#include "../include/async/aiod.h"

namespace melycompat {

/** An open file or directory. Its calls share it with its aiofh. */
struct open_file {
	int fd;       /**< -1: closed, as far as helpers go */
	DIR *dir;     /**< NULL: no directory */
	int running;  /**< calls on it that helpers have */
	int users;    /**< its aiofh, and calls that wait or run */
	bool closing; /**< no more calls */
};

/** What a helper does, with 0 or an errno code; and what is done with that in color 0. */
typedef std::function<int()> file_call;
typedef std::function<void(int)> file_reply;

class file_work
{
public:
	file_work(aiod *whose, u_int calls_max, size_t bytes_max, size_t buffer_max);

	/** Queue a call, of a file or NULL. closes: it waits for all others of the file. */
	void submit(open_file *file, bool closes, file_call call, file_reply reply);
	/** Only the reply, with code. */
	void refuse(int code, file_reply reply);

	/** Each keeps the aiod from being deleted: a call, a buffer, an open file. */
	void hold();
	void release();
	void finalize();

	bool buffer_fits(size_t bytes) const;
	void buffer_made(size_t bytes);
	void buffer_gone(size_t bytes);
	void when_room(cbv cb);

	/** One user less of a file; the last one closes it. */
	void leave(open_file *file);

private:
	struct task {
		file_work *owner;
		open_file *file;
		bool closes;
		int code;
		file_call call;
		file_reply reply;
	};

	aiod *const handle;
	const u_int running_max;
	const size_t bytes_max, buffer_max;
	u_int running;
	size_t held;
	size_t bytes;
	bool finalized;
	bool pumping;    /* an event of ours is on its way */
	std::deque<task *> queue;
	std::vector<cbv> waiters;

	static void helper(void *arg);
	static void in_color_0(void *arg);
	static void replied(void *arg);
	bool may_start(const task *t) const;
	void pump_soon();
	void pump();
	void start(task *t);
	void finish(task *t);
	void call_waiters();
};

}

#endif
