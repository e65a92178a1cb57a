/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion: finds all that could stand at the cursor. The arguments of the verb are walked as in
 * match.c, but every way that the words can be read is followed, not just the first that fits. */
#include "cmd_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NUMBERS 64 /* port or stream numbers that are offered; nobody reads more */

struct completion {
	const struct cmd *c;
	const struct verb *verb;
	const struct cmd_word *w; /* the n complete words before the cursor, the verb first */
	unsigned n;
	/* the part of the word at the cursor that is typed already, without quotes */
	const char *prefix;
	struct target targets;
	/* possible: the verb has an ARG_TARGETS. given: targets is filled. */
	bool targets_possible, targets_given;
	const struct setting *setting; /* the row named before the cursor; NULL: none */
	void (*offer)(void *arg, const char *word, const char *help);
	void *arg;
	char **seen; /* what was offered, so that nothing is offered twice */
	unsigned nseen;
	const struct vspec *spec; /* of the value that is being completed, for give_value() */
	/* The words of a value that stand before the word at the cursor. The type of the value gets
	 * them too when it completes, and repeats them in what it offers. */
	const char *head;
};

static void complete_give(struct completion *k, const char *word, const char *help)
{
	struct sbuf text = {0}, first = {0};

	for (unsigned i = 0; i < k->nseen; i++)
		if (strcmp(k->seen[i], word) == 0)
			return;
	k->seen = xrealloc(k->seen, (k->nseen + 1) * sizeof(*k->seen));
	k->seen[k->nseen++] = xstrdup(word);
	cmd_quote(word, &text);
	cmd_help_first(help, &first);
	k->offer(k->arg, sbuf_str(&text), help != NULL ? sbuf_str(&first) : NULL);
	sbuf_free(&text);
	sbuf_free(&first);
}

/* Says in one line what a value may be, beside the words that are offered. The line is left out
 * once the word has been begun, since whoever began it knows what is allowed. */
static void give_form(struct completion *k, const char *name, const struct vspec *v)
{
	struct sbuf form = {0};

	if (k->prefix[0] != '\0' || v->type == NULL || v->type == &vt_enum)
		return;
	sbuf_addf(&form, "%s: ", name);
	vspec_allowed(v, &form);
	k->offer(k->arg, NULL, sbuf_str(&form));
	sbuf_free(&form);
}

static void give_value(void *arg, const char *word)
{
	struct completion *k = arg;

	const char *help =
		k->spec->type->about != NULL ? k->spec->type->about(k->spec, word) : NULL;

	if (k->head != NULL && word_prefix(word, k->head))
		word += strlen(k->head);
	complete_give(k, word, help);
}

/* If the complete words from `at` on begin this name of a verb, offers the word of the name that
 * follows them, provided that it begins with the prefix. */
static void offer_verb_word(struct completion *k, const struct verb *v, const char *name,
			    size_t len, unsigned at)
{
	struct sbuf word = {0}, help = {0};
	unsigned skip = k->n - at;
	const char *p = name, *end = name + len;

	if (skip > 0 && (skip >= name_words(name, len)))
		return;
	for (unsigned i = at; i < k->n; i++) {
		size_t n = strcspn(p, " "), wn = strlen(k->w[i].text);
		if (wn == 0 || wn > n || strncmp(p, k->w[i].text, wn) != 0)
			return;
		p += n + strspn(p + n, " ");
	}
	const char *stop = memchr(p, ' ', (size_t)(end - p));
	sbuf_addn(&word, p, (size_t)((stop != NULL ? stop : end) - p));
	if (word_prefix(word.s, k->prefix)) {
		if (stop != NULL)
			verb_seconds(k->c, word.s, &help);
		complete_give(k, word.s, stop != NULL ? help.s : v->help);
	}
	sbuf_free(&word);
	sbuf_free(&help);
}

static void offer_verbs(struct completion *k, unsigned at)
{
	unsigned before = k->nseen;
	const char *name;
	size_t len;

	for (unsigned i = 0; i < k->c->nverbs; i++) {
		const struct verb *v = k->c->verbs[i];
		if (!(v->flags & (VERB_HIDDEN | VERB_LATER)))
			offer_verb_word(k, v, v->name, strlen(v->name), at);
	}
	if (k->nseen > before || k->prefix[0] == '\0')
		return;
	for (unsigned i = 0; i < k->c->nverbs; i++) {
		const struct verb *v = k->c->verbs[i];
		const char *lists[] = {v->name, v->alias};
		for (unsigned a = 0; a < 2; a++)
			while (name_next(&lists[a], &name, &len))
				offer_verb_word(k, v, name, len, at);
	}
}

