/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tables written out: as JSON, as a manual page, and as a dictionary for fuzzing. */
#include "cmd_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *names_json(const char *list)
{
	json_t *a = json_array();
	const char *name;
	size_t len;

	while (name_next(&list, &name, &len))
		json_array_append_new(a, json_stringn(name, len));
	return a;
}

/* Sets a key to a text, or to null if text is NULL. */
static void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text != NULL ? json_string(text) : json_null());
}

static void put_spec(json_t *o, const struct vspec *v)
{
	struct sbuf allowed = {0};

	if (v->type == NULL)
		return;
	vspec_allowed(v, &allowed);
	json_object_set_new(o, "type", json_string(v->type->name));
	json_object_set_new(o, "syntax", json_string(v->type->syntax));
	json_object_set_new(o, "allowed", json_string(sbuf_str(&allowed)));
	sbuf_free(&allowed);
	if (v->min != 0 || v->max != 0) {
		/* JSON integers have 63 bits here; a larger limit is the type's own and says
		 * nothing */
		if (v->min <= INT64_MAX)
			json_object_set_new(o, "min", json_integer((json_int_t)v->min));
		if (v->max <= INT64_MAX)
			json_object_set_new(o, "max", json_integer((json_int_t)v->max));
	}
	if (v->bits != 0)
		json_object_set_new(o, "bits", json_integer(v->bits));
	if (v->of != NULL) {
		json_t *of = json_object();
		put_spec(of, v->of);
		json_object_set_new(o, "of", of);
	}
	if (v->choices == NULL)
		return;
	json_t *choices = json_array();
	for (unsigned i = 0; v->choices[i] != NULL; i++)
		json_array_append_new(choices, json_string(v->choices[i]));
	json_object_set_new(o, "choices", choices);
}

static json_t *flags_json(uint32_t flags, const char *const *names, unsigned n)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++)
		if (flags >> i & 1)
			json_array_append_new(a, json_string(names[i]));
	return a;
}

static json_t *setting_json(const struct setting *s)
{
	static const char *const flags[] = {"stopped", "restart", "later"};
	struct sbuf syntax = {0};
	json_t *o = json_object();

	setting_syntax(s, &syntax);
	json_object_set_new(o, "name", json_string(s->name));
	json_object_set_new(o, "aliases", names_json(s->alias));
	json_object_set_new(o, "scope", json_string(s->scope->name));
	json_object_set_new(o, "usage", json_string(syntax.s));
	put_spec(o, &s->v);
	put_text(o, "default", s->dflt);
	put_text(o, "unit", s->unit);
	put_text(o, "help", s->help);
	json_object_set_new(o, "stands_for_another", json_boolean(s->resolve != NULL));
	json_object_set_new(o, "flags", flags_json(s->flags, flags, ARRAY_SIZE(flags)));
	sbuf_free(&syntax);
	return o;
}

static json_t *verb_json(const struct verb *v)
{
	static const char *const kinds[] = {
		[ARG_END] = "end",     [ARG_WORD] = "word",       [ARG_TARGETS] = "targets",
		[ARG_VALUE] = "value", [ARG_SETTING] = "setting", [ARG_REST] = "rest",
		[ARG_FILE] = "file",   [ARG_CHOICE] = "choice"};
	static const char *const flags[] = {"later", "no_load", "hidden"};
	struct sbuf syntax = {0};
	json_t *o = json_object(), *args = json_array();

	verb_syntax(v, &syntax);
	for (unsigned i = 0; i < verb_nargs(v); i++) {
		json_t *a = json_object();
		json_object_set_new(a, "kind", json_string(kinds[v->args[i].kind]));
		json_object_set_new(a, "name", json_string(arg_name(&v->args[i])));
		json_object_set_new(a, "optional", json_boolean(v->args[i].flags & ARG_OPT));
		struct vspec spec = v->args[i].v;
		if (v->args[i].kind == ARG_CHOICE)
			spec.type = &vt_enum;
		put_spec(a, &spec);
		for (unsigned k = 0; v->args[i].about != NULL && v->args[i].v.choices[k] != NULL;
		     k++) {
			if (k == 0)
				json_object_set_new(a, "about", json_object());
			json_object_set_new(json_object_get(a, "about"), v->args[i].v.choices[k],
					    json_string(v->args[i].about[k]));
			if (strcmp(v->args[i].about[k], CMD_LATER) != 0)
				continue;
			if (json_object_get(a, "later") == NULL)
				json_object_set_new(a, "later", json_array());
			json_array_append_new(json_object_get(a, "later"),
					      json_string(v->args[i].v.choices[k]));
		}
		json_array_append_new(args, a);
	}
	json_object_set_new(o, "name", json_string(v->name));
	json_object_set_new(o, "aliases", names_json(v->alias));
	json_object_set_new(o, "usage", json_string(syntax.s));
	json_object_set_new(o, "args", args);
	put_text(o, "help", v->help);
	json_object_set_new(o, "flags", flags_json(v->flags, flags, ARRAY_SIZE(flags)));
	sbuf_free(&syntax);
	return o;
}

