/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the library of scripts is not built: what asks for one is told so. */
#include "script.h"

#include <errno.h>

struct script *script_new(const struct script_host *h, const struct script_opts *o, struct err *e)
{
	(void)h;
	(void)o;
	err_set(e, ENOTSUP, "lua: not in this version");
	return NULL;
}

void script_free(struct script *s)
{
	(void)s;
}

int script_start(struct script *s, const char *text, const char *name, const char *const *args, unsigned nargs, struct sbuf *out,
		 struct sbuf *note, struct err *e)
{
	(void)s, (void)text, (void)name, (void)args, (void)nargs, (void)out, (void)note;
	return err_set(e, ENOTSUP, "lua: not in this version");
}

int script_poll(struct script *s, struct err *e)
{
	(void)s;
	return err_set(e, ENOTSUP, "lua: not in this version");
}

bool script_running(const struct script *s)
{
	return s != NULL;
}

bool script_ready(const struct script *s)
{
	return s != NULL;
}

void script_cancel(struct script *s)
{
	(void)s;
}

json_t *script_results(struct script *s)
{
	(void)s;
	return NULL;
}

int script_exit_code(const struct script *s)
{
	(void)s;
	return 0;
}

void script_event(struct script *s, const char *name, unsigned port, const char *text, json_t *doc)
{
	(void)s, (void)name, (void)port, (void)text, (void)doc;
}
