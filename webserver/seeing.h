/* SPDX-License-Identifier: MIT */
/*
 * seeing.h: what an operator sees of the server: begin and end.
 */
#ifndef SWS_SEEING_H
#define SWS_SEEING_H

struct sws_conn;
struct sws_server;

/** Open what is to be written, when the cores are made; 0, or -1 after one line on stderr. */
int sws_seeing_open(struct sws_server *server);
/** Begin to write it, when no right is given up any more. 0 or a negative errno. */
int sws_seeing_start(struct sws_server *server);
/** After the last connection has ended. */
void sws_seeing_close(struct sws_server *server);
/** Files have been renamed: write to new ones. Any handler. */
void sws_seeing_reopen(struct sws_server *server);

/** A connection begins: note its address for the log. */
void sws_seeing_client(struct sws_conn *conn);
/** A proxy says whose connection it is; "": its own. */
void sws_seeing_proxied(struct sws_conn *conn, const char *client);

#endif
