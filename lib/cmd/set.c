/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of settings: a value is written to all objects of a list or to none, and is read back
 * as text. */
#include "cmd_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One object that is to get the value. aim_add() sets its ids, aim_fill() the rest. */
struct aim {
	struct set_obj obj;
	const struct setting *row; /* the row to write: not the alias row that was named */
	const void *val;           /* owned by aims.value; NULL: unset */
};

/* The text that was given, parsed for one row. All objects to which this row is written share
 * it. */
struct value {
	const struct setting *row;
	void *val;
};

/* All objects that a command is to write. */
struct aims {
	struct aim *s;
	unsigned n, cap;
	bool unsorted;       /* s is out of order or has an object twice */
	struct value *value; /* one for each row that the name stands for */
	unsigned nvalues;
};

static int aim_cmp(const void *a, const void *b)
{
	const struct set_obj *x = &((const struct aim *)a)->obj, *y = &((const struct aim *)b)->obj;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void aim_add(struct aims *all, unsigned port, unsigned id)
{
	struct aim s = {.obj = {.port = port, .id = id}};

	if (all->n == all->cap) {
		all->cap = all->cap ? all->cap * 2 : 8;
		all->s = xrealloc(all->s, all->cap * sizeof(*all->s));
	}
	all->unsorted |= all->n > 0 && aim_cmp(&all->s[all->n - 1], &s) >= 0;
	all->s[all->n++] = s;
}

static void aims_free(struct aims *all)
{
	for (unsigned i = 0; i < all->nvalues; i++)
		free(all->value[i].val);
	free(all->value);
	free(all->s);
}

static void aims_unique(struct aims *all)
{
	unsigned n = 0;

	if (!all->unsorted)
		return;
	qsort(all->s, all->n, sizeof(*all->s), aim_cmp);
	for (unsigned i = 1; i < all->n; i++)
		if (aim_cmp(&all->s[n], &all->s[i]) != 0)
			all->s[++n] = all->s[i];
	all->n = n + 1;
}

static unsigned host_nports(const struct cmd *c)
{
	unsigned n = c->host.nports(c->host.arg);

	return n < PORTSET_MAX ? n : PORTSET_MAX;
}

static int no_port(unsigned p, unsigned n, struct err *e)
{
	if (n == 0)
		return err_set(e, EINVAL, "there is no port; add some with the option -p");
	if (n == 1)
		return err_set(e, EINVAL, "no port %u; the only port is 0", p);
	return err_set(e, EINVAL, "no port %u; there are ports 0 to %u", p, n - 1);
}

bool cmd_object(const struct cmd *c, const struct cmd_scope *scope, unsigned port, unsigned id,
		struct set_obj *out)
{
	*out = (struct set_obj){.host = c->host.program, .scope = scope, .port = port, .id = id};
	out->cfg = c->host.object(c->host.arg, scope, port, id);
	return out->cfg != NULL;
}

/* The scope of the numbered objects of a list, NULL: the language has none that is so written. */
static const struct cmd_scope *target_scope(const struct cmd *c, const struct target *t)
{
	for (unsigned i = 0; i < c->nscopes && t->kind != NULL; i++)
		if (scope_is_kind(c->scopes[i]) && strcmp(c->scopes[i]->name, t->kind) == 0)
			return c->scopes[i];
	return t->kind == NULL ? c->bare : NULL;
}

static unsigned objects_count(const struct cmd *c, const struct cmd_scope *scope, unsigned port)
{
	return scope != NULL ? c->host.count(c->host.arg, scope, port) : 0;
}

static bool object_there(const struct cmd *c, const struct cmd_scope *scope, unsigned port,
			 unsigned id)
{
	struct set_obj obj;

	return cmd_object(c, scope, port, id, &obj);
}

#define MAX_RUNS 12 /* ranges of objects that a text names; the rest is "..." */

static void objects_text(const struct cmd *c, const struct cmd_scope *scope, unsigned port,
			 struct sbuf *out)
{
	unsigned n = objects_count(c, scope, port), runs = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!object_there(c, scope, port, i))
			continue;
		unsigned first = i;
		while (i + 1 < n && object_there(c, scope, port, i + 1))
			i++;
		if (runs++ == MAX_RUNS) {
			sbuf_add(out, ", ...");
			return;
		}
		sbuf_addf(out, "%s%u", runs > 1 ? ", " : "", first);
		if (i > first)
			sbuf_addf(out, "-%u", i);
	}
}