/* Offers the next word of longer names of verbs: "page" after "show", because of "show page". */
static void offer_longer_verbs(struct completion *k)
{
	size_t len = strlen(k->verb->name);

	for (unsigned i = 0; i < k->c->nverbs; i++) {
		const struct verb *v = k->c->verbs[i];
		if (!(v->flags & (VERB_HIDDEN | VERB_LATER)) &&
		    strncmp(v->name, k->verb->name, len) == 0 && v->name[len] == ' ')
			offer_verb_word(k, v, v->name, strlen(v->name), 0);
	}
}

static void offer_numbers(struct completion *k, const char *head, size_t head_len,
			  const char *prefix, unsigned n)
{
	struct sbuf word = {0};
	char num[16];

	for (unsigned i = 0; i <= n && i <= MAX_NUMBERS; i++) {
		if (i == 0)
			snprintf(num, sizeof(num), "all");
		else
			snprintf(num, sizeof(num), "%u", i - 1);
		if (n == 0 || !word_prefix(num, prefix))
			continue;
		sbuf_reset(&word);
		sbuf_addn(&word, head, head_len);
		sbuf_add(&word, num);
		complete_give(k, word.s, i == 0 ? "all of them" : NULL);
	}
	sbuf_free(&word);
}

/* Offers the objects of a port that are written with the name of their scope: "0/NAME.3". */
static void offer_objects(struct completion *k, const struct cmd_scope *scope, unsigned port,
			  const char *slash)
{
	const struct cmd_host *h = &k->c->host;
	struct sbuf head = {0};
	size_t len;

	sbuf_addn(&head, k->prefix, (size_t)(slash + 1 - k->prefix));
	len = head.len;
	cmd_scope_word(scope, &head);
	const char *word = head.s + len, *typed = slash + 1;
	if (word_prefix(typed, word))
		offer_numbers(k, head.s, head.len, typed + strlen(word),
			      h->count(h->arg, scope, port));
	else if (word_prefix(word, typed))
		offer_numbers(k, head.s, head.len, "", h->count(h->arg, scope, port));
	sbuf_free(&head);
}

static void offer_targets(struct completion *k, const struct arg_spec *a)
{
	const struct cmd_host *h = &k->c->host;
	const char *item = strrchr(k->prefix, ',');

	item = item != NULL ? item + 1 : k->prefix;
	const char *slash = strchr(item, '/');
	if (slash == NULL) {
		offer_numbers(k, k->prefix, (size_t)(item - k->prefix), item, h->nports(h->arg));
		return;
	}
	unsigned port = (unsigned)strtoul(item, NULL, 10);
	if (port >= h->nports(h->arg))
		return;
	if (k->c->bare != NULL)
		offer_numbers(k, k->prefix, (size_t)(slash + 1 - k->prefix), slash + 1,
			      h->count(h->arg, k->c->bare, port));
	for (unsigned i = 0; i < k->c->nscopes && target_kinds(k->c, a) != NULL; i++)
		if (scope_is_kind(k->c->scopes[i]))
			offer_objects(k, k->c->scopes[i], port, slash);
}

/* Offers, for each name in list whose first words are k->w[at..], the word that follows them,
 * provided that it begins with the prefix. */
static void offer_name_words(struct completion *k, const struct setting *s, const char *list,
			     unsigned at)
{
	const char *name;
	size_t len;

	while (name_next(&list, &name, &len)) {
		const char *p = name, *end = name + len;
		unsigned i = at;
		for (; i < k->n && p < end; i++) {
			size_t n = strcspn(p, " ,"), wn = strlen(k->w[i].text);
			if (wn == 0 || wn > n || strncmp(p, k->w[i].text, wn) != 0)
				break;
			p += n;
			while (p < end && *p == ' ')
				p++;
		}
		if (i < k->n || p >= end)
			continue;
		char *word = xcalloc(len + 1, 1);
		memcpy(word, p, strcspn(p, " ,"));
		if (word_prefix(word, k->prefix))
			complete_give(k, word, s->help);
		free(word);
	}
}

/* Says what stands before the name of a setting at the cursor. */
static struct find_in complete_in(const struct completion *k)
{
	if (!k->targets_possible)
		return (struct find_in){.how = FIND_ANY};
	return find_in_targets(k->targets_given ? &k->targets : NULL);
}

/* Says whether the row fits the ports or objects that stand before it. */
static bool row_fits(const struct completion *k, const struct setting *s)
{
	return setting_fits(s, complete_in(k), -1, NULL) == 0 && !(s->flags & SET_LATER);
}

