/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as text for people. */
#include "doctor.h"

#include <string.h>

#define TEXT_COLUMNS 100
#define TEXT_INDENT 9 /* the longest word for a severity, and two blanks */

const char *doctor_severity_name(enum doctor_severity s)
{
	static const char *const names[] = {"ok", "note", "warning", "error"};

	return names[s];
}

static void text_indent(unsigned n, struct sbuf *out)
{
	sbuf_addf(out, "%*s", (int)n, "");
}

/* Appends words behind `indent` columns, where the first line begins at column `at`. A line is
 * broken between words before it gets too long. */
static void text_wrap(const char *s, unsigned indent, unsigned at, struct sbuf *out)
{
	for (size_t n; *s != '\0'; s += n + strspn(s + n, " ")) {
		n = strcspn(s, " ");
		if (at > indent && at + 1 + n > TEXT_COLUMNS) {
			sbuf_addc(out, '\n');
			text_indent(indent, out);
			at = indent;
		} else if (at > indent) {
			sbuf_addc(out, ' ');
			at++;
		}
		sbuf_addn(out, s, n);
		at += (unsigned)n;
	}
	sbuf_addc(out, '\n');
}

static void text_finding(const struct doctor_finding *f, unsigned indent,
			 const struct doctor_style *style, struct sbuf *out)
{
	const char *name = doctor_severity_name(f->severity), *on = NULL, *off = NULL;
	struct sbuf first = {0};

	if (style != NULL && style->on[f->severity] != NULL) {
		on = style->on[f->severity];
		off = style->off;
	}
	sbuf_addf(out, "%s%s%s", on != NULL ? on : "", name, off != NULL ? off : "");
	text_indent(TEXT_INDENT - (unsigned)strlen(name), out);
	sbuf_addf(out, "%-*s", (int)(indent - TEXT_INDENT), f->id);
	sbuf_addf(&first, "%s%s%s", f->subject, f->subject[0] != '\0' ? ": " : "", f->what);
	text_wrap(sbuf_str(&first), indent, indent, out);
	sbuf_free(&first);
	if (f->why[0] != '\0') {
		text_indent(indent, out);
		text_wrap(f->why, indent, indent, out);
	}
	/* The command stays in one line, so that it can be copied. */
	if (f->mend[0] != '\0') {
		text_indent(indent, out);
		sbuf_addf(out, "mend: %s\n", f->mend);
	}
}

void doctor_text(const struct doctor_report *r, enum doctor_severity least,
		 const struct doctor_style *style, struct sbuf *out)
{
	size_t wide = 0;

	for (unsigned i = 0; i < r->n; i++)
		if (r->finding[i].severity >= least && strlen(r->finding[i].id) > wide)
			wide = strlen(r->finding[i].id);
	for (unsigned i = 0; i < r->n; i++)
		if (r->finding[i].severity >= least)
			text_finding(&r->finding[i], TEXT_INDENT + (unsigned)wide + 2, style, out);
}

void doctor_total(const struct doctor_report *r, struct sbuf *out)
{
	const unsigned *n = r->count;

	sbuf_addf(out, "%u error%s, %u warning%s, %u note%s, %u ok\n", n[DOCTOR_ERROR],
		  n[DOCTOR_ERROR] == 1 ? "" : "s", n[DOCTOR_WARNING],
		  n[DOCTOR_WARNING] == 1 ? "" : "s", n[DOCTOR_NOTE], n[DOCTOR_NOTE] == 1 ? "" : "s",
		  n[DOCTOR_OK]);
}
