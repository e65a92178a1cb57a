/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a stack, "eth/vlan/ipv4/udp". */
#include "frame.h"

#include <errno.h>
#include <string.h>

#define MAX_PROTOS 64
#define MAX_NAME 32

/* True if upper may follow lower; with lower NULL, if upper may be the first header of a frame. */
static bool may_follow(const struct proto *lower, const struct proto *upper)
{
	return lower == NULL ? upper->starts : proto_bind(lower, upper) != NULL;
}

static void list_allowed(const struct proto *lower, struct sbuf *out)
{
	const char *sep = "";

	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		if (may_follow(lower, *p)) {
			sbuf_addf(out, "%s%s", sep, (*p)->name);
			sep = " ";
		}
	}
	if (*sep == '\0')
		sbuf_add(out, "nothing");
}

static int unknown_name(const char *name, int col, const struct proto *lower, struct err *e)
{
	const char *names[MAX_PROTOS] = {0};
	size_t n = 0;

	for (const struct proto *const *p = proto_table; *p != NULL && n < MAX_PROTOS; p++)
		names[n++] = (*p)->name;
	const char *near = *name != '\0' ? str_nearest(name, names, n) : NULL;
	struct sbuf allowed = {0};
	list_allowed(lower, &allowed);
	if (strcmp(name, proto_probe.name) == 0)
		err_at(e, EINVAL, col,
		       "a probe is no header of the stack: `set <ports> probe on` puts one behind any");
	else if (strchr(name, ' ') != NULL)
		err_at(e, EINVAL, col + (int)strcspn(name, " "),
		       "headers are joined by \"/\", without blanks: eth/ipv4/udp");
	else if (*name == '\0')
		err_at(e, EINVAL, col, "a header name is missing here; possible here: %s",
		       sbuf_str(&allowed));
	else if (near != NULL)
		err_at(e, EINVAL, col, "unknown header \"%s\": did you mean %s? Possible here: %s",
		       name, near, sbuf_str(&allowed));
	else
		err_at(e, EINVAL, col, "unknown header \"%s\"; possible here: %s", name,
		       sbuf_str(&allowed));
	sbuf_free(&allowed);
	return -EINVAL;
}

static int not_allowed(const struct proto *lower, const struct proto *upper, int col, struct err *e)
{
	struct sbuf allowed = {0};

	list_allowed(lower, &allowed);
	if (lower == NULL)
		err_at(e, EINVAL, col, "a frame cannot start with %s; it may start with: %s",
		       upper->name, sbuf_str(&allowed));
	else if (lower->is_payload)
		err_at(e, EINVAL, col,
		       "%s cannot follow %s, which fills the rest of the frame; put %s last or leave it out",
		       upper->name, lower->name, lower->name);
	else
		err_at(e, EINVAL, col, "%s cannot follow %s; after %s may come: %s", upper->name,
		       lower->name, lower->name, sbuf_str(&allowed));
	sbuf_free(&allowed);
	return -EINVAL;
}

/* Parses a stack. *last is the last header of the text; it may be a payload, which *out does not
 * hold. */
static int stack_parse(const char *text, struct frame_stack *out, const struct proto **last,
		       struct err *e)
{
	struct frame_stack s = {0};
	const struct proto *lower = NULL;

	for (const char *at = text;;) {
		size_t len = strcspn(at, "/");
		int col = (int)(at - text);
		char name[MAX_NAME];

		if (len >= sizeof(name))
			return err_at(e, EINVAL, col,
				      "unknown header \"%.*s...\": no header has so long a name",
				      MAX_NAME - 1, at);
		memcpy(name, at, len);
		name[len] = '\0';
		const struct proto *p = proto_find(name);
		if (p == NULL)
			return unknown_name(name, col, lower, e);
		if (!may_follow(lower, p))
			return not_allowed(lower, p, col, e);
		/* A stack that can end in payload does so, whether the text says it or not. */
		if (!p->is_payload) {
			if (s.n == FRAME_MAX_HDRS)
				return err_at(
					e, EINVAL, col,
					"a frame has at most %u headers; leave out what follows here",
					FRAME_MAX_HDRS);
			s.hdr[s.n++] = p;
		}
		lower = p;
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	*out = s;
	*last = lower;
	return 0;
}

int frame_stack_parse(const char *text, struct frame_stack *out, struct err *e)
{
	const struct proto *last;

	return stack_parse(text, out, &last, e);
}

void frame_stack_print(const struct frame_stack *s, struct sbuf *out)
{
	for (unsigned i = 0; i < s->n; i++) {
		sbuf_add(out, i != 0 ? "/" : "");
		sbuf_add(out, s->hdr[i]->name);
	}
}

/* Offers base with each name that may follow lower and begins with prefix. */
static void offer_next(const struct proto *lower, const char *base, const char *prefix,
		       void (*offer)(void *arg, const char *word), void *arg)
{
	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		if (!may_follow(lower, *p) || strncmp((*p)->name, prefix, strlen(prefix)) != 0)
			continue;
		struct sbuf word = {0};
		sbuf_addf(&word, "%s%s", base, (*p)->name);
		offer(arg, sbuf_str(&word));
		sbuf_free(&word);
	}
}

void frame_stack_complete(const char *text, void (*offer)(void *arg, const char *word), void *arg)
{
	const char *slash = strrchr(text, '/');
	const char *word = slash != NULL ? slash + 1 : text;
	const struct proto *lower = NULL;
	struct frame_stack s;
	struct sbuf base = {0};

	if (slash != NULL) {
		sbuf_addn(&base, text, (size_t)(slash - text));
		int rc = stack_parse(sbuf_str(&base), &s, &lower, NULL);
		sbuf_addc(&base, '/');
		if (rc != 0)
			goto out;
	}
	offer_next(lower, sbuf_str(&base), word, offer, arg);
	/* With a whole name the text is a stack already; what may follow is offered as well. */
	if (*word != '\0' && stack_parse(text, &s, &lower, NULL) == 0) {
		sbuf_reset(&base);
		sbuf_addf(&base, "%s/", text);
		offer_next(lower, sbuf_str(&base), "", offer, arg);
	}
out:
	sbuf_free(&base);
}

uint8_t frame_stack_nth(const struct frame_stack *s, unsigned at)
{
	uint8_t n = 0;

	for (unsigned i = 0; i <= at; i++)
		n = (uint8_t)(n + (s->hdr[i] == s->hdr[at]));
	return n;
}