json_t *rows_json(const struct verb *const *v, unsigned nverbs, const struct setting *const *s,
		  unsigned nsettings)
{
	json_t *o = json_object(), *settings = json_array(), *verbs = json_array();

	for (unsigned i = 0; i < nverbs; i++)
		json_array_append_new(verbs, verb_json(v[i]));
	for (unsigned i = 0; i < nsettings; i++)
		json_array_append_new(settings, setting_json(s[i]));
	json_object_set_new(o, "commands", verbs);
	json_object_set_new(o, "settings", settings);
	return o;
}

json_t *cmd_dump(struct cmd *c)
{
	return rows_json(c->verbs, c->nverbs, c->settings, c->nsettings);
}

/* Appends text so that roff shows it as it is: a line that begins with . or ' is no request, a
 * backslash is no escape, and a hyphen stays one that can be copied. */
static void doc_roff(const char *text, struct sbuf *out)
{
	bool start = true;

	for (; *text != '\0'; text++) {
		if (start && (*text == '.' || *text == '\''))
			sbuf_add(out, "\\&");
		start = *text == '\n';
		if (*text == '\\')
			sbuf_add(out, "\\e");
		else if (*text == '-')
			sbuf_add(out, "\\-");
		else
			sbuf_addc(out, *text);
	}
}

static void roff_line(const char *label, const char *text, struct sbuf *out)
{
	if (text == NULL || text[0] == '\0')
		return;
	sbuf_addf(out, ".br\n%s: ", label);
	doc_roff(text, out);
	sbuf_addc(out, '\n');
}

static void roff_head(const char *syntax, const char *help, struct sbuf *out)
{
	sbuf_add(out, ".TP\n.B ");
	doc_roff(syntax, out);
	sbuf_addc(out, '\n');
	doc_roff(help, out);
	sbuf_addc(out, '\n');
}

static void man_verbs(const struct cmd *c, struct sbuf *out)
{
	struct sbuf text = {0};

	sbuf_add(
		out,
		".SH COMMANDS\nWords may be shortened while they stay unique. \\(dq;\\(dq and newlines separate "
		"commands, # begins a "
		"comment,\n\\(dq...\\(dq, \\(aq...\\(aq and {...} make one word of several. Port lists are items "
		"joined by commas; an item is "
		"\\(dqall\\(dq,\na number or a range, followed by a slash and streams where streams are meant.\n");
	for (unsigned i = 0; i < c->nverbs; i++) {
		const struct verb *v = c->verbs[i];
		if (v->flags & VERB_LATER)
			continue;
		sbuf_reset(&text);
		verb_syntax(v, &text);
		roff_head(text.s, v->help, out);
		for (unsigned k = 0; k < verb_nargs(v); k++) {
			const struct arg_spec *a = &v->args[k];
			struct vspec spec = a->v;
			if (a->kind == ARG_CHOICE)
				spec.type = &vt_enum;
			for (unsigned n = 0;
			     a->kind == ARG_CHOICE && a->about != NULL && a->v.choices[n] != NULL;
			     n++)
				roff_line(a->v.choices[n], a->about[n], out);
			if (a->kind == ARG_CHOICE && a->about != NULL)
				continue;
			sbuf_reset(&text);
			vspec_allowed(&spec, &text);
			roff_line(arg_name(&v->args[k]), sbuf_str(&text), out);
		}
		roff_line("Also", v->alias, out);
	}
	sbuf_free(&text);
}

