/* SPDX-License-Identifier: MIT */
/*
 * listen.h: from the endpoints of the operator to listening sockets, before the runtime runs.
 */
#ifndef SWS_NET_LISTEN_H
#define SWS_NET_LISTEN_H

#include "base/texts.h"
#include "net/inherit.h"
#include "net/listener.h"

/**
 * Listen at each endpoint of a list of sound texts: one socket for each core where the kernel can
 * share an address out, one otherwise. Inherited sockets of an endpoint are used in place of new
 * ones. With by_default, inherited sockets with names are the endpoints if there are any. 0, or -1
 * after one line on stderr. What net has is freed by sws_net_fini in any case.
 */
int sws_net_listen(struct sws_net *net, const struct sws_texts *texts, bool by_default, int cores,
    struct sws_inherited *inherited);

#endif
