/* SPDX-License-Identifier: BSD-3-Clause */
#include "examine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame_run.h"
#include "place.h"

#define QUEUES_MAX 64 /* a map may ask for as many on each side; devices are not known yet */

/* The lcores of EAL, as far as the command line tells them. */
struct lcores {
	struct place_lcore v[PLACE_MAX_LCORES]; /* workers, ascending */
	unsigned n;
	unsigned control;
	int control_cpu;
};

static void lcores_add(struct lcores *l, unsigned lcore, int cpu)
{
	if (l->control_cpu < 0) {
		l->control = lcore;
		l->control_cpu = cpu;
	} else if (l->n < PLACE_MAX_LCORES) {
		l->v[l->n++] = (struct place_lcore){.lcore = lcore, .cpu = cpu, .node = -1};
	}
}

/* Reads the value of EAL's -l, "0-3,8": lcores that have the numbers of their CPUs. The lowest one
 * is control. */
static bool lcores_listed(const char *list, struct lcores *out)
{
	bool has[PLACE_MAX_LCORES] = {false};
	const char *at = list;
	char *end;

	for (;;) {
		unsigned long from = strtoul(at, &end, 10), to = from;
		if (end == at || *at == '-')
			return false;
		if (*end == '-') {
			at = end + 1;
			to = strtoul(at, &end, 10);
			if (end == at)
				return false;
		}
		if (from > to || to >= PLACE_MAX_LCORES)
			return false;
		for (unsigned long i = from; i <= to; i++)
			has[i] = true;
		if (*end != ',')
			break;
		at = end + 1;
	}
	for (unsigned i = 0; i < PLACE_MAX_LCORES; i++)
		if (has[i])
			lcores_add(out, i, (int)i);
	return *end == '\0' && out->n > 0;
}

static void lcores_usual(const struct doctor_self *self, struct lcores *out)
{
	int cpu[PLACE_USUAL_LCORES];
	unsigned n = place_usual(self->cpu, self->ncpus, cpu);

	for (unsigned i = 0; i < n; i++)
		lcores_add(out, i, cpu[i]);
}

/* Finds the lcores. false: EAL's options say something about them that is not read here. */
static bool lcores_find(const struct examine_line *line, const struct doctor_self *self,
			struct lcores *out)
{
	static const char main_lcore[] = "--main-lcore";
	const char *list = NULL;

	*out = (struct lcores){.control_cpu = -1};
	for (unsigned i = 0; i < line->neal; i++) {
		const char *a = line->eal[i];
		bool is_list = strncmp(a, "-l", 2) == 0;
		if ((place_is_lcore_option(a) && !is_list) ||
		    strncmp(a, main_lcore, strlen(main_lcore)) == 0)
			return false;
		if (strcmp(a, "-l") == 0 && i + 1 < line->neal)
			list = line->eal[++i];
		else if (is_list)
			list = a + 2;
	}
	if (list != NULL)
		return lcores_listed(list, out);
	lcores_usual(self, out);
	return out->n > 0;
}

static void core_add(struct doctor_self *self, unsigned lcore, int cpu, bool control)
{
	for (unsigned i = 0; i < self->ncores; i++)
		if (self->core[i].lcore == lcore)
			return;
	if (cpu < 0) /* an lcore on several CPUs */
		return;
	self->core = xrealloc(self->core, (self->ncores + 1) * sizeof(*self->core));
	self->core[self->ncores++] = (struct doctor_core){lcore, cpu, control};
}

/* Puts the CPUs of a placement into *self. */
static void examine_cores(struct doctor_self *self, const struct place_in *in,
			  const struct placement *place)
{
	for (unsigned q = 0; q < place->n; q++)
		for (unsigned i = 0; i < in->nlcores; i++)
			if (in->lcore[i].lcore == place->q[q].lcore)
				core_add(self, in->lcore[i].lcore, in->lcore[i].cpu, false);
	core_add(self, in->control, in->control_cpu, true);
}