void cmd_streams_text(const struct cmd *c, unsigned port, struct sbuf *out)
{
	objects_text(c, c->bare, port, out);
}

/* Fills *e with "no door 0/door.4; port 0 has doors 0-3". */
static int no_object(const struct cmd *c, const struct cmd_scope *scope, unsigned port, unsigned id,
		     struct err *e)
{
	const char *name = scope != NULL ? scope->name : "stream";
	struct sbuf there = {0}, word = {0};

	objects_text(c, scope, port, &there);
	if (scope != NULL)
		cmd_scope_word(scope, &word);
	if (there.len == 0)
		err_set(e, EINVAL, "port %u has no %s", port, name);
	else
		err_set(e, EINVAL, "no %s %u/%s%u; port %u has %s%s %s", name, port,
			sbuf_str(&word), id, port, name, strpbrk(there.s, "-,") != NULL ? "s" : "",
			there.s);
	sbuf_free(&there);
	sbuf_free(&word);
	return -EINVAL;
}

int cmd_no_stream(const struct cmd *c, unsigned p, unsigned s, struct err *e)
{
	return no_object(c, c->bare, p, s, e);
}

/* Adds the objects first..last of port p to *all (NULL: only checks them). Objects of a range that
 * do not exist are left out, but one of them at least must exist, and the range must not go beyond
 * the last object of the port. So a single object that is named must exist. */
static int expand_objects(const struct cmd *c, const struct cmd_scope *scope, unsigned p,
			  unsigned first, unsigned last, struct aims *all, struct err *e)
{
	unsigned n = objects_count(c, scope, p), found = 0;

	if (last == UINT32_MAX)
		last = n - 1;
	if (n == 0 || last >= n)
		return no_object(c, scope, p, first >= n ? first : n, e);
	for (unsigned i = first; i <= last; i++) {
		if (!object_there(c, scope, p, i))
			continue;
		found++;
		if (all != NULL)
			aim_add(all, p, i);
	}
	return found > 0 ? 0 : no_object(c, scope, p, first, e);
}

/* Adds every object of the list t to *all. A port alone means its object 0 if the scope's objects
 * have numbers. */
static int set_expand(const struct cmd *c, const struct target *t, const struct cmd_scope *scope,
		      struct aims *all, struct err *e)
{
	int rc = target_check(c, t, false, e);
	unsigned np = host_nports(c);

	for (unsigned i = 0; i < t->n && rc == 0; i++) {
		for (unsigned p = t->item[i].p0; p <= t->item[i].p1 && p < np && rc == 0; p++) {
			if (scope->level == LEVEL_PORT)
				aim_add(all, p, 0);
			else
				rc = expand_objects(c, scope, p, t->item[i].s0, t->item[i].s1, all,
						    e);
		}
	}
	if (rc == 0)
		aims_unique(all);
	return rc;
}

/* Adds all ports that may take the row (SET_WHERE_IT_FITS). If none may, *e has the reason of the
 * last port. */
static int expand_fitting(const struct cmd *c, const struct setting *s, struct aims *all,
			  struct err *e)
{
	int rc = 0;

	for (unsigned p = 0; p < host_nports(c); p++) {
		struct set_obj obj;
		cmd_object(c, s->scope, p, 0, &obj);
		if (s->store == NULL || s->store->may == NULL ||
		    (rc = s->store->may(s, &obj, NULL, e)) == 0)
			aim_add(all, p, 0);
	}
	if (all->n > 0)
		return 0;
	return rc != 0 ? rc : no_port(0, 0, e);
}

int target_check(const struct cmd *c, const struct target *t, bool objects, struct err *e)
{
	unsigned np = host_nports(c);
	int rc = 0;

	for (unsigned i = 0; i < t->n && rc == 0; i++) {
		unsigned p1 = t->item[i].p1 == UINT32_MAX ? np - 1 : t->item[i].p1;
		if (p1 >= np && i > 0 && t->item[i - 1].has_streams && !t->item[i].has_streams)
			return err_set(
				e, EINVAL,
				"no port %u; streams of one port are written with it each time: %u/%u,%u/%u",
				t->item[i].p0, t->item[i - 1].p0, t->item[i - 1].s0,
				t->item[i - 1].p0, t->item[i].p0);
		if (np == 0 || p1 >= np)
			return no_port(t->item[i].p0 >= np ? t->item[i].p0 : np, np, e);
		for (unsigned p = t->item[i].p0;
		     p <= p1 && objects && t->item[i].has_streams && rc == 0; p++)
			rc = expand_objects(c, target_scope(c, t), p, t->item[i].s0, t->item[i].s1,
					    NULL, e);
	}
	return rc;
}