static void man_settings(const struct cmd *c, struct sbuf *out)
{
	struct sbuf text = {0};

	sbuf_add(
		out,
		".SH SETTINGS\nA bare port number addresses the port for the settings of a port, else its stream "
		"0. A list applies to all "
		"or to none.\nvlan[2].vid is the vid of the second vlan header, and so for every header that can follow "
		"itself.\n");
	for (unsigned i = 0; i < c->nsettings; i++) {
		const struct setting *s = c->settings[i];
		/* a field of a second header ("vlan[2].vid") is described with the first */
		if ((s->flags & SET_LATER) || strchr(s->name, '[') != NULL)
			continue;
		sbuf_reset(&text);
		setting_syntax(s, &text);
		roff_head(text.s, s->help, out);
		sbuf_reset(&text);
		setting_allowed(s, &text);
		roff_line("Allowed", sbuf_str(&text), out);
		roff_line("Unit", s->unit, out);
		roff_line("Default", s->dflt, out);
		roff_line("Also", s->alias, out);
		if (s->flags & (SET_STOPPED | SET_RESTART))
			roff_line("Needs",
				  s->flags & SET_RESTART
					  ? "a stopped port, whose device is restarted"
					  : "a stopped port",
				  out);
	}
	sbuf_free(&text);
}

void cmd_man(struct cmd *c, const char *name, const char *version, struct sbuf *out)
{
	sbuf_add(out, ".TH ");
	for (const char *p = name; *p != '\0'; p++)
		sbuf_addc(out, (char)toupper((unsigned char)*p));
	sbuf_addf(
		out,
		" 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n%s \\- interactive packet generator\n",
		name, version, name);
	sbuf_addf(out, ".SH SYNOPSIS\n.B %s\n[EAL options \\-\\-] [options] [command ...]\n", name);
	man_verbs(c, out);
	man_settings(c, out);
}

static void dict_word(const char *word, size_t len, struct sbuf *out)
{
	if (len == 0)
		return;
	sbuf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char ch = (unsigned char)word[i];
		if (ch == '"' || ch == '\\')
			sbuf_addf(out, "\\%c", ch);
		else if (isprint(ch))
			sbuf_addc(out, (char)ch);
		else
			sbuf_addf(out, "\\x%02x", ch);
	}
	sbuf_add(out, "\"\n");
}

static void dict_names(const char *list, struct sbuf *out)
{
	const char *name;
	size_t len;

	while (name_next(&list, &name, &len))
		dict_word(name, len, out);
}

static void dict_offer(void *arg, const char *word)
{
	dict_word(word, strlen(word), arg);
}

static void dict_spec(const struct vspec *v, struct sbuf *out)
{
	for (unsigned i = 0; v->choices != NULL && v->choices[i] != NULL; i++)
		dict_word(v->choices[i], strlen(v->choices[i]), out);
	if (v->type == NULL || v->type->complete == NULL)
		return;
	v->type->complete(v, "", dict_offer, out);
	v->type->complete(v, "1", dict_offer, out);
}

void cmd_dict(struct cmd *c, struct sbuf *out)
{
	for (unsigned i = 0; i < c->nverbs; i++) {
		dict_names(c->verbs[i]->name, out);
		dict_names(c->verbs[i]->alias, out);
		for (unsigned k = 0; k < verb_nargs(c->verbs[i]); k++) {
			const struct arg_spec *a = &c->verbs[i]->args[k];
			if (a->kind == ARG_WORD)
				dict_names(a->name, out);
			dict_spec(&a->v, out);
		}
	}
	for (unsigned i = 0; i < c->nsettings; i++) {
		dict_names(c->settings[i]->name, out);
		dict_names(c->settings[i]->alias, out);
		dict_spec(&c->settings[i]->v, out);
		if (c->settings[i]->dflt != NULL)
			dict_word(c->settings[i]->dflt, strlen(c->settings[i]->dflt), out);
	}
}
