/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor: what is wrong with this machine, for the ports of the program or for named devices. */
#include "examine.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1 };

struct doctor_words {
	char *v[PORTSET_MAX];
	unsigned n;
};

static void word_add(struct doctor_words *w, const char *word)
{
	if (w->n < ARRAY_SIZE(w->v))
		w->v[w->n++] = xstrdup(word);
}

static void words_split(const char *text, struct doctor_words *out)
{
	char *copy = xstrdup(text), *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		word_add(out, w);
	free(copy);
}

/* The devices of the program's ports: interfaces that the kernel drives, and NICs. */
static void words_of_ports(struct ctl *ctl, struct doctor_words *out)
{
	json_t *doc = ctl_ports_json(ctl), *port;
	size_t i;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		const char *spec = json_string_value(json_object_get(port, "spec"));
		const char *pci = json_string_value(json_object_get(port, "pci"));
		bool names = spec != NULL && doctor_names_interface(spec);
		if (names || pci != NULL)
			word_add(out, names ? spec : pci);
	}
	json_decref(doc);
}

static int doctor_say(struct cmd_run *r, const struct doctor_report *report)
{
	json_t *doc = examine_json(report);

	r->exit_code = doctor_well(report) ? 0 : EXIT_FAILED;
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &examine_view);
	cmd_result(r, doc);
	json_decref(doc);
	doctor_text(report, DOCTOR_OK, NULL, r->out);
	doctor_total(report, r->out);
	return 0;
}

static int doctor_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct doctor_words words = {{NULL}};
	struct doctor_report report;
	struct doctor_self self;

	if (args[0].given)
		words_split(args[0].text, &words);
	else
		words_of_ports(app_of(r)->ctl, &words);
	examine_now(app_of(r), &self);
	const struct doctor_ask ask = {.root = examine_root(),
				       .device = (const char *const *)words.v,
				       .ndevices = words.n,
				       .self = &self};
	int rc = doctor_examine(&ask, &report, e);
	if (rc == 0)
		rc = doctor_say(r, &report);
	else
		e->col = args[0].col;
	doctor_free(&report);
	doctor_self_free(&self);
	for (unsigned i = 0; i < words.n; i++)
		free(words.v[i]);
	return rc;
}

static const struct arg_spec args_doctor[] = {{ARG_REST, "devices", ARG_OPT}, {ARG_END}};

const struct verb verb_doctor = {
	.name = "doctor",
	.args = args_doctor,
	.run = doctor_run,
	.flags = VERB_NO_LOAD | VERB_LOOKS,
	.help = "Tell what is wrong with this machine, why it matters, and the command that mends it.\n"
		"Devices are PCI addresses and names of interfaces; without them it is about those of the\n"
		"ports, or about all that there are. Nothing is changed. Exit code 1: a warning or an\n"
		"error was found. `wirerate doctor` does it before any port is opened.",
};
