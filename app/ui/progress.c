/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "scroll.h"
#include "visible.h"

#define BAR 20
#define BAR_FROM 60 /* columns from which on there is a bar */

static void add_bar(double share, bool ascii, struct sbuf *out)
{
	int full = (int)(share * BAR + 0.5);

	for (int i = 0; i < BAR; i++)
		sbuf_add(out, ascii ? (i < full ? "#" : ".") : i < full ? "\u2501" : "\u2500");
	sbuf_addc(out, ' ');
}

/* Makes "BAR 40%, 18 s left: sent 12M of 30M frames". The end says least: where there is little
 * room, those who draw the text cut it off there. */
static void progress_describe(const struct cmd_progress *p, int cols, bool ascii, struct sbuf *out)
{
	bool share = !isnan(p->share), left = p->left_ns != CMD_LEFT_UNKNOWN;

	if (share && cols >= BAR_FROM)
		add_bar(p->share, ascii, out);
	if (share)
		sbuf_addf(out, "%d%%", (int)(p->share * 100)); /* 100% only when it is done */
	if (left) {
		sbuf_add(out, share ? ", " : "");
		cmd_progress_span(p->left_ns, out);
		sbuf_add(out, " left");
	}
	if (p->text[0] != '\0') {
		sbuf_add(out, share || left ? ": " : "");
		visible_add(out, p->text, strlen(p->text));
	}
	/* A script may say several lines. They are shown on one row. */
	for (size_t i = 0; i < out->len; i++)
		if (out->s[i] == '\n' || out->s[i] == '\t')
			out->s[i] = ' ';
}

size_t progress_fit(const wchar_t *text, int cols)
{
	size_t n = 0;
	int used = 0;

	while (text[n] != L'\0' && used + scroll_columns(text[n]) <= cols)
		used += scroll_columns(text[n++]);
	return n;
}

bool progress_look(struct progress *v, struct sess *s, int cols, bool ascii)
{
	struct cmd_progress p;
	struct sbuf text = {0};
	bool busy = sess_busy(s), had = v->found && busy == v->busy;
	wchar_t *old = v->text;
	unsigned len;

	v->found = sess_progress(s, &p);
	v->busy = busy;
	v->text = NULL;
	if (v->found && (had || old != NULL)) {
		progress_describe(&p, cols, ascii, &text);
		v->text = scroll_wide(sbuf_str(&text), text.len, &len);
		sbuf_free(&text);
	}
	bool same = old == NULL || v->text == NULL ? old == v->text : wcscmp(old, v->text) == 0;
	free(old);
	return !same;
}

bool progress_over(const struct progress *v, const struct sess *s)
{
	return v->text != NULL && sess_busy(s) != v->busy;
}

void progress_drop(struct progress *v)
{
	free(v->text);
	*v = (struct progress){0};
}