int cmd_target_check(const struct cmd *c, const struct target *t, struct err *e)
{
	return target_check(c, t, true, e);
}

int cmd_target_ports(const struct cmd *c, const struct target *t, struct portset *out,
		     struct err *e)
{
	struct portset set = {0};
	int rc = target_check(c, t, true, e);

	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < t->n; i++)
		for (unsigned p = t->item[i].p0, n = host_nports(c); p <= t->item[i].p1 && p < n;
		     p++)
			portset_add(&set, p);
	*out = set;
	return 0;
}

static void err_prefix(struct err *e, const char *name)
{
	struct err inner;

	if (e == NULL)
		return;
	inner = *e;
	err_at(e, 0, inner.col, "%s: %.900s", name, inner.text);
}

/* Parses text into *val, which is new memory. For the text "default", unless the type has a value
 * of that name, *val becomes NULL if the row can be unset, else the row's default. */
static int value_parse(const struct setting *row, const char *text, void **val, struct err *e)
{
	const struct vtype *t = row->v.type;
	void *v = xcalloc(1, t->size);
	int rc = t->parse(&row->v, text, v, e);

	if (rc != 0 && strcmp(text, "default") == 0) {
		if (row->store != NULL && row->store->unset != NULL) {
			free(v);
			*val = NULL;
			return 0;
		}
		if (row->dflt != NULL)
			rc = t->parse(&row->v, row->dflt, v, e);
	}
	if (rc != 0) {
		free(v);
		err_prefix(e, row->name);
		return rc;
	}
	*val = v;
	return 0;
}

/* Gives the value for a row. The text is parsed once for each row, however many objects get the
 * value. */
static int value_for(struct aims *all, const struct setting *row, const char *text,
		     const void **val, struct err *e)
{
	struct value v = {.row = row};

	for (unsigned i = all->nvalues; i-- > 0;) {
		if (all->value[i].row == row) {
			*val = all->value[i].val;
			return 0;
		}
	}
	int rc = value_parse(row, text, &v.val, e);
	if (rc != 0)
		return rc;
	all->value = xrealloc(all->value, (all->nvalues + 1) * sizeof(*all->value));
	all->value[all->nvalues++] = v;
	*val = v.val;
	return 0;
}

/* Finds out what is to be written to object i, and checks all that may refuse it. Nothing is
 * written yet. *in_value: see set_apply(). */
static int aim_fill(struct cmd *c, struct aims *all, unsigned i, const struct setting *row,
		    const char *value, bool *in_value, struct err *e)
{
	const struct cmd_host *h = &c->host;
	struct aim *s = &all->s[i];

	unsigned port = s->obj.port;

	if (!cmd_object(c, row->scope, port, s->obj.id, &s->obj))
		return err_set(e, ENODEV, "%s: port %u cannot be set now", row->name, port);
	const struct setting *real = row;
	if (row->resolve != NULL) {
		err_set(e, 0, "%s: port %u has nothing that this could mean", row->name, port);
		real = row->resolve(row, &s->obj, e);
		if (real == NULL)
			return -EINVAL;
	}
	int rc = setting_later(real, e);
	if (rc != 0)
		return rc;
	*in_value = true;
	rc = value_for(all, real, value, &s->val, e);
	if (rc != 0)
		return rc;
	*in_value = false;
	s->row = real;
	if (real->store != NULL && real->store->may != NULL && s->val != NULL) {
		rc = real->store->may(real, &s->obj, s->val, e);
		if (rc != 0)
			return rc;
	}
	/* may_set is asked once for each port, not for each of its streams */
	if (h->may_set == NULL || (i > 0 && s[-1].obj.port == port && s[-1].row == real))
		return 0;
	return h->may_set(h->arg, real, port, e);
}

static void aim_write(struct cmd *c, const struct aim *s)
{
	const struct setting *row = s->row;

	if (row->store == NULL)
		memcpy((char *)s->obj.cfg + row->offset, s->val, row->v.type->size);
	else if (s->val == NULL)
		row->store->unset(row, &s->obj);
	else
		row->store->put(row, &s->obj, s->val);
	if (c->host.changed != NULL)
		c->host.changed(c->host.arg, row, s->obj.port, s->obj.id);
}

