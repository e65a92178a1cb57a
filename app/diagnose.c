/* SPDX-License-Identifier: BSD-3-Clause */
#include "diagnose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alone.h"
#include "examine.h"
#include "out.h"
#include "ui/tty.h"
#include "visible.h"

enum { EXIT_FOUND = 1, EXIT_USAGE = 2, EXIT_LACKING = 3 };

/* Adds the value of EAL's option -a if it is the address of a PCI device. Other buses have names of
 * their own, such as auxiliary:mlx5_core.sf.4, of which nothing is known here. */
static void line_allowed(const char **list, unsigned *n, const char *value)
{
	if (doctor_is_address(value))
		list[(*n)++] = value;
}

/* The devices that the command line names, in port specs and in EAL's option -a. */
static const char **line_devices(const struct args *a, unsigned *n)
{
	const char **list = xcalloc(a->nports + a->neal + 1, sizeof(*list));

	*n = 0;
	for (unsigned i = 0; i < a->nports; i++)
		list[(*n)++] = a->port[i];
	for (unsigned i = 0; i < a->neal; i++) {
		const char *o = a->eal[i];
		if ((strcmp(o, "-a") == 0 || strcmp(o, "--allow") == 0) && i + 1 < a->neal)
			line_allowed(list, n, a->eal[++i]);
		else if (strncmp(o, "-a", 2) == 0 && o[2] != '\0')
			line_allowed(list, n, o + 2);
		else if (strncmp(o, "--allow=", 8) == 0)
			line_allowed(list, n, o + 8);
	}
	return list;
}

/* Examines the devices that were named behind `doctor`, else those of the options. cores: the map
 * of -m is judged too, which cannot be when EAL has run, because it pins this thread to one CPU. */
static int diagnose_line(const struct args *a, bool cores, struct doctor_report *out, struct err *e)
{
	const struct examine_line line = {.maps = a->map,
					  .nmaps = cores ? a->nmaps : 0,
					  .eal = a->eal,
					  .neal = a->neal};
	struct doctor_self self;
	unsigned n;

	*out = (struct doctor_report){0};
	int rc = examine_before(&line, &self, e);
	if (rc < 0)
		return rc;
	const char **options = line_devices(a, &n);
	bool named = a->ndoctor > 0;
	const struct doctor_ask ask = {.root = examine_root(),
				       .device = named ? (const char *const *)a->doctor : options,
				       .ndevices = named ? a->ndoctor : n,
				       .self = &self};
	rc = doctor_examine(&ask, out, e);
	free(options);
	doctor_self_free(&self);
	return rc;
}

/* Appends the report in the form that the options ask for. */
static void diagnose_print(const struct args *a, const struct doctor_report *r, struct sbuf *out)
{
	struct tty_caps caps;

	if (a->out_mode != OUT_TEXT) {
		json_t *doc = examine_json(r);
		out_write((enum out_mode)a->out_mode, doc, &examine_view, out);
		json_decref(doc);
		return;
	}
	bool color = a->color == COLOR_ALWAYS ||
		     (a->color == COLOR_AUTO && tty_wants_color(STDOUT_FILENO));
	tty_caps(&caps, STDOUT_FILENO);
	const struct doctor_style style = {
		.on = {[DOCTOR_WARNING] = caps.bold, [DOCTOR_ERROR] = caps.red},
		.off = caps.normal};
	doctor_text(r, DOCTOR_OK, color ? &style : NULL, out);
	doctor_total(r, out);
	tty_caps_free(&caps);
}

int diagnose_run(const struct args *a)
{
	struct doctor_report r;
	struct sbuf out = {0};
	struct err e;

	if (diagnose_line(a, true, &r, &e) < 0) {
		visible_print(stderr, "wirerate: %s\n", e.text);
		return EXIT_USAGE;
	}
	diagnose_print(a, &r, &out);
	int code = doctor_well(&r) ? 0 : EXIT_FOUND;
	if (!alone_print("wirerate", sbuf_str(&out)))
		code = EXIT_LACKING;
	sbuf_free(&out);
	doctor_free(&r);
	return code;
}

/* Is there an error besides devices that are not there? The message of the start has named
 * these. */
static bool tells_more(const struct doctor_report *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->finding[i].severity == DOCTOR_ERROR &&
		    strcmp(r->finding[i].id, "devices") != 0)
			return true;
	return false;
}

void diagnose_start(const struct args *a)
{
	struct doctor_report r;
	struct sbuf out = {0};
	struct err e;

	if (diagnose_line(a, false, &r, &e) < 0)
		return;
	if (tells_more(&r)) {
		doctor_text(&r, DOCTOR_ERROR, NULL, &out);
		visible_print(stderr, "`wirerate doctor` finds:\n%s", sbuf_str(&out));
	}
	sbuf_free(&out);
	doctor_free(&r);
}
