/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of probes, for the program, for ports and for streams. Two of them are Pktgen's: the
 * threshold `jitter`, and `latsampler`, which says what `start <ports> latsampler` takes. */
#include "probe.h"
#include "probe_app.h"
#include "probe_cfg.h"
#include "set/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NUM_MAX 1000000
#define RATE_MAX 1000000

static const char *const kinds[] = {
	[SAMPLER_NONE] = "none", [SAMPLER_SIMPLE] = "simple", [SAMPLER_POISSON] = "poisson"};

/* Reads the next word at *at, a number from 1 to most, and moves *at behind it. text is the whole
 * value, for messages. */
static int probe_number(const struct vspec *s, const char *text, const char **at, const char *what,
			uint32_t most, uint32_t *out, struct err *e)
{
	const struct vspec count = {.type = &vt_uint, .min = 1, .max = most};
	char word[24];
	uint64_t v;

	*at += strspn(*at, " ");
	size_t len = strcspn(*at, " ");
	if (len == 0 || len >= sizeof(word))
		return vspec_fail(s, EINVAL, (int)(*at - text), e, text, "lacks the %s, 1 to %u",
				  what, most);
	snprintf(word, sizeof(word), "%.*s", (int)len, *at);
	if (vt_uint.parse(&count, word, &v, NULL) < 0)
		return vspec_fail(s, EINVAL, (int)(*at - text), e, text,
				  "has \"%s\" where the %s is wanted, 1 to %u", word, what, most);
	*out = (uint32_t)v;
	*at += len;
	return 0;
}

static int sampler_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct sampler_cfg v;
	const char *at = text + strcspn(text, " ");
	int rc;

	memset(&v, 0, sizeof(v)); /* unused bytes too: values are compared as bytes */
	for (v.kind = 0; v.kind < ARRAY_SIZE(kinds); v.kind++)
		if (strlen(kinds[v.kind]) == (size_t)(at - text) &&
		    strncmp(kinds[v.kind], text, (size_t)(at - text)) == 0)
			break;
	if (v.kind == ARRAY_SIZE(kinds))
		return vspec_fail(s, EINVAL, 0, e, text,
				  "begins with none of simple, poisson, none");
	if (v.kind != SAMPLER_NONE) {
		rc = probe_number(s, text, &at, "number of samples", NUM_MAX, &v.num, e);
		if (rc == 0)
			rc = probe_number(s, text, &at, "samples per second", RATE_MAX, &v.rate, e);
		if (rc < 0)
			return rc;
		at += strspn(at, " ");
		if (*at == '\0')
			return vspec_fail(s, EINVAL, (int)(at - text), e, text, "lacks the file");
		if (strlen(at) >= sizeof(v.file))
			return vspec_fail(s, EINVAL, (int)(at - text), e, text,
					  "names a file by more than %zu bytes",
					  sizeof(v.file) - 1);
		strcpy(v.file, at);
	} else if (at[strspn(at, " ")] != '\0') {
		return vspec_fail(s, EINVAL, (int)(at - text), e, text, "has more than \"none\"");
	}
	memcpy(out, &v, sizeof(v));
	return 0;
}

static void sampler_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct sampler_cfg *v = val;

	(void)s;
	sbuf_add(out, kinds[v->kind]);
	if (v->kind != SAMPLER_NONE)
		sbuf_addf(out, " %u %u %s", v->num, v->rate, v->file);
}

static void sampler_vcomplete(const struct vspec *s, const char *prefix,
			      void (*offer)(void *arg, const char *word), void *arg)
{
	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(kinds[i], prefix, strlen(prefix)) == 0)
			offer(arg, kinds[i]);
}

static const struct vtype vt_sampler = {
	.name = "sampler",
	.syntax = "none | simple|poisson NUM RATE FILE",
	.size = sizeof(struct sampler_cfg),
	.parse = sampler_vparse,
	.print = sampler_vprint,
	.complete = sampler_vcomplete,
};

/* `probes.memory` is not kept in a struct of settings: control keeps it. */

static void memory_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct app *app = obj->cfg;

	(void)row;
	if (app->ctl != NULL)
		probes_memory_set(app->ctl, *(const uint64_t *)val * 1000000);
}

static bool memory_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct app *app = obj->cfg;
	uint64_t dflt;

	row->v.type->parse(&row->v, row->dflt, &dflt, NULL);
	*(uint64_t *)val = app->ctl != NULL ? probes_memory_most(app->ctl) / 1000000 : dflt;
	return *(const uint64_t *)val != dflt;
}

static void memory_unset(const struct setting *row, const struct set_obj *obj)
{
	uint64_t dflt;

	row->v.type->parse(&row->v, row->dflt, &dflt, NULL);
	memory_put(row, obj, &dflt);
}

static const struct setting_store memory_store = {memory_put, memory_get, memory_unset};

const struct setting probe_tester_rows[] = {
	{.name = "probes.memory",
	 .alias = "probes memory",
	 .scope = &scope_global,
	 .v = {&vt_uint, 1, 1000000},
	 .dflt = PROBES_DFLT_MEMORY,
	 .unit = "MB",
	 .store = &memory_store,
	 .help = "most memory for receiving probes, in 10^6 bytes; `start` refuses what could take more, `show plan` tells what it takes"},
	{0},
};

#define AT(member) \
	.offset = offsetof(struct probe_cfg, member), .store = &set_work_store, \
	.arg = &work_probe, .why = WHY_WORK

const struct setting probe_port_rows[] = {
	{.name = "verify",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 AT(verify),
	 .check = set_check_per_start,
	 .help = "check IPv4, UDP, TCP, SCTP and ICMP checksums of received frames with probes: a wrong one makes it corrupted; any port's on is\n"
		 "for all"},
	{.name = "jitter",
	 .scope = &scope_port,
	 .v = {&vt_uint, 0, 1000000},
	 .dflt = "0",
	 .unit = "us",
	 AT(jitter_us),
	 .help = "count received probes whose latency differs by more from that of the one before (`show latency`); 0 counts none"},
	{.name = "latsampler",
	 .scope = &scope_port,
	 .v = {&vt_sampler},
	 .dflt = "none",
	 AT(sampler),
	 .flags = SET_FILE,
	 .help = "what `start <ports> latsampler` takes: at most NUM latencies of received probes, RATE a second, evenly or at random "
		 "times, into FILE"},
	{0},
};

#undef AT
#define AT(member) offsetof(struct stream_cfg, member)

static bool check_latency(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct stream_cfg *cfg = obj->cfg;

	(void)row;
	if (!cfg->latency || cfg->frame.probe != 0)
		return true;
	err_set(warn, EINVAL, "its frames have no probes; `set %u/%u probe on` puts one in each",
		obj->port, obj->id);
	return false;
}

const struct setting probe_stream_rows[] = {
	{.name = "probe",
	 .scope = &scope_stream,
	 .v = {&vt_every},
	 .dflt = "off",
	 .offset = AT(frame.probe),
	 .check = set_check_stream,
	 .why = WHY_FRAMES,
	 .help = "16 bytes at the begin of the payload that say which frame this is and when it was sent, in all frames or one of N"},
	{.name = "latency",
	 .scope = &scope_stream,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = AT(latency),
	 .check = check_latency,
	 .why = WHY_WORK,
	 .help = "a latency histogram of the stream's own at the receivers; its frames need probes: `set <streams> probe on`"},
	{0},
};
