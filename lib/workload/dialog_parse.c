/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the text of a dialog: 'send 100, recv 1k, think 5ms, x3', '(send 1, recv 1) x9, close'. */
#include <errno.h>
#include <string.h>
#include "value.h"
#include "workload.h"

#define SYNTAX \
	"steps are send BYTES, recv BYTES, think TIME and close, with commas between them; " \
	"(...) xN repeats some, xN at the end repeats all"
/* What one connection can remember of messages that are not acknowledged yet. */
#define DIALOG_BYTES_MAX (1u << 29)

struct dialog_text {
	const char *text;
	size_t at;
	struct wl_dialog_conf *conf;
	struct err *e;
	bool grouped; /* the last run is a group */
};

static const char *const dialog_words[] = {"send", "recv", "think", "close"};

static char dialog_peek(struct dialog_text *d)
{
	while (d->text[d->at] == ' ' || d->text[d->at] == '\t')
		d->at++;
	return d->text[d->at];
}

static int dialog_fail(const struct dialog_text *d, const char *why)
{
	return err_at(d->e, EINVAL, (int)d->at, "dialog: %s; " SYNTAX, why);
}

/* The word that begins here, of at most 39 bytes. */
static size_t dialog_word(struct dialog_text *d, char word[40])
{
	size_t n;

	dialog_peek(d);
	n = strcspn(d->text + d->at, " \t,()");
	if (n > 39)
		n = 39;
	memcpy(word, d->text + d->at, n);
	word[n] = '\0';
	return n;
}

/* A value of a type, in the words of the type if it is none. */
static int dialog_value(struct dialog_text *d, const struct vspec *spec, const char *what,
			size_t skip, uint64_t *out)
{
	char word[40];
	struct err why;
	size_t n = dialog_word(d, word);

	if (n <= skip)
		return err_at(d->e, EINVAL, (int)d->at, "dialog: %s is missing here; " SYNTAX,
			      what);
	if (spec->type->parse(spec, word + skip, out, &why) != 0)
		return err_at(d->e, EINVAL, (int)(d->at + skip + (why.col > 0 ? why.col : 0)),
			      "dialog: %s: %s", what, why.text);
	d->at += n;
	return 0;
}

static int dialog_step(struct dialog_text *d)
{
	static const struct vspec bytes = {.type = &vt_uint, .min = 1, .max = DIALOG_BYTES_MAX};
	static const struct vspec pause = {.type = &vt_duration, .min = 1, .max = WL_PAUSE_MAX_NS};
	struct wl_dialog_conf *c = d->conf;
	struct wl_dialog_step *s = &c->step[c->nstep];
	char word[40];
	size_t n = dialog_word(d, word);
	unsigned kind = 0;
	int rc = 0;

	while (kind < ARRAY_SIZE(dialog_words) && strcmp(word, dialog_words[kind]) != 0)
		kind++;
	if (kind == ARRAY_SIZE(dialog_words))
		return dialog_fail(d, n == 0 ? "a step is missing here" : "this is no step");
	if (c->nstep > 0 && s[-1].kind == WL_DIALOG_CLOSE)
		return dialog_fail(d, "nothing comes behind close");
	if (c->nstep == WL_DIALOG_STEPS)
		return err_at(d->e, ERANGE, (int)d->at, "dialog: more than %u steps: repeat some",
			      WL_DIALOG_STEPS);
	d->at += n;
	*s = (struct wl_dialog_step){.kind = (uint8_t)kind};
	if (kind == WL_DIALOG_THINK)
		rc = dialog_value(d, &pause, "the time of think", 0, &s->n);
	else if (kind != WL_DIALOG_CLOSE)
		rc = dialog_value(d, &bytes, "the number of bytes", 0, &s->n);
	c->nstep += rc == 0;
	return rc;
}

/* xN */
static bool dialog_is_times(struct dialog_text *d)
{
	char c = dialog_peek(d), next = d->text[d->at + (c != '\0')];

	return c == 'x' && next >= '0' && next <= '9';
}
static int dialog_times(struct dialog_text *d, uint32_t *times)
{
	static const struct vspec spec = {.type = &vt_uint, .min = 1, .max = UINT32_MAX};
	size_t at = d->at;
	uint64_t v = 0;
	int rc = dialog_value(d, &spec, "the repetitions behind x", 1, &v);

	*times = (uint32_t)v;
	if (rc == 0 && v > 1 && d->conf->nstep > 0 &&
	    d->conf->step[d->conf->nstep - 1].kind == WL_DIALOG_CLOSE) {
		d->at = at;
		return dialog_fail(d, "what ends with close cannot be repeated");
	}
	return rc;
}

static struct wl_dialog_run *dialog_new_run(struct dialog_text *d)
{
	struct wl_dialog_run *r = &d->conf->run[d->conf->nrun++];

	*r = (struct wl_dialog_run){.first = d->conf->nstep, .times = 1};
	return r;
}

/* Behind the opening parenthesis. */
static int dialog_group(struct dialog_text *d)
{
	struct wl_dialog_run *r;
	int rc;

	if (d->conf->nstep == WL_DIALOG_STEPS)
		return dialog_step(d);
	r = dialog_new_run(d);
	d->grouped = true;
	for (;;) {
		if (dialog_peek(d) == '(')
			return dialog_fail(d, "a group in a group is not possible");
		rc = dialog_step(d);
		if (rc != 0)
			return rc;
		r->steps++;
		if (dialog_peek(d) == ')')
			break;
		if (dialog_peek(d) != ',')
			return dialog_fail(d, "a comma or ) is missing here");
		d->at++;
	}
	d->at++;
	return dialog_is_times(d) ? dialog_times(d, &r->times) : 0;
}