/* Appends a warning about the objects first..last, which are of one port. */
static void put_warning(const struct aim *first, const struct aim *last, const char *text,
			struct sbuf *note)
{
	const struct set_obj *obj = &first->obj;
	const struct cmd_scope *scope = obj->scope;
	struct sbuf word = {0};

	cmd_scope_word(scope, &word);
	if (scope->level == LEVEL_PROGRAM)
		sbuf_addf(note, "warning: %s\n", text);
	else if (first != last)
		sbuf_addf(note, "warning: %ss %u/%s%u-%u: %s\n", scope->name, obj->port,
			  sbuf_str(&word), obj->id, last->obj.id, text);
	else if (!scope_is_kind(scope) && obj->id == 0)
		sbuf_addf(note, "warning: port %u: %s\n", obj->port, text);
	else
		sbuf_addf(note, "warning: %s %u/%s%u: %s\n", scope->name, obj->port,
			  sbuf_str(&word), obj->id, text);
	sbuf_free(&word);
}

/* Calls the checks of the rows that were written and appends their warnings. What they say in the
 * same words about several objects in a row becomes one warning. */
static void aims_warn(const struct aims *all, struct sbuf *note)
{
	const struct aim *first = NULL, *last = NULL, *end = all->s + all->n;
	struct err warn, pending;

	for (const struct aim *s = all->s; s < end; s++) {
		warn.text[0] = '\0';
		if (s->row->check != NULL)
			s->row->check(s->row, &s->obj, &warn);
		bool same = first != NULL && s->obj.port == first->obj.port &&
			    strcmp(warn.text, pending.text) == 0;
		if (first != NULL && !same) {
			put_warning(first, last, pending.text, note);
			first = NULL;
		}
		if (warn.text[0] == '\0')
			continue;
		if (first == NULL) {
			first = s;
			pending = warn;
		}
		last = s;
	}
	if (first != NULL)
		put_warning(first, last, pending.text, note);
}

/* Checks a value without any object. `load` does this for a whole file before it runs a line. */
static int set_look(const struct setting *s, const char *value, bool *in_value, struct err *e)
{
	void *val = NULL;

	if (s->resolve != NULL || s->v.type == NULL)
		return 0;
	*in_value = true;
	int rc = value_parse(s, value, &val, e);
	free(val);
	return rc;
}

int set_apply(struct cmd *c, const struct target *t, const struct setting *s, const char *value,
	      enum set_how how, struct sbuf *note, bool *in_value, struct err *e)
{
	struct aims all = {0};
	bool dry = how == SET_LOOK;

	*in_value = false;
	int rc = setting_later(s, e);
	if (rc == 0)
		rc = setting_fits(s, find_in_targets(t), -1, e);
	if (rc == 0 && s->scope->level == LEVEL_PROGRAM)
		aim_add(&all, 0, 0);
	else if (rc == 0 && t == NULL)
		rc = dry ? 0 : expand_fitting(c, s, &all, e);
	else if (rc == 0)
		rc = dry ? target_check(c, t, false, e) : set_expand(c, t, s->scope, &all, e);
	if (rc == 0 && dry)
		rc = set_look(s, value, in_value, e);
	for (unsigned i = 0; rc == 0 && !dry && i < all.n; i++)
		rc = aim_fill(c, &all, i, s, value, in_value, e);
	if (rc == 0 && !dry) {
		size_t from = note != NULL ? note->len : 0;
		for (unsigned i = 0; i < all.n; i++)
			aim_write(c, &all.s[i]);
		if (note != NULL && !c->checks_held)
			aims_warn(&all, note);
		for (unsigned i = 0; how == SET_ECHO && note != NULL && i < all.n; i++)
			if (all.s[i].row->echo != NULL)
				all.s[i].row->echo(all.s[i].row, &all.s[i].obj, note);
		if (note != NULL && all.n > 1)
			notes_group(note, from);
	}
	aims_free(&all);
	return rc;
}

int cmd_set(struct cmd *c, const struct target *t, const struct setting *s, const char *value,
	    struct sbuf *note, struct err *e)
{
	bool in_value;
	int rc = set_apply(c, t, s, value, SET_WRITE, note, &in_value, e);

	if (rc != 0 && !in_value && e != NULL)
		e->col = -1;
	return rc;
}

