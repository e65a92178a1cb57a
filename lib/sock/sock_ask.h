/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts, asked for on a thread of their own, so that a name server that does not answer
 * holds nobody. */
#pragma once
#include "loop.h"
#include "sock.h"

#define SOCK_ASK_MOST 66  /* questions of one call */
#define SOCK_ASK_ADDRS 16 /* addresses of one answer */

struct sock_question {
	const char *host; /* as of sock_resolve() */
	unsigned port, most;
	int family;
	bool as_first; /* the family is that of the first answer, if there is one of it */
};
struct sock_answer {
	struct sock_addr addr[SOCK_ASK_ADDRS];
	unsigned n;
};
/* NULL: a name has no address, *e says which and why. It is called from the loop, and the call is
 * over then. */
typedef void sock_answer_fn(void *arg, const struct sock_answer *, const struct err *e);

/* Whether the text is a name that somebody has to be asked for; an address, an empty text and NULL
 * are not. */
bool sock_is_name(const char *host);
struct sock_ask;
/* Asks for all, one after the other. fn is called with one answer per question. NULL with *e. */
struct sock_ask *sock_ask(struct loop *, const struct sock_question *, unsigned n, sock_answer_fn *,
			  void *arg, struct err *e);
/* The answer is not wanted any more. NULL is allowed. */
void sock_ask_end(struct sock_ask *);
