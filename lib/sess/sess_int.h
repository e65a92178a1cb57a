/* SPDX-License-Identifier: BSD-3-Clause */
/* A session is a record of functions. sess.c has those of a session in this process, remote.c those
 * of a session over a socket. */
#pragma once
#include "sess.h"

struct sess_ops {
	void (*free)(struct sess *);
	void (*exec)(struct sess *, const char *text, const char *where);
	bool (*busy)(const struct sess *);
	bool (*asks)(const struct sess *);                         /* NULL: never */
	bool (*progress)(struct sess *, struct cmd_progress *out); /* NULL: never */
	void (*cancel)(struct sess *);
	void (*poll)(struct sess *);
	int (*exit_code)(const struct sess *);
	bool (*failed)(const struct sess *);
	void (*complete)(struct sess *, const char *line, int cursor, int *start,
			 void (*offer)(void *arg, const char *word, const char *help), void *arg);
	json_t *(*snapshot)(struct sess *, const char *parts, struct err *e);
	void (*keep_going)(struct sess *, bool on);
	void (*set_out_mode)(struct sess *, int out_mode);
	bool (*lost)(const struct sess *);              /* NULL: never */
	uint64_t (*unanswered_ns)(const struct sess *); /* NULL: 0 */
};

struct sess {
	const struct sess_ops *ops;
};