/* The name that a row beside the table would have for one of the table, by what has been typed: the
 * text and `lead` bytes of it that no name of the table has. false: none. */
static bool more_name(const char *text, size_t lead, const char *listed, struct sbuf *out)
{
	const char *name = text + lead, *open = strchr(name, '['),
		   *dot = open != NULL ? strstr(open, "].") : NULL;
	size_t head = open != NULL ? (size_t)(open - name) : 0;

	if (open == NULL ? lead == 0
			 : dot == NULL || strncmp(listed, name, head) != 0 || listed[head] != '.')
		return false;
	sbuf_reset(out);
	sbuf_addn(out, text, dot != NULL ? (size_t)(dot + 1 - text) : lead);
	sbuf_add(out, listed + head);
	return word_prefix(out->s, text);
}

/* Offers rows that the table does not list: after "vlan[2]." these are the fields of a further
 * header of that kind, and after "reply." those of answers. The table has the fields of the first
 * one. */
static void offer_more_rows(struct completion *k)
{
	const struct cmd_host *h = &k->c->host;
	size_t lead = strcspn(k->prefix, ".[");
	struct sbuf name = {0};

	lead = k->prefix[lead] == '.' ? lead + 1 : 0;
	for (unsigned i = 0; h->row != NULL && i < k->c->nsettings; i++) {
		const struct setting *s = k->c->settings[i], *row = NULL;
		if (!row_fits(k, s))
			continue;
		if (more_name(k->prefix, 0, s->name, &name) ||
		    more_name(k->prefix, lead, s->name, &name))
			row = h->row(h->arg, name.s, NULL);
		if (row != NULL)
			complete_give(k, name.s, row->help);
	}
	sbuf_free(&name);
}

static void offer_settings(struct completion *k, unsigned at)
{
	unsigned before = k->nseen;

	for (unsigned i = 0; i < k->c->nsettings; i++) {
		const struct setting *s = k->c->settings[i];
		/* fields of a second header of a kind ("vlan[2].vid") only once [ was typed */
		if (row_fits(k, s) &&
		    (strchr(s->name, '[') == NULL || strchr(k->prefix, '[') != NULL))
			offer_name_words(k, s, s->name, at);
	}
	if (at == k->n)
		offer_more_rows(k);
	/* Aliases would double the list. They are offered where no name fits, or after a first
	 * word. */
	if (at == k->n && (k->prefix[0] == '\0' || k->nseen > before))
		return;
	for (unsigned i = 0; i < k->c->nsettings; i++) {
		const struct setting *s = k->c->settings[i];
		if (row_fits(k, s))
			offer_name_words(k, s, s->alias, at);
	}
}

static void give_rest(void *arg, const char *word, const char *help)
{
	complete_give(arg, word, help);
}

