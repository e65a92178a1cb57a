/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of commands that wait for their turn, in a local or a remote session. */
#pragma once
#include "sess.h"

struct sess_item {
	struct sess_item *next;
	char *line, *where; /* where: "file:12" or NULL */
	unsigned group;     /* the same for all commands of one sess_exec() */
	bool goes_on;       /* if it is refused, the rest of its group is run nevertheless */
};

struct sess_queue {
	struct sess_item *head, **tail;
	unsigned group; /* of the commands that were added last */
	bool goes_on;   /* of the commands that are added from now on */
};

void sess_queue_init(struct sess_queue *);
/* Adds the commands of a text as a new group. */
void sess_queue_add(struct sess_queue *, const char *text, const char *where);
/* Takes the first command out of the queue; NULL: it is empty. The caller frees it. */
struct sess_item *sess_queue_take(struct sess_queue *);
/* Drops all commands, or those of one group. */
void sess_queue_drop(struct sess_queue *, bool all, unsigned group);
/* Appends to out->text how many commands follow the running one. */
void sess_queue_tell(const struct sess_queue *, struct cmd_progress *out);
void sess_item_free(struct sess_item *); /* does nothing for NULL */

/* Reports an event SESS_ERROR: why a command was refused, with its place. */
void sess_tell_error(sess_event_fn *fn, void *arg, const struct sess_item *, const struct err *e,
		     int rc, int exit_code);
