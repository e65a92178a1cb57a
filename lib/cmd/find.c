/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the rows that words name: by exact names, by aliases of several words, by unique prefixes.
 * For words that name nothing it finds the nearest known word. */
#include "cmd_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_WORDS 4
#define MAX_TOLD 12 /* most candidates that an error names */

bool word_prefix(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

bool name_next(const char **list, const char **name, size_t *len)
{
	const char *p = *list;

	while (p != NULL && (*p == ',' || *p == ' '))
		p++;
	if (p == NULL || *p == '\0')
		return false;
	*name = p;
	*len = strcspn(p, ",");
	*list = p + *len;
	while (*len > 0 && p[*len - 1] == ' ')
		(*len)--;
	return true;
}

struct find_in find_in_targets(const struct target *t)
{
	if (t == NULL || t->n == 0)
		return (struct find_in){.how = FIND_GLOBAL};
	if (t->kind != NULL)
		return (struct find_in){.how = FIND_KIND, .kind = t->kind};
	for (unsigned i = 0; i < t->n; i++)
		if (t->item[i].has_streams)
			return (struct find_in){.how = FIND_STREAMS};
	return (struct find_in){.how = FIND_BARE};
}

#define FIND_FAR 3 /* the rank of a scope whose objects have to be named */

/* If rows of several scopes have a name, it means the one whose scope has the lowest rank. The rank
 * depends on what stands before the name. */
static unsigned scope_rank(const struct cmd_scope *scope, struct find_in in)
{
	static const uint8_t rank[][LEVEL_NUMBERED + 1] = {
		[FIND_ANY] = {0, 0, 0},     [FIND_GLOBAL] = {0, 1, 2}, [FIND_BARE] = {2, 0, 1},
		[FIND_STREAMS] = {2, 1, 0}, [FIND_KIND] = {2, 1, 1},
	};

	if (in.how != FIND_ANY && scope_is_kind(scope))
		return in.how == FIND_KIND && strcmp(in.kind, scope->name) == 0 ? 0 : FIND_FAR;
	return rank[in.how][scope->level];
}

unsigned name_words(const char *name, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += name[i] != ' ' && (i == 0 || name[i - 1] == ' ');
	return n;
}

enum how { HOW_NO, HOW_PREFIX, HOW_EXACT };

/* Says whether the k words of w are the words of `name` (len bytes, words separated by blanks):
 * HOW_EXACT if each is written in full, HOW_PREFIX if some are shortened. */
static enum how name_match(const char *name, size_t len, const struct cmd_word *w, unsigned k)
{
	bool exact = true;
	const char *p = name, *end = name + len;

	for (unsigned i = 0; i < k; i++) {
		if (p >= end)
			return HOW_NO;
		const char *stop = memchr(p, ' ', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p), wn = strlen(w[i].text);
		if (wn == 0 || wn > n || strncmp(p, w[i].text, wn) != 0)
			return HOW_NO;
		exact = exact && wn == n;
		p += n;
		while (p < end && *p == ' ')
			p++;
	}
	return p < end ? HOW_NO : exact ? HOW_EXACT : HOW_PREFIX;
}

/* Shortened words are looked for in one kind of names after the other, and a name found in one kind
 * hides those of the next. Otherwise the many names like HEADER.FIELD would make every short word
 * ambiguous. */
enum name_kind { NAMES_PLAIN, NAMES_DOTTED, NAMES_ALIAS, NAMES_KINDS };

/* Finds the row that k shortened words name best among names of one kind: the one whose scope has
 * the lowest rank. If several rows fit equally well, *many gets their names. */
static const struct setting *match_k(const struct cmd *c, struct find_in in,
				     const struct cmd_word *w, unsigned k, enum name_kind kind,
				     struct sbuf *many)
{
	const struct setting *best = NULL;
	const char *best_name = NULL;
	unsigned best_rank = 0, told = 0;
	size_t best_len = 0;

	for (unsigned i = 0; i < c->nsettings; i++) {
		const struct setting *s = c->settings[i];
		const char *list = kind == NAMES_ALIAS ? s->alias : s->name, *name;
		size_t len;
		while (name_next(&list, &name, &len)) {
			bool dotted = memchr(name, '.', len) != NULL;
			if (name_match(name, len, w, k) == HOW_NO ||
			    (kind != NAMES_ALIAS && dotted != (kind == NAMES_DOTTED)))
				continue;
			unsigned rank = scope_rank(s->scope, in);
			bool same = best != NULL && len == best_len &&
				    strncmp(name, best_name, len) == 0;
			/* After ports without streams a shortened word may mean a setting of the
			 * port or one of its stream 0. Neither is chosen silently. */
			bool rival = !same && (rank == best_rank ||
					       (in.how == FIND_BARE && rank < 2 && best_rank < 2));
			if (best != NULL && rival) {
				if (told++ < MAX_TOLD)
					sbuf_addf(many, ", %.*s", (int)len, name);
			} else if (best == NULL || rank < best_rank) {
				best = s;
				best_rank = rank;
				best_name = name;
				best_len = len;
				if (!same || told == 0) {
					told = 0;
					sbuf_reset(many);
					sbuf_addn(many, name, len);
				}
			}
			break;
		}
	}
	if (told > MAX_TOLD)
		sbuf_addf(many, " and %u more", told - MAX_TOLD);
	if (told == 0)
		sbuf_reset(many);
	return best;
}

/* Appends the aliases of several words that begin with this one: for "src", "src ip, src mac". */
static void names_begun(const struct cmd *c, const char *word, struct sbuf *out)
{
	size_t wn = strlen(word);

	for (unsigned i = 0; i < c->nsettings; i++) {
		const char *list = c->settings[i]->alias, *name;
		size_t len;
		while (name_next(&list, &name, &len))
			if (len > wn && strncmp(name, word, wn) == 0 && name[wn] == ' ')
				sbuf_addf(out, "%s%.*s", out->len ? ", " : "", (int)len, name);
	}
}

/* Finds the name that is nearest to what was typed: to its first two words if that name has
 * several, else to its first. Returns new memory, or NULL if no name is near enough. */
static char *setting_nearest(const struct cmd *c, const struct cmd_word *w, unsigned n)
{
	struct sbuf given = {0};
	unsigned count = 0, cap = 0;
	char **words = NULL, *near = NULL;

	for (unsigned i = 0; i < c->nsettings; i++) {
		const char *lists[] = {c->settings[i]->name, c->settings[i]->alias}, *name;
		size_t len;
		for (unsigned k = 0; k < 2; k++) {
			while (name_next(&lists[k], &name, &len)) {
				if (count == cap)
					words = xrealloc(words, (cap = cap ? cap * 2 : 64) *
									sizeof(*words));
				words[count] = xcalloc(len + 1, 1);
				memcpy(words[count++], name, len);
			}
		}
	}
	const char *found = NULL;
	sbuf_add(&given, w[0].text);
	if (n > 1) {
		sbuf_addf(&given, " %s", w[1].text);
		found = str_nearest(given.s, (const char *const *)words, count);
		if (found != NULL && strchr(found, ' ') == NULL)
			found = NULL;
	}
	if (found == NULL)
		found = str_nearest(w[0].text, (const char *const *)words, count);
	/* every setting changes something, so a name that is not much alike is no help */
	if (found != NULL) {
		unsigned d = str_distance(given.s, found), one = str_distance(w[0].text, found);
		d = one < d ? one : d;
		if (d <= 1 || (d <= 2 && found[0] == w[0].text[0]) || strpbrk(found, " .") != NULL)
			near = xstrdup(found);
	}
	for (unsigned i = 0; i < count; i++)
		free(words[i]);
	free(words);
	sbuf_free(&given);
	return near;
}

static void setting_unknown(const struct cmd *c, const struct cmd_word *w, unsigned n,
			    struct err *e)
{
	struct err why = {.col = -1};
	struct sbuf begun = {0};

	if (e == NULL)
		return;
	if (c->host.row != NULL && c->host.row(c->host.arg, w[0].text, &why) == NULL &&
	    why.text[0] != '\0') {
		err_at(e, EINVAL, w[0].col + (why.col > 0 ? why.col : 0),
		       "no setting \"%.40s\": %s", w[0].text, why.text);
		return;
	}
	if (w[0].text[0] != '\0')
		names_begun(c, w[0].text, &begun);
	if (begun.len > 0) {
		err_at(e, EINVAL, w[0].col, "no setting \"%.40s\" by itself; there is %s",
		       w[0].text, begun.s);
	} else {
		bool from0 = strstr(w[0].text, "[0]") != NULL; /* ipv4[0].src */
		char *near = w[0].text[0] != '\0' ? setting_nearest(c, w, n) : NULL;
		if (near != NULL)
			err_at(e, EINVAL, w[0].col,
			       "no setting \"%.40s\", did you mean \"%s\"? %s\"help\" lists all",
			       w[0].text, near, from0 ? "(headers of a kind count from 1) " : "");
		else
			err_at(e, EINVAL, w[0].col, "no setting \"%.40s\"; \"help\" lists all",
			       w[0].text);
		free(near);
	}
	sbuf_free(&begun);
}

/* Finds the row whose name is exactly the first words, as many of them as possible. A name goes
 * before an alias, then the rank of the scope decides. */
static const struct setting *match_exact(const struct cmd *c, struct find_in in,
					 const struct cmd_word *w, unsigned n, unsigned *used)
{
	for (unsigned k = n < NAME_MAX_WORDS ? n : NAME_MAX_WORDS; k > 0; k--) {
		const struct setting *best = NULL;
		unsigned best_rank = 0;
		for (const struct name *e = names_find(&c->setting_names, w, k); e != NULL;
		     e = names_more(&c->setting_names, e, w)) {
			const struct setting *s = c->settings[e->row];
			unsigned rank = e->alias * (FIND_FAR + 1u) + scope_rank(s->scope, in);
			if (best == NULL || rank < best_rank) {
				best = s;
				best_rank = rank;
			}
		}
		if (best != NULL) {
			*used = k;
			return best;
		}
	}
	return NULL;
}

const struct setting *setting_match(const struct cmd *c, struct find_in in,
				    const struct cmd_word *w, unsigned n, unsigned *used,
				    struct err *e)
{
	struct sbuf many = {0};
	const struct setting *s = match_exact(c, in, w, n, used);

	if (s == NULL && c->host.row != NULL) {
		*used = 1;
		s = c->host.row(c->host.arg, w[0].text, NULL);
	}
	if (s != NULL)
		return s;
	for (unsigned k = n < NAME_MAX_WORDS ? n : NAME_MAX_WORDS; k > 0; k--) {
		for (int kind = 0; kind < NAMES_KINDS; kind++) {
			s = match_k(c, in, w, k, (enum name_kind)kind, &many);
			if (s == NULL)
				continue;
			*used = k;
			if (many.len > 0) {
				err_at(e, EINVAL, w[0].col, "\"%.40s\" is ambiguous: %s", w[0].text,
				       many.s);
				s = NULL;
			}
			sbuf_free(&many);
			return s;
		}
	}
	sbuf_free(&many);
	setting_unknown(c, w, n, e);
	return NULL;
}

/* Says how a row is set, for one that was named without the objects that it belongs to. */
static int setting_of_whom(const struct setting *s, int col, struct err *e)
{
	struct sbuf before = {0}, word = {0};

	/* Of a bare scope a port alone means object 0, so ports are enough. */
	if (scope_is_kind(s->scope))
		scope_before(s->scope, &before);
	else
		sbuf_add(&before, "<ports> ");
	cmd_scope_word(s->scope, &word);
	int rc =
		err_at(e, EINVAL, col,
		       "%s belongs to a %s; write: set %s%s <value>, for example set 0%s%s%s %s %s",
		       s->name, s->scope->name, before.s, s->name, word.len > 0 ? "/" : "",
		       sbuf_str(&word), word.len > 0 ? "0" : "", s->name,
		       s->dflt != NULL ? s->dflt : "...");
	sbuf_free(&before);
	sbuf_free(&word);
	return rc;
}

/* Says that a row does not belong to the objects that stand before it. */
static int setting_of_others(const struct setting *s, const char *what, int col, struct err *e)
{
	return err_at(e, EINVAL, col,
		      "%s belongs to a %s, not to its %ss; name the %ss alone: set 0 %s ...",
		      s->name, s->scope->name, what, s->scope->name, s->name);
}

int setting_fits(const struct setting *s, struct find_in in, int col, struct err *e)
{
	const struct cmd_scope *scope = s->scope;

	if (in.how == FIND_ANY)
		return 0;
	if (scope->level == LEVEL_PROGRAM && in.how != FIND_GLOBAL)
		return err_at(e, EINVAL, col, "%s belongs to no port; write: set %s <value>",
			      s->name, s->name);
	if (scope_is_kind(scope) ? scope_rank(scope, in) != 0
				 : scope->level != LEVEL_PROGRAM && in.how == FIND_GLOBAL &&
					   !(s->flags & SET_WHERE_IT_FITS))
		return setting_of_whom(s, col, e);
	if (scope->level == LEVEL_PORT && in.how == FIND_STREAMS)
		return setting_of_others(s, "stream", col, e);
	if (!scope_is_kind(scope) && in.how == FIND_KIND)
		return setting_of_others(s, in.kind, col, e);
	return 0;
}

int setting_later(const struct setting *s, struct err *e)
{
	if (s->flags & SET_LATER)
		return err_set(e, ENOTSUP, "%s: " CMD_LATER, s->name);
	return 0;
}

const struct setting *cmd_setting_find(const struct cmd *c, const char *name, struct err *e)
{
	struct line_words l;
	const struct setting *s = NULL;
	unsigned used = 0;

	if (line_split(name, &l, e) != 0)
		return NULL;
	if (l.n == 0)
		err_set(e, EINVAL, "a setting's name is wanted; \"help\" lists all");
	else
		s = setting_match(c, (struct find_in){.how = FIND_ANY}, l.w, l.n, &used, e);
	if (s != NULL && used < l.n) {
		s = NULL;
		setting_unknown(c, l.w, l.n, e);
	}
	line_free(&l);
	return s;
}

const struct setting *cmd_setting_for(const struct cmd *c, const struct target *t, const char *name,
				      struct err *e)
{
	struct find_in in = find_in_targets(t);
	const struct setting *s = NULL;
	struct line_words l;
	unsigned used = 0;

	if (line_split(name, &l, e) != 0)
		return NULL;
	if (l.n > 0)
		s = match_exact(c, in, l.w, l.n, &used);
	if (s == NULL && l.n == 1 && c->host.row != NULL) {
		used = 1;
		s = c->host.row(c->host.arg, l.w[0].text, NULL);
	}
	if (l.n == 0)
		err_set(e, EINVAL, "a setting's name is wanted; \"help\" lists all");
	else if (s == NULL || used < l.n)
		setting_unknown(c, l.w, l.n, e);
	else if (setting_later(s, e) == 0 && setting_fits(s, in, -1, e) == 0)
		used = 0;
	line_free(&l);
	return used == 0 ? s : NULL;
}

/* Returns how many words of w[0..n) name the verb, in full or shortened; 0: they do not. hidden:
 * its aliases count too. */
static unsigned verb_begins(const struct verb *v, bool hidden, const struct cmd_word *w, unsigned n)
{
	const char *lists[] = {v->name, hidden ? v->alias : NULL}, *name;
	size_t len;

	for (unsigned k = 0; k < 2; k++) {
		while (name_next(&lists[k], &name, &len)) {
			unsigned words = name_words(name, len);
			if (words <= n && name_match(name, len, w, words) != HOW_NO)
				return words;
		}
	}
	return 0;
}

/* Says whether two names of verbs have the same first word, as "show" and "show page" have. */
static bool same_first(const char *a, const char *b)
{
	size_t n = strcspn(a, " ");

	return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

/* Finds a verb: first among all names as they are, then among shortened names of visible verbs,
 * then among shortened names and aliases of all. Of "show" and "show page" the longer one that fits
 * is taken. If several verbs fit, the result is NULL and *many has their names. */
static const struct verb *verb_find(const struct cmd *c, const struct cmd_word *w, unsigned n,
				    unsigned *used, struct sbuf *many)
{
	for (unsigned k = n < c->verb_names.max_words ? n : c->verb_names.max_words; k > 0; k--) {
		const struct name *e = names_find(&c->verb_names, w, k);
		*used = k;
		if (e != NULL)
			return c->verbs[e->row];
	}
	for (int hidden = 0; hidden < 2; hidden++) {
		const struct verb *found = NULL;
		for (unsigned i = 0; i < c->nverbs; i++) {
			const struct verb *v = c->verbs[i];
			unsigned words = (v->flags & VERB_HIDDEN) && !hidden
						 ? 0
						 : verb_begins(v, hidden, w, n);
			if (words == 0)
				continue;
			if (found == NULL) {
				found = v;
				*used = words;
				continue;
			}
			if (same_first(found->name, v->name) && words != *used) {
				found = words > *used ? v : found;
				*used = words > *used ? words : *used;
				continue;
			}
			if (many->len == 0)
				sbuf_add(many, found->name);
			sbuf_addf(many, ", %s", v->name);
		}
		if (found != NULL)
			return many->len == 0 ? found : NULL;
	}
	return NULL;
}

static bool setting_named(const struct cmd *c, const struct cmd_word *w)
{
	for (const struct name *e = names_find(&c->setting_names, w, 1); e != NULL;
	     e = names_more(&c->setting_names, e, w))
		if (!e->alias)
			return true;
	return false;
}

void verb_seconds(const struct cmd *c, const char *word, struct sbuf *out)
{
	for (unsigned i = 0; i < c->nverbs; i++) {
		const struct verb *v = c->verbs[i];
		size_t first = strcspn(v->name, " ");
		if (v->name[first] != '\0' && word[0] != '\0' && strlen(word) <= first &&
		    word_prefix(v->name, word))
			sbuf_addf(out, "%s%s", out->len ? " | " : "", v->name + first + 1);
	}
}

/* A word with fewer letters than this is another word, and not a typo, if one of them is wrong. */
#define TYPO_LEAST 4

/* Says whether a verb may be suggested for a word; d is the distance between both. A verb that
 * changes nothing does no harm if it was not meant. Any other is suggested only for a plain typo:
 * one slip, and not in the first letter. */
static bool find_plausible(const char *word, const char *name, bool looks, unsigned d)
{
	if (looks)
		return d <= 2 && 2 * d < strlen(word);
	return d == 1 && strlen(word) >= TYPO_LEAST && word[0] == name[0];
}

/* Writes the first word of the nearest verb that may be suggested to name; false: there is none. */
static bool verb_nearest(const struct cmd *c, const char *word, char *name, size_t size)
{
	unsigned best = UINT_MAX;

	for (unsigned i = 0; i < c->nverbs; i++) {
		const struct verb *v = c->verbs[i];
		char first[64];
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(v->name, " "), v->name);
		unsigned d = str_distance(word, first);
		if (d >= best ||
		    !find_plausible(word, first, (v->flags & (VERB_LOOKS | VERB_LATER)) != 0, d))
			continue;
		best = d;
		snprintf(name, size, "%s", first);
	}
	return best != UINT_MAX;
}

/* Returns what the host answers to a word that is no command here but one elsewhere
 * (cmd_host.known); NULL: nothing. */
static const char *known_word(const struct cmd *c, const char *word)
{
	for (const struct cmd_known *k = c->host.known; k != NULL && k->words != NULL; k++) {
		const char *list = k->words, *name;
		size_t len;
		while (name_next(&list, &name, &len))
			if (strlen(word) == len && strncasecmp(word, name, len) == 0)
				return k->text;
	}
	return NULL;
}

static void verb_unknown(const struct cmd *c, const struct cmd_word *w, struct err *e)
{
	const char *known = known_word(c, w->text);
	char near[64];

	if (known != NULL)
		err_at(e, EINVAL, w->col, "no command \"%.40s\": %s", w->text, known);
	else if (verb_nearest(c, w->text, near, sizeof(near)))
		err_at(e, EINVAL, w->col,
		       "no command \"%.40s\", did you mean \"%s\"? \"help\" lists all", w->text,
		       near);
	else
		err_at(e, EINVAL, w->col, "no command \"%.40s\"; \"help\" lists all", w->text);
}

const struct verb *verb_match(const struct cmd *c, const struct cmd_word *w, unsigned n,
			      unsigned *used, struct err *e)
{
	struct sbuf many = {0}, seconds = {0};
	const struct verb *v = verb_find(c, w, n, used, &many);

	if (v != NULL || e == NULL) {
		sbuf_free(&many);
		return v;
	}
	verb_seconds(c, w->text, &seconds);
	if (many.len > 0)
		err_at(e, EINVAL, w->col, "\"%.40s\" is ambiguous: %s", w->text, many.s);
	else if (seconds.len > 0 && n > 1)
		err_at(e, EINVAL, w[1].col, "\"%.40s\" is not what \"%.40s\" can do; allowed: %s",
		       w[1].text, w->text, seconds.s);
	else if (seconds.len > 0)
		err_at(e, EINVAL, w->col + (int)strlen(w->text), "a word is missing; allowed: %s",
		       seconds.s);
	else if (setting_named(c, w))
		err_at(e, EINVAL, w->col,
		       "%s is a setting, not a command; \"help %s\" shows how it is set", w->text,
		       w->text);
	else
		verb_unknown(c, w, e);
	sbuf_free(&many);
	sbuf_free(&seconds);
	return NULL;
}