static void offer_rest(struct completion *k, unsigned at)
{
	const struct setting *s = k->setting;
	struct sbuf head = {0}, text = {0};

	if (k->verb == &verb_help) {
		offer_verbs(k, at);
		offer_settings(k, at);
		return;
	}
	if (s == NULL) {
		if (k->c->host.complete != NULL)
			k->c->host.complete(k->c->host.arg, k->verb, k->prefix, give_rest, k);
		return;
	}
	if (s->resolve != NULL && k->targets.n > 0) {
		const struct cmd_host *h = &k->c->host;
		unsigned p = k->targets.item[0].p0;
		struct set_obj obj;
		bool there = p < h->nports(h->arg) &&
			     cmd_object(k->c, s->scope, p, k->targets.item[0].s0, &obj);
		const struct setting *real = there ? s->resolve(s, &obj, NULL) : NULL;
		s = real != NULL ? real : s;
	}
	if (s->v.type == NULL)
		return;
	for (unsigned i = at; i < k->n; i++)
		sbuf_addf(&head, "%s ", k->w[i].text);
	sbuf_addf(&text, "%s%s", sbuf_str(&head), k->prefix);
	k->head = head.len > 0 ? head.s : NULL;
	k->spec = &s->v;
	if (s->v.type->complete != NULL)
		s->v.type->complete(&s->v, sbuf_str(&text), give_value, k);
	k->head = NULL;
	if (at == k->n)
		give_form(k, s->name, &s->v);
	if (at == k->n && k->prefix[0] != '\0' && word_prefix("default", k->prefix))
		complete_give(k, "default", "take the setting back");
	sbuf_free(&head);
	sbuf_free(&text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void offer_files(struct completion *k)
{
	const char *slash = strrchr(k->prefix, '/');
	size_t dir_len = slash != NULL ? (size_t)(slash - k->prefix) + 1 : 0, n = 0;
	const char *base = k->prefix + dir_len;
	struct sbuf dir = {0}, path = {0};
	char **names = NULL;
	struct dirent *d;

	sbuf_addn(&dir, k->prefix, dir_len);
	DIR *open = opendir(dir_len > 0 ? dir.s : ".");
	while (open != NULL && (d = readdir(open)) != NULL) {
		if (!word_prefix(d->d_name, base) || (d->d_name[0] == '.' && base[0] != '.'))
			continue;
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		names = xrealloc(names, (n + 1) * sizeof(*names));
		names[n++] = xstrdup(d->d_name);
	}
	if (open != NULL)
		closedir(open);
	if (n > 0)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		sbuf_reset(&path);
		sbuf_addf(&path, "%s%s", sbuf_str(&dir), names[i]);
		if (stat(path.s, &st) == 0 && S_ISDIR(st.st_mode))
			sbuf_addc(&path, '/');
		complete_give(k, path.s, NULL);
		free(names[i]);
	}
	free(names);
	sbuf_free(&dir);
	sbuf_free(&path);
}

static void offer_arg(struct completion *k, const struct arg_spec *a, unsigned at)
{
	switch (a->kind) {
	case ARG_WORD:
		if (word_prefix(a->name, k->prefix))
			complete_give(k, a->name, NULL);
		break;
	case ARG_TARGETS:
		if (!(a->flags & ARG_OPT) || k->prefix[0] == '\0' ||
		    looks_like_targets(k->prefix) || word_prefix("all", k->prefix))
			offer_targets(k, a);
		break;
	case ARG_CHOICE:
		for (unsigned i = 0; a->v.choices[i] != NULL; i++)
			if (word_prefix(a->v.choices[i], k->prefix))
				complete_give(k, a->v.choices[i],
					      a->about != NULL ? a->about[i] : NULL);
		break;
	case ARG_VALUE:
		k->spec = &a->v;
		if (a->v.type->complete != NULL)
			a->v.type->complete(&a->v, k->prefix, give_value, k);
		give_form(k, arg_name(a), &a->v);
		break;
	case ARG_SETTING:
		offer_settings(k, at);
		break;
	case ARG_REST:
		offer_rest(k, at);
		break;
	case ARG_FILE:
		offer_files(k);
		break;
	case ARG_END:
		break;
	}
}

static bool fits_arg(const struct arg_spec *a, const char *word)
{
	_Alignas(16) uint8_t raw[sizeof(((struct arg_val *)0)->v)];
	struct vspec choice = {.type = &vt_enum, .choices = a->v.choices};

	switch (a->kind) {
	case ARG_WORD:
		return word[0] != '\0' && word_prefix(a->name, word);
	case ARG_CHOICE:
		return vt_enum.parse(&choice, word, raw, NULL) == 0;
	case ARG_VALUE:
		return a->v.type->size > sizeof(raw) ||
		       a->v.type->parse(&a->v, word, raw, NULL) == 0;
	case ARG_FILE:
		return true;
	default:
		return false;
	}
}

static void complete_walk(struct completion *k, unsigned i, unsigned at, bool grouped);

/* The same as complete_walk() for groups that may come in any order, which are the arguments from i
 * on. done has a bit for the first argument of each group that was given. */
static void complete_mixed(struct completion *k, unsigned i, unsigned at, uint32_t done)
{
	const struct arg_spec *a = k->verb->args;
	unsigned g = i;

	for (; verb_mixed(a, g); g = verb_group_end(a, g)) {
		unsigned j = g, end = verb_group_end(a, g), w = at;
		if ((done >> g & 1) != 0)
			continue;
		while (j < end && w < k->n && fits_arg(&a[j], k->w[w].text)) {
			j++;
			w++;
		}
		if (j == end)
			complete_mixed(k, i, w, done | 1u << g);
		else if (w == k->n)
			offer_arg(k, &a[j], w);
	}
	complete_walk(k, g, at, false);
}

/* Matches argument i and those after it against the complete words from `at` on, and offers what
 * may stand where the words end. grouped: argument i belongs to an optional group whose word was
 * given. */
static void complete_walk(struct completion *k, unsigned i, unsigned at, bool grouped)
{
	const struct arg_spec *a = k->verb->args;

	if (i >= verb_nargs(k->verb))
		return;
	if (verb_mixed(a, i)) {
		complete_mixed(k, i, at, 0);
		return;
	}
	bool opt = a[i].flags & ARG_OPT;
	bool needed = !opt || (grouped && a[i].kind != ARG_WORD && !(a[i].flags & ARG_AFTER));
	bool in_group = opt && (a[i].kind == ARG_WORD || grouped);
	if (at == k->n) {
		offer_arg(k, &a[i], at);
	} else if (a[i].kind == ARG_REST) {
		offer_rest(k, at);
		return;
	} else if (a[i].kind == ARG_SETTING) {
		unsigned used = 0;
		offer_settings(k, at);
		k->setting = setting_match(k->c, complete_in(k), k->w + at, k->n - at, &used, NULL);
		if (k->setting != NULL)
			complete_walk(k, i + 1, at + used, false);
		return;
	} else if (a[i].kind == ARG_TARGETS) {
		if (target_parse(k->w[at].text, target_kinds(k->c, &a[i]), &k->targets, NULL) ==
		    0) {
			k->targets_given = true;
			complete_walk(k, i + 1, at + 1, false);
			k->targets_given = false;
			return;
		}
	} else if (fits_arg(&a[i], k->w[at].text)) {
		complete_walk(k, i + 1, at + 1, in_group);
	}
	if (!needed)
		complete_walk(k, verb_group_end(a, i), at, false);
}

/* Splits the command up to the cursor into words. A quote that is still open is closed at the
 * cursor. */
static bool split_here(const char *text, struct line_words *l)
{
	static const char *const closers[] = {"", "\"", "'", "}", "}}", "}}}"};
	struct sbuf closed = {0};
	bool ok = false;

	for (unsigned i = 0; i < ARRAY_SIZE(closers) && !ok; i++) {
		sbuf_reset(&closed);
		sbuf_addf(&closed, "%s%s", text, closers[i]);
		ok = line_split(sbuf_str(&closed), l, NULL) == 0;
	}
	sbuf_free(&closed);
	return ok;
}

/* Says whether text ends inside of a comment. It tries this with one more word, which would vanish
 * in a comment. */
static bool in_comment(const char *text, const struct line_words *l)
{
	struct line_words more;
	struct sbuf probe = {0};

	sbuf_addf(&probe, "%s x", text);
	bool inside = false;
	if (line_split(probe.s, &more, NULL) == 0) {
		inside = more.n == l->n;
		line_free(&more);
	}
	sbuf_free(&probe);
	return inside;
}

void cmd_complete(struct cmd *c, const char *line, int cursor, int *start,
		  void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	struct completion k = {.c = c, .offer = offer, .arg = arg, .prefix = ""};
	struct line_words l;
	struct sbuf text = {0}, one = {0};
	size_t len = strlen(line);

	if (cursor >= 0 && (size_t)cursor < len)
		len = (size_t)cursor;
	sbuf_addn(&text, line, len);
	*start = (int)len;
	const char *rest = text.s, *begin = text.s;
	/* After a command that ends with a separator, rest has moved by one byte more than the
	 * length of the command. */
	while (cmd_next(&rest, &one))
		if ((size_t)(rest - begin) > one.len)
			begin = rest;
	begin = cmd_past_prompt(begin);
	if (split_here(begin, &l)) {
		char last = len > 0 ? text.s[len - 1] : ' ';
		const struct cmd_word *cur = l.n > 0 ? &l.w[l.n - 1] : NULL;
		bool open = cur != NULL && (cur->quoted || (last != ' ' && last != '\t'));
		struct line_words plain;
		/* a quoted word that is closed and followed by a blank is complete */
		if (cur != NULL && cur->quoted && (last == ' ' || last == '\t') &&
		    line_split(begin, &plain, NULL) == 0) {
			open = false;
			line_free(&plain);
		}
		if (!in_comment(begin, &l)) {
			k.w = l.w;
			k.n = open ? l.n - 1 : l.n;
			if (open) {
				k.prefix = cur->text;
				*start = (int)(begin - text.s) + cur->col;
			}
			unsigned used = 0;
			if (k.n > 0)
				k.verb = verb_match(c, k.w, k.n, &used, NULL);
			if (k.verb == NULL) {
				offer_verbs(&k, 0);
			} else {
				for (unsigned i = 0; i < verb_nargs(k.verb); i++)
					k.targets_possible |= k.verb->args[i].kind == ARG_TARGETS;
				if (!(k.verb->flags & VERB_LATER))
					complete_walk(&k, 0, used, false);
				offer_longer_verbs(&k);
			}
		}
		line_free(&l);
	}
	for (unsigned i = 0; i < k.nseen; i++)
		free(k.seen[i]);
	free(k.seen);
	sbuf_free(&text);
	sbuf_free(&one);
}
