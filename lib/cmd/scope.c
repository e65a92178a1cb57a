/* SPDX-License-Identifier: BSD-3-Clause */
/* The scopes of a language, which are those of its rows, and how their objects are written. */
#include "cmd_impl.h"

#include <stdlib.h>
#include <string.h>

bool scope_is_kind(const struct cmd_scope *scope)
{
	return scope->level == LEVEL_NUMBERED && !scope->bare;
}

static bool scope_known(const struct cmd *c, const struct cmd_scope *scope)
{
	for (unsigned i = 0; i < c->nscopes; i++)
		if (c->scopes[i] == scope)
			return true;
	return false;
}

/* Appends the scopes of this level that the rows have. */
static void collect_level(struct cmd *c, enum scope_level level)
{
	for (unsigned i = 0; i < c->nsettings; i++) {
		const struct cmd_scope *scope = c->settings[i]->scope;
		if (scope->level != level || scope_known(c, scope))
			continue;
		c->scopes = xrealloc(c->scopes, (c->nscopes + 1) * sizeof(*c->scopes));
		c->scopes[c->nscopes++] = scope;
	}
}

void scopes_collect(struct cmd *c)
{
	unsigned n = 0;

	collect_level(c, LEVEL_PROGRAM);
	collect_level(c, LEVEL_PORT);
	collect_level(c, LEVEL_NUMBERED);
	c->kinds = xcalloc(c->nscopes + 1, sizeof(*c->kinds));
	for (unsigned i = 0; i < c->nscopes; i++) {
		if (scope_is_kind(c->scopes[i]))
			c->kinds[n++] = c->scopes[i]->name;
		else if (c->scopes[i]->bare && c->bare == NULL)
			c->bare = c->scopes[i];
	}
}

void scopes_free(struct cmd *c)
{
	free(c->scopes);
	free(c->kinds);
}

unsigned cmd_nscopes(const struct cmd *c)
{
	return c->nscopes;
}

const struct cmd_scope *cmd_scope_at(const struct cmd *c, unsigned i)
{
	return i < c->nscopes ? c->scopes[i] : NULL;
}

void cmd_scope_word(const struct cmd_scope *scope, struct sbuf *out)
{
	if (scope_is_kind(scope))
		sbuf_addf(out, "%s.", scope->name);
}

void scope_before(const struct cmd_scope *scope, struct sbuf *out)
{
	if (scope_is_kind(scope))
		sbuf_addf(out, "<ports>/%s.<n> ", scope->name);
	else if (scope->level != LEVEL_PROGRAM)
		sbuf_addf(out, "<%ss> ", scope->name);
}

const char *const *target_kinds(const struct cmd *c, const struct arg_spec *a)
{
	return a->flags & ARG_OBJECTS ? c->kinds : NULL;
}

int cmd_target_parse(const struct cmd *c, const char *text, struct target *out, struct err *e)
{
	return target_parse(text, c->kinds, out, e);
}
