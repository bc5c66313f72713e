/* SPDX-License-Identifier: MIT */
/*
 * notice.h: saying on stderr what went wrong, each thing at most once in ten seconds. Any thread.
 */
#ifndef SWS_NOTICE_H
#define SWS_NOTICE_H

enum sws_notice_kind {
	SWS_NOTICE_ACCEPT,
	SWS_NOTICE_FILES,
	SWS_NOTICE_CONNECTION,
	SWS_NOTICE_KINDS
};

/** Report the errno code error; silent when the same kind was reported just before. */
void sws_notice(enum sws_notice_kind kind, int error);

#endif
