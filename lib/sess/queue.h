/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that wait for their turn, of a local session and of a remote one. */
#pragma once
#include "sess.h"

struct sess_item {
	struct sess_item *next;
	char *line, *where; /* where: "file:12" or NULL */
	unsigned group;     /* commands of one sess_exec() */
	bool goes_on;       /* its group goes on when it is refused */
};

struct sess_queue {
	struct sess_item *head, **tail;
	unsigned group; /* the last one */
	bool goes_on;   /* what is added from now on */
};

void sess_queue_init(struct sess_queue *);
/* A new group: the commands of a text. */
void sess_queue_add(struct sess_queue *, const char *text, const char *where);
/* The first one, whoever takes it frees it; NULL: there is none. */
struct sess_item *sess_queue_take(struct sess_queue *);
/* Drop what is queued; any group, or one only. */
void sess_queue_drop(struct sess_queue *, bool all, unsigned group);
/* What follows the command that this tells of. */
void sess_queue_tell(const struct sess_queue *, struct cmd_progress *out);
void sess_item_free(struct sess_item *); /* NULL: nothing */

/* Why a command was refused, where it stands. */
void sess_tell_error(sess_event_fn *fn, void *arg, const struct sess_item *, const struct err *e, int rc, int exit_code);
