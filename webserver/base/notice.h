/* SPDX-License-Identifier: MIT */
/*
 * notice.h: error messages on stderr, each kind at most once in ten seconds. Any thread.
 */
#ifndef SWS_NOTICE_H
#define SWS_NOTICE_H

enum sws_notice_kind {
	SWS_NOTICE_ACCEPT,
	SWS_NOTICE_FILES,
	SWS_NOTICE_CONNECTION,
	SWS_NOTICE_HANDSHAKE,
	SWS_NOTICE_ADDRESS,
	SWS_NOTICE_LOG,
	SWS_NOTICE_KINDS
};

/** Report the errno code error, unless the same kind was reported in the last ten seconds. */
void sws_notice(enum sws_notice_kind kind, int error);

/** The same with words instead of an errno code. */
void sws_notice_text(enum sws_notice_kind kind, const char *text);

#endif
