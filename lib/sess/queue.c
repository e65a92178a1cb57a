/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of commands of a session. */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sess_queue_init(struct sess_queue *q)
{
	*q = (struct sess_queue){.tail = &q->head};
}

void sess_item_free(struct sess_item *it)
{
	if (it == NULL)
		return;
	free(it->line);
	free(it->where);
	free(it);
}

/* The place of a line of a text: where its first line is, or one line of `where` for each. */
static char *queue_where(const char *where, unsigned long line)
{
	size_t n = strcspn(where, "\n");
	struct sbuf one = {0};

	if (where[n] == '\0')
		return cmd_where(where, line);
	for (; line > 0 && where[n] != '\0'; line--) {
		where += n + 1;
		n = strcspn(where, "\n");
	}
	sbuf_addn(&one, where, n);
	char *text = xstrdup(sbuf_str(&one));
	sbuf_free(&one);
	return text;
}

void sess_queue_add(struct sess_queue *q, const char *text, const char *where)
{
	struct sbuf one = {0};
	unsigned long line = 0, at;

	q->group++;
	while (cmd_next_command(&text, &line, &one, &at)) {
		struct sess_item *it = xcalloc(1, sizeof(*it));
		*it = (struct sess_item){.line = xstrdup(sbuf_str(&one)),
					 .where = where != NULL ? queue_where(where, at) : NULL,
					 .group = q->group,
					 .goes_on = q->goes_on};
		*q->tail = it;
		q->tail = &it->next;
	}
	sbuf_free(&one);
}

struct sess_item *sess_queue_take(struct sess_queue *q)
{
	struct sess_item *it = q->head;

	if (it == NULL)
		return NULL;
	q->head = it->next;
	if (q->head == NULL)
		q->tail = &q->head;
	return it;
}

void sess_queue_drop(struct sess_queue *q, bool all, unsigned group)
{
	struct sess_item **p = &q->head;

	while (*p != NULL) {
		struct sess_item *it = *p;
		if (all || it->group == group) {
			*p = it->next;
			sess_item_free(it);
		} else {
			p = &it->next;
		}
	}
	q->tail = p;
}

void sess_queue_tell(const struct sess_queue *q, struct cmd_progress *out)
{
	size_t n = strlen(out->text);
	unsigned more = 0;

	for (const struct sess_item *it = q->head; it != NULL; it = it->next)
		more++;
	if (more > 0)
		snprintf(out->text + n, sizeof(out->text) - n, "; then %u more command%s", more,
			 more == 1 ? "" : "s");
}

void sess_tell_error(sess_event_fn *fn, void *arg, const struct sess_item *it, const struct err *e,
		     int rc, int exit_code)
{
	struct sbuf text = {0};

	if (it->where == NULL)
		cmd_err_print(it->line, e, &text);
	else
		cmd_err_print_at(it->where, it->line, e, &text);
	const struct sess_event ev = {.kind = SESS_ERROR,
				      .text = sbuf_str(&text),
				      .line = it->line,
				      .rc = rc,
				      .exit_code = exit_code,
				      .err = e};
	fn(arg, &ev);
	sbuf_free(&text);
}
