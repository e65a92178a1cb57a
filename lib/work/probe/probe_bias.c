/* SPDX-License-Identifier: BSD-3-Clause */
/* The file in which the results of `calibrate` are kept from run to run: see probe_app.h. */
#include "probe_app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "log.h"
#include "probe.h"

#define FILE_NAME "calibration.json"

static void host_name(char *out, size_t size)
{
	if (gethostname(out, size) != 0)
		out[0] = '\0';
	out[size - 1] = '\0';
}

/* The list of results in the file; [] if there is none. A new reference. */
static json_t *read_list(const char *path)
{
	struct sbuf text = {0};
	struct err e;
	json_t *list = NULL, *doc = NULL;

	if (access(path, F_OK) == 0 && file_read_text(path, &text, &e) < 0)
		log_msg(LOG_LVL_WARN, "what calibrate kept cannot be read: %s", e.text);
	else if (text.len > 0 && (doc = json_loads(text.s, 0, NULL)) == NULL)
		log_msg(LOG_LVL_WARN,
			"what calibrate kept in '%s' is no JSON; `calibrate` writes it anew", path);
	if (json_is_array(json_object_get(doc, "calibrations")))
		list = json_incref(json_object_get(doc, "calibrations"));
	json_decref(doc);
	sbuf_free(&text);
	return list != NULL ? list : json_array();
}

/* Is this member of o that text? */
static bool bias_names(const json_t *o, const char *key, const char *text)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL && strcmp(s, text) == 0;
}

/* The port that has the name in this member of o; -1: none. */
static int port_named(const struct app *app, const json_t *o, const char *key)
{
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (bias_names(o, key, ctl_port_name(app->ctl, p)))
			return (int)p;
	return -1;
}

static uint64_t bias_number(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? (uint64_t)v : 0;
}

void probe_bias_load(const struct app *app)
{
	char *path = file_state_path(FILE_NAME), host[256];
	json_t *list = path != NULL ? read_list(path) : json_array(), *o;
	size_t i;

	host_name(host, sizeof(host));
	json_array_foreach(list, i, o) {
		int tx = port_named(app, o, "tx"), rx = port_named(app, o, "rx");
		enum probe_clock clock =
			bias_names(o, "clock", probe_clock_word(PROBE_NIC))        ? PROBE_NIC
			: bias_names(o, "clock", probe_clock_word(PROBE_SOFTWARE)) ? PROBE_SOFTWARE
										   : PROBE_CLOCKS;
		struct probe_bias b = {.known = true,
				       .clock = clock,
				       .median_ns = bias_number(o, "median_ns"),
				       .min_ns = bias_number(o, "min_ns"),
				       .frames = bias_number(o, "frames"),
				       .wall_ns = bias_number(o, "wall_ns")};
		if (bias_names(o, "host", host) && tx >= 0 && rx >= 0 && b.frames > 0 &&
		    clock != PROBE_CLOCKS)
			probe_bias_set(app->ctl, (unsigned)tx, (unsigned)rx, &b);
	}
	json_decref(list);
	free(path);
}

/* Puts what control knows of these ports and this clock into the list. It replaces what was kept of
 * the same ports and clock, and what was kept of the same ports without a clock. */
static void bias_keep(const struct app *app, json_t *list, const char *host, unsigned tx,
		      unsigned rx, enum probe_clock clock)
{
	struct probe_bias b = probe_bias(app->ctl, (int)tx, rx, clock);
	const char *from = ctl_port_name(app->ctl, tx), *to = ctl_port_name(app->ctl, rx),
		   *word = probe_clock_word(clock);

	if (!b.known)
		return;
	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *o = json_array_get(list, i);
		bool clocks = bias_names(o, "clock", word) || json_object_get(o, "clock") == NULL;
		if (bias_names(o, "host", host) && bias_names(o, "tx", from) &&
		    bias_names(o, "rx", to) && clocks)
			json_array_remove(list, i);
	}
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "host",
					      host, "tx", from, "rx", to, "clock", word,
					      "median_ns", (json_int_t)b.median_ns, "min_ns",
					      (json_int_t)b.min_ns, "frames", (json_int_t)b.frames,
					      "wall_ns", (json_int_t)b.wall_ns));
}

void probe_bias_save(const struct app *app)
{
	char *path = file_state_path(FILE_NAME), host[256];
	json_t *list;
	struct err e;

	if (path == NULL)
		return;
	list = read_list(path);
	host_name(host, sizeof(host));
	for (unsigned tx = 0; tx < ctl_nports(app->ctl); tx++)
		for (unsigned rx = 0; rx < ctl_nports(app->ctl); rx++)
			for (unsigned clock = 0; clock < PROBE_CLOCKS; clock++)
				bias_keep(app, list, host, tx, rx, (enum probe_clock)clock);
	json_t *doc = json_pack("{s:o}", "calibrations", list);
	char *text = json_dumps(doc, JSON_INDENT(1));
	int rc = file_make_parents(path);
	if (rc < 0)
		log_msg(LOG_LVL_WARN, "what was measured is not kept: '%s': %s", path,
			strerror(-rc));
	else if (text != NULL && file_replace(path, text, strlen(text), &e) < 0)
		log_msg(LOG_LVL_WARN, "what was measured is not kept: %s", e.text);
	free(text);
	json_decref(doc);
	free(path);
}