void cmd_hold_checks(struct cmd *c, bool on)
{
	c->checks_held = on;
}

bool cmd_value_text(const struct setting *row, const struct set_obj *obj, struct sbuf *out)
{
	const struct vtype *t = row->v.type;
	struct sbuf now = {0}, dflt = {0};
	void *val = xcalloc(1, t->size), *dval = NULL;
	bool set = true;

	if (row->store != NULL)
		set = row->store->get(row, obj, val);
	else
		memcpy(val, (const char *)obj->cfg + row->offset, t->size);
	t->print(&row->v, val, &now);
	/* compared as text, because structs of the same value may differ in their padding */
	if (row->store == NULL && row->dflt != NULL) {
		dval = xcalloc(1, t->size);
		if (t->parse(&row->v, row->dflt, dval, NULL) == 0) {
			t->print(&row->v, dval, &dflt);
			set = strcmp(sbuf_str(&now), sbuf_str(&dflt)) != 0;
		}
	}
	sbuf_add(out, sbuf_str(&now));
	sbuf_free(&now);
	sbuf_free(&dflt);
	free(val);
	free(dval);
	return set;
}

bool cmd_setting_text(const struct cmd *c, const struct setting *s, unsigned port, unsigned id,
		      struct sbuf *out)
{
	const struct setting *row = s;
	struct set_obj obj;

	if (!cmd_object(c, s->scope, port, id, &obj))
		return false;
	if (s->resolve != NULL)
		row = s->resolve(s, &obj, NULL);
	if (row == NULL || row->v.type == NULL)
		return false;
	return cmd_value_text(row, &obj, out) && s->resolve == NULL;
}

int cmd_setting_value(const struct cmd *c, const struct setting *s, unsigned port, unsigned id,
		      cmd_value_fn *fn, void *arg, struct err *e)
{
	const struct setting *row = s;
	struct set_obj obj;
	int rc = setting_later(s, e);

	if (rc == 0 && s->scope->level != LEVEL_PROGRAM && port >= host_nports(c))
		rc = no_port(port, host_nports(c), e);
	if (rc == 0 && s->scope->level == LEVEL_NUMBERED &&
	    (id >= objects_count(c, s->scope, port) || !object_there(c, s->scope, port, id)))
		rc = no_object(c, s->scope, port, id, e);
	if (rc != 0)
		return rc;
	if (!cmd_object(c, s->scope, port, id, &obj))
		return err_set(e, ENODEV, "%s: port %u cannot be read now", s->name, port);
	if (s->resolve != NULL) {
		err_set(e, 0, "%s: port %u has nothing that this could mean", s->name, port);
		row = s->resolve(s, &obj, e);
	}
	if (row == NULL || row->v.type == NULL)
		return row == NULL ? -EINVAL
				   : err_set(e, EINVAL, "%s has no value to read", s->name);
	if (row->store != NULL && row->store->told != NULL &&
	    (rc = row->store->told(row, &obj, e)) < 0)
		return rc;
	void *val = xcalloc(1, row->v.type->size);
	if (row->store != NULL)
		row->store->get(row, &obj, val);
	else
		memcpy(val, (const char *)obj.cfg + row->offset, row->v.type->size);
	fn(arg, row, val);
	free(val);
	return 0;
}

static int verb_set_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	bool in_value;
	const struct target *t = args[0].given ? &args[0].target : NULL;
	struct err own = {.col = -1};
	int rc = set_apply(r->cmd, t, args[1].setting, args[2].text,
			   r->batch ? SET_WRITE : SET_ECHO, r->note, &in_value, &own);

	if (rc == 0)
		return VERB_DONE;
	if (in_value)
		own.col = line_rest_col(r->line, args[2].col, own.col > 0 ? own.col : 0);
	else
		own.col = args[0].given ? args[0].col : args[1].col;
	if (e != NULL)
		*e = own;
	return rc;
}

static const struct arg_spec set_args[] = {
	{ARG_TARGETS, "ports", .flags = ARG_OPT | ARG_OBJECTS},
	{ARG_SETTING, "setting"},
	{ARG_REST, "value"},
	{ARG_END},
};

const struct verb verb_set = {
	.name = "set",
	.args = set_args,
	.help = "Give a setting a new value, on all the ports or streams named or on none.\n"
		"\"help <setting>\" says what is allowed; the value \"default\" takes the setting back.",
	.run = verb_set_run,
};
