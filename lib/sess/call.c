/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of sess.h, which call those of the session's kind. */
#include "sess_int.h"

void sess_free(struct sess *s)
{
	if (s != NULL)
		s->ops->free(s);
}

void sess_exec(struct sess *s, const char *text, const char *where)
{
	s->ops->exec(s, text, where);
}

void sess_keep_going(struct sess *s, bool on)
{
	s->ops->keep_going(s, on);
}

bool sess_busy(const struct sess *s)
{
	return s->ops->busy(s);
}

bool sess_asks(const struct sess *s)
{
	return s->ops->asks != NULL && s->ops->asks(s);
}

bool sess_progress(struct sess *s, struct cmd_progress *out)
{
	return s->ops->progress != NULL && s->ops->progress(s, out);
}

void sess_cancel(struct sess *s)
{
	s->ops->cancel(s);
}

void sess_poll(struct sess *s)
{
	s->ops->poll(s);
}

int sess_exit_code(const struct sess *s)
{
	return s->ops->exit_code(s);
}

bool sess_failed(const struct sess *s)
{
	return s->ops->failed(s);
}

void sess_complete(struct sess *s, const char *line, int cursor, int *start,
		   void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	s->ops->complete(s, line, cursor, start, offer, arg);
}

json_t *sess_snapshot(struct sess *s, const char *parts, struct err *e)
{
	return s->ops->snapshot(s, parts, e);
}

void sess_set_out_mode(struct sess *s, int out_mode)
{
	s->ops->set_out_mode(s, out_mode);
}

bool sess_lost(const struct sess *s)
{
	return s->ops->lost != NULL && s->ops->lost(s);
}

uint64_t sess_unanswered_ns(const struct sess *s)
{
	return s->ops->unanswered_ns != NULL ? s->ops->unanswered_ns(s) : 0;
}