static int dialog_plain(struct dialog_text *d)
{
	struct wl_dialog_conf *c = d->conf;
	bool fresh = c->nrun == 0 || d->grouped;
	uint8_t first = c->nstep;
	int rc = dialog_step(d);

	if (rc != 0)
		return rc;
	if (fresh) {
		c->nstep = first; /* the run begins with this step */
		dialog_new_run(d);
		c->nstep++;
	}
	d->grouped = false;
	c->run[c->nrun - 1].steps++;
	return 0;
}

static int dialog_items(struct dialog_text *d)
{
	int rc;

	for (;;) {
		if (d->conf->nstep > 0 && dialog_is_times(d)) {
			rc = dialog_times(d, &d->conf->times);
			if (rc == 0 && dialog_peek(d) != '\0')
				return dialog_fail(d, "xN of all is the last word");
			return rc;
		}
		if (dialog_peek(d) == '(') {
			d->at++;
			rc = dialog_group(d);
		} else {
			rc = dialog_plain(d);
		}
		if (rc != 0)
			return rc;
		if (dialog_peek(d) == '\0')
			return 0;
		if (dialog_peek(d) != ',')
			return dialog_fail(d, "a comma is missing here");
		d->at++;
	}
}

/* Who does the next step that is no pause: 1: the server, which sends; 0: the client; -1: there is
 * none among these. */
static int dialog_next(const struct wl_dialog_conf *c, unsigned from, unsigned to)
{
	for (; from < to; from++) {
		if (c->step[from].kind != WL_DIALOG_THINK)
			return c->step[from].kind == WL_DIALOG_RECV;
	}
	return -1;
}

/* When a pause is the server's. */
static unsigned dialog_thinks(const struct wl_dialog_conf *c, unsigned step)
{
	const struct wl_dialog_run *r = &c->run[c->step[step].run];
	int again = dialog_next(c, step + 1, r->first + r->steps);
	int on = dialog_next(c, step + 1, c->nstep), end = on;

	if (again < 0)
		again = dialog_next(c, r->first, step);
	if (on < 0)
		on = dialog_next(c, 0, step);
	return (again > 0 ? WL_DIALOG_AGAIN : 0) | (on > 0 ? WL_DIALOG_ON : 0) |
	       (end > 0 ? WL_DIALOG_END : 0);
}

/* What follows from the steps. */
static int dialog_finish(struct dialog_text *d)
{
	struct wl_dialog_conf *c = d->conf;
	bool any = false;

	for (unsigned i = 0; i < c->nrun; i++) {
		struct wl_dialog_run *r = &c->run[i];
		int last = -1;

		for (int k = r->first; k < r->first + r->steps; k++) {
			struct wl_dialog_step *s = &c->step[k];

			s->run = (uint8_t)i;
			if (s->kind == WL_DIALOG_THINK)
				s->server = (uint8_t)dialog_thinks(c, (unsigned)k);
			else if (s->kind != WL_DIALOG_CLOSE)
				last = k;
		}
		c->step[r->first + r->steps - 1].last = true;
		r->transaction = last >= 0;
		any = any || last >= 0;
		if (last >= 0)
			c->step[last].done = true;
		else if (r->times > 1)
			return err_at(d->e, EINVAL, 0,
				      "dialog: a group that is repeated needs a send or recv");
	}
	if (!any)
		return err_at(d->e, EINVAL, 0, "dialog: there is no send and no recv; " SYNTAX);
	return 0;
}

int wl_dialog_parse(const char *text, struct wl_dialog_conf *out, struct err *e)
{
	struct wl_dialog_conf c = {.times = 1, .close = out->close, .content = out->content};
	struct dialog_text d = {.text = text, .conf = &c, .e = e};
	int rc = dialog_items(&d);

	if (rc == 0)
		rc = dialog_finish(&d);
	if (rc == 0)
		*out = c;
	return rc;
}

static void dialog_print_run(const struct wl_dialog_conf *c, const struct wl_dialog_run *r,
			     struct sbuf *out)
{
	static const struct vspec bytes = {.type = &vt_uint}, pause = {.type = &vt_duration};

	for (unsigned i = r->first; i < r->first + (unsigned)r->steps; i++) {
		const struct wl_dialog_step *s = &c->step[i];

		sbuf_add(out, i == r->first ? "" : ", ");
		sbuf_add(out, dialog_words[s->kind]);
		if (s->kind == WL_DIALOG_CLOSE)
			continue;
		sbuf_addc(out, ' ');
		if (s->kind == WL_DIALOG_THINK)
			vt_duration.print(&pause, &s->n, out);
		else
			vt_uint.print(&bytes, &s->n, out);
	}
}

void wl_dialog_print(const struct wl_dialog_conf *c, struct sbuf *out)
{
	bool plain = false;

	for (unsigned i = 0; i < c->nrun; i++) {
		sbuf_add(out, i == 0 ? "" : ", ");
		/* two runs without parentheses would be one */
		plain = !plain && c->run[i].times == 1;
		sbuf_add(out, plain ? "" : "(");
		dialog_print_run(c, &c->run[i], out);
		if (!plain)
			sbuf_addf(out, ") x%u", c->run[i].times);
	}
	if (c->times > 1)
		sbuf_addf(out, ", x%u", c->times);
}