static int examine_map(const struct examine_line *line, const struct lcores *l,
		       struct doctor_self *self, struct err *e)
{
	struct place_port port[PORTSET_MAX];
	struct placement place;
	const struct place_in in = {.lcore = l->v,
				    .nlcores = l->n,
				    .control = l->control,
				    .port = port,
				    .nports = ARRAY_SIZE(port),
				    .control_cpu = l->control_cpu};
	unsigned which = 0;
	struct err why;

	for (unsigned i = 0; i < ARRAY_SIZE(port); i++)
		port[i] = (struct place_port){.max_rxq = QUEUES_MAX,
					      .max_txq = QUEUES_MAX,
					      .node = -1};
	if (place_maps(line->maps, line->nmaps, &in, &place, &which, &why) < 0)
		return err_set(e, EINVAL, "core map \"%.200s\": %.700s", line->maps[which],
			       why.text);
	examine_cores(self, &in, &place);
	placement_free(&place);
	return 0;
}

static void examine_program(struct doctor_self *self)
{
	free(self->writer);
	free(self->program);
	free(self->dpdk);
	self->writer = xstrdup(frun_best_isa());
	self->program = xstrdup(WR_VERSION);
	self->dpdk = xstrdup(ctl_dpdk_version());
	self->dpdk_static = ctl_dpdk_static();
}

int examine_before(const struct examine_line *line, struct doctor_self *self, struct err *e)
{
	struct lcores *l = xcalloc(1, sizeof(*l));
	int rc = 0;

	doctor_self_read(self);
	examine_program(self);
	if (line->nmaps > 0 && lcores_find(line, self, l))
		rc = examine_map(line, l, self, e);
	if (rc < 0)
		doctor_self_free(self);
	free(l);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void examine_now(const struct app *app, struct doctor_self *self)
{
	const struct place_in *in = ctl_place_in(app->ctl);

	doctor_self_read(self);
	examine_program(self);
	examine_cores(self, in, ctl_placement(app->ctl));
	/* The calling thread is pinned to control's CPU, so its own mask says nothing. */
	self->cpu = xrealloc(self->cpu, (in->nlcores + 1) * sizeof(*self->cpu));
	self->ncpus = 0;
	if (in->control_cpu >= 0)
		self->cpu[self->ncpus++] = in->control_cpu;
	for (unsigned i = 0; i < in->nlcores; i++)
		if (in->lcore[i].cpu >= 0)
			self->cpu[self->ncpus++] = in->lcore[i].cpu;
	qsort(self->cpu, self->ncpus, sizeof(*self->cpu), by_number);
}

const char *examine_root(void)
{
	const char *root = getenv("WIRERATE_SYSROOT");

	return root != NULL ? root : "";
}

json_t *examine_json(const struct doctor_report *r)
{
	json_t *doc = json_object(), *list = json_array();

	for (unsigned i = 0; i < r->n; i++) {
		const struct doctor_finding *f = &r->finding[i];
		json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o,s:o}", "id", f->id,
						      "severity", doctor_severity_name(f->severity),
						      "subject", out_json_text_or_null(f->subject),
						      "what", out_json_text(f->what), "why",
						      out_json_text_or_null(f->why), "mend",
						      out_json_text_or_null(f->mend)));
	}
	json_object_set_new(doc, "show", json_string("doctor"));
	json_object_set_new(doc, "errors", json_integer(r->count[DOCTOR_ERROR]));
	json_object_set_new(doc, "warnings", json_integer(r->count[DOCTOR_WARNING]));
	json_object_set_new(doc, "notes", json_integer(r->count[DOCTOR_NOTE]));
	json_object_set_new(doc, "passed", json_integer(r->count[DOCTOR_OK]));
	json_object_set_new(doc, "findings", list);
	return doc;
}

static const struct out_col cols[] = {
	{"severity", "severity", OF_STR}, {"id", "id", OF_STR},   {"subject", "subject", OF_STR},
	{"what", "what", OF_STR},         {"why", "why", OF_STR}, {"mend", "mend", OF_STR},
};
const struct out_view examine_view = {.rows = "findings", .cols = cols, .ncols = ARRAY_SIZE(cols)};
