/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins lines of a note: what is said about many ports in the same words is said once, as in
 * "ports 0-7: ..." or "warning: streams 0-7/3: ...". */
#include "cmd_impl.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A line is compared with this many lines before it. Without this bound a note of thousands of
 * lines would take long. */
#define LOOK_BACK 64

struct line {
	const char *text;
	size_t len;
	/* warning: it begins with "warning: ". merged: its port was added to a line before it, and
	 * it is not printed. */
	bool warning, merged;
	const char *of, *rest; /* what follows the port: "/3" or nothing, then ": ..." */
	uint32_t *port;        /* its n ports; NULL: the line is not about a port */
	unsigned n;
};

static bool notes_skip(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Reads a line that says something about a port: "port 0: ...", "stream 0/3: ..." or
 * "streams 0/3-5: ...", each also after "warning: ". */
static void read_line(struct line *l)
{
	const char *p = l->text, *end = l->text + l->len;
	char *after;

	l->warning = notes_skip(&p, "warning: ");
	if ((!notes_skip(&p, "port ") && !notes_skip(&p, "stream ") &&
	     !notes_skip(&p, "streams ")) ||
	    !isdigit((unsigned char)*p))
		return;
	unsigned long port = strtoul(p, &after, 10);
	l->of = l->rest = after;
	if (*after == '/')
		l->rest += 1 + strspn(after + 1, "0123456789-");
	if (port > UINT32_MAX || l->rest + 1 >= end || l->rest[0] != ':' || l->rest[1] != ' ')
		return;
	l->port = xcalloc(1, sizeof(*l->port));
	l->port[0] = (uint32_t)port;
	l->n = 1;
}

static bool notes_alike(const struct line *a, const struct line *b)
{
	size_t n = (size_t)(a->text + a->len - a->of);

	return a->port != NULL && a->warning == b->warning &&
	       (size_t)(b->text + b->len - b->of) == n && memcmp(a->of, b->of, n) == 0 &&
	       (a->text[a->warning ? 9 : 0] == b->text[b->warning ? 9 : 0]);
}

static void notes_put(const struct line *l, struct sbuf *out)
{
	if (l->n <= 1) {
		sbuf_addn(out, l->text, l->len);
		return;
	}
	sbuf_addf(out, "%s%s ", l->warning ? "warning: " : "",
		  l->of == l->rest ? "ports" : "streams");
	for (unsigned i = 0, last; i < l->n; i = last + 1) {
		last = i;
		while (last + 1 < l->n && l->port[last + 1] == l->port[last] + 1)
			last++;
		sbuf_addf(out, "%s%" PRIu32, i > 0 ? "," : "", l->port[i]);
		if (last > i)
			sbuf_addf(out, "-%" PRIu32, l->port[last]);
	}
	sbuf_addn(out, l->of, (size_t)(l->text + l->len - l->of));
}

void notes_group(struct sbuf *note, size_t from)
{
	struct line *all = NULL;
	struct sbuf out = {0};
	unsigned n = 0;

	if (note->len <= from)
		return;
	for (const char *p = note->s + from; *p != '\0';) {
		if ((n & (n - 1)) == 0)
			all = xrealloc(all, (n > 0 ? n * 2 : 1) * sizeof(*all));
		size_t len = strcspn(p, "\n");
		struct line *l = &all[n++];
		*l = (struct line){.text = p, .len = len + (p[len] == '\n')};
		read_line(l);
		p += l->len;
		for (unsigned i = n - 1; l->port != NULL && i > 0 && n - i <= LOOK_BACK; i--) {
			struct line *before = &all[i - 1];
			if (before->merged || before->port == NULL || !notes_alike(before, l))
				continue;
			before->port =
				xrealloc(before->port, (before->n + 1) * sizeof(*before->port));
			before->port[before->n++] = l->port[0];
			l->merged = true;
			break;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (!all[i].merged)
			notes_put(&all[i], &out);
		free(all[i].port);
	}
	free(all);
	note->len = from;
	note->s[from] = '\0';
	sbuf_addn(note, sbuf_str(&out), out.len);
	sbuf_free(&out);
}
