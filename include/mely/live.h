/* SPDX-License-Identifier: MIT */
/*
 * mely/live.h: a look into a running program: the socket that mely-top attaches to, and the dump.
 *
 * Both are served by the runtime's background thread while mely_run or mely_run_once_for has the
 * runtime at work, so that they answer also when every core is busy in a handler. Nothing is
 * stopped for them; no lock of a core is held while text is made or written.
 *
 * Environment, read by mely_config_init (mely/runtime.h): MELY_SOCKET, MELY_DUMP_SIGNAL.
 */
#ifndef MELY_LIVE_H
#define MELY_LIVE_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/**
 * Open the socket that mely-top(1) attaches to, at path, or where mely-top looks for it when path
 * is NULL or "": $XDG_RUNTIME_DIR/mely/PID.sock, else /tmp/mely-UID/PID.sock; further runtimes of
 * the process get PID.2.sock and so on. The directory is made with mode 0700; one that belongs to
 * somebody else, that others may enter, or that is a symbolic link is not used. The socket has mode
 * 0600, and answers processes of the same user and of root only. One that a dead process has left
 * is taken over. It is removed by mely_socket_close, mely_runtime_free and exit.
 *
 * Any thread. 0, or after one line on stderr
 *   -EALREADY      the runtime has one open
 *   -EADDRINUSE    a living process listens there
 *   -EBUSY         another process keeps its directory locked (flock)
 *   -EEXIST        there is something that is no socket
 *   -ENAMETOOLONG  longer than the address of a Unix socket may be, 107 bytes
 *   -EPERM         the directory is not the user's own, or others may write to it
 *   -ECHILD        the process was forked and the runtime not renewed
 * or what the system said.
 */
MELY_API int mely_socket_open(struct mely_runtime *rt, const char *path);

/** Close and remove the socket; clients are dropped. Any thread. 0, or -ENOENT when none is
 *  open, -ECHILD. */
MELY_API int mely_socket_close(struct mely_runtime *rt);

/** Copy where the socket is into buf, always terminated; "" when none is open. Any thread.
 *  Returns the length of the path. */
MELY_API int mely_socket_path(struct mely_runtime *rt, char *buf, size_t size);

/**
 * Write a text for people to fd: what each core does, which handler it runs and for how long, and
 * every color with pending events, oldest first, up to a limit that the text tells. Any thread,
 * handlers included, running or not. It is made from a look (mely_stats_take), which takes each
 * core's lock for some microseconds at a time; no lock is held while text is made or written.
 * Waits at most a few seconds for an fd that takes nothing. 0, -ENOMEM,
 * -ETIMEDOUT when fd took nothing for so long, or what write said.
 */
MELY_API int mely_dump(struct mely_runtime *rt, int fd);

/**
 * Dump to stderr whenever the process gets the signal signo, SIGUSR1 for example. Its handler only
 * sets a flag: the dump is made by the background thread. 0 turns it off again, and the
 * default, or that it is ignored, returns. Any thread. 0, or
 *   -EBUSY   another runtime dumps on it, or the program has a handler for it
 *   -EINVAL  no signal that can be caught
 *   -ECHILD  the process was forked and the runtime not renewed
 * or what the system said.
 */
MELY_API int mely_dump_on_signal(struct mely_runtime *rt, int signo);

MELY_END_DECLS

#endif
