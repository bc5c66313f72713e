/* SPDX-License-Identifier: MIT */
/*
 * mely/live.h: observe a running program: the socket that mely-top attaches to, and the dump.
 *
 * The runtime's background thread serves both while mely_run or mely_run_once_for has the runtime
 * at work, so they answer even while each core is busy in a handler. They stop nothing, and hold no
 * core's lock while they make or write text.
 *
 * Environment, read by mely_config_init (mely/runtime.h): MELY_SOCKET, MELY_DUMP_SIGNAL.
 */
#ifndef MELY_LIVE_H
#define MELY_LIVE_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/**
 * Open the socket that mely-top(1) attaches to, at path. If path is NULL or "", open it where
 * mely-top finds it: $XDG_RUNTIME_DIR/mely/PID.sock, else /tmp/mely-UID/PID.sock; further runtimes
 * of the process get PID.2.sock and so on. The directory is made with mode 0700; the library
 * refuses one that belongs to another user, that others may enter, or that is a symbolic link. The
 * socket has mode 0600, and answers processes of the same user and of root only. It replaces one
 * that a dead process has left. mely_socket_close, mely_runtime_free and exit remove it.
 *
 * May wait for the file system, and up to 2 s for a process that keeps the directory locked. 0, or
 * after one line on stderr
 *   -EALREADY      the runtime already has one open
 *   -EADDRINUSE    a process listens there
 *   -EBUSY         another process keeps its directory locked (flock)
 *   -EEXIST        path exists and is not a socket
 *   -ENAMETOOLONG  longer than the address of a Unix socket may be, 107 bytes
 *   -EPERM         the directory belongs to another user, or others may enter it
 *   -EINVAL        rt is NULL
 *   -ECHILD        the process was forked and the runtime not renewed
 * or the error of the system call that failed. -EINVAL and -ECHILD print no line.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EALREADY, -EADDRINUSE, -EBUSY, -EEXIST,
 * -ENAMETOOLONG, -EPERM, -EINVAL, -ECHILD, others.
 */
MELY_API int mely_socket_open(struct mely_runtime *rt, const char *path);

/**
 * Close and remove the socket; drop its clients. May wait as mely_socket_open does. 0, -ENOENT if
 * none is open, -EINVAL if rt is NULL, or -ECHILD.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -ENOENT, -EINVAL, -ECHILD.
 */
MELY_API int mely_socket_close(struct mely_runtime *rt);

/**
 * Copy the path of the socket to buf of size bytes, always terminated; "" if none is open, or after
 * a fork. May wait while another thread opens or closes the socket. Returns the length of the path,
 * or -EINVAL if rt is NULL, or buf is NULL and size is not 0.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EINVAL.
 */
MELY_API int mely_socket_path(struct mely_runtime *rt, char *buf, size_t size);

/**
 * Write a text for people to fd: what each core does, which handler it runs and for how long, and
 * each color with pending events, oldest first, up to a limit that the text states. The runtime may
 * run or not. The text is made from a snapshot (mely_stats_take), which takes each core's lock for
 * some microseconds at a time; no lock is held while text is made or written. May wait for fd. 0,
 * -ENOMEM, -ETIMEDOUT if fd accepted nothing for a few seconds, -EINVAL if rt is NULL, -ECHILD, or
 * the error of write.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -ENOMEM, -ETIMEDOUT, -EINVAL, -ECHILD, others.
 */
MELY_API int mely_dump(struct mely_runtime *rt, int fd);

/**
 * Dump to stderr whenever the process gets the signal signo, for example SIGUSR1. The signal's
 * handler only wakes the background thread, which makes the dump. 0 turns it off, and restores what
 * was there before, the default or that the signal is ignored. May wait while another thread opens
 * or closes the socket. 0, or
 *   -EBUSY   another runtime dumps on it, or the program has a handler for it
 *   -EINVAL  rt is NULL, or signo is not a signal that can be caught
 *   -ECHILD  the process was forked and the runtime not renewed
 * or the error of the system call that failed.
 *
 * Threads: any. Colors: any. Blocks: may. Errors: -EBUSY, -EINVAL, -ECHILD, others.
 */
MELY_API int mely_dump_on_signal(struct mely_runtime *rt, int signo);

MELY_END_DECLS

#endif
