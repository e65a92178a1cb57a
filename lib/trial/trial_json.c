/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the result of a trial as JSON. Keys may be added, and none is ever removed:
 *
 * {"trial": {
 *	"ports"            senders
 *	"rate"             as it was asked for; "asked_duration_ns": likewise
 *	"of"               "frames", "connections" or "transactions"; this is of frames, and what is
 *	                   different of the others stands below
 *	"verdict"
 *	"reasons"          [all verdicts that apply; the first is "verdict"; none: it is valid]
 *	"why"              [the same in words]
 *	"time_ns", "wall_ns"   when the counters were read
 *	"intended_frames"  null: arrivals are random, or frames are sent as fast as possible
 *	"intended_pps", "intended_l1_bps", "intended_l2_bps"
 *	                   null: frames are sent as fast as possible
 *	"offered_frames", "offered_pps", "offered_l1_bps", "offered_l2_bps"
 *	                   rates: (n - 1) / duration
 *	"duration_ns"      from the first to the last frame
 *	"unsent"           frames that were intended and are not in "sent" of "fates"; if
 *	                   "intended_frames" is null, those that were due and were given up
 *	"behind"           frames that left more than 1 ms after they were due
 *	"loss_ratio"       of the frames that went out, the share that was not received in
 *	                   time; null: none went out, or the fates of some are unknown
 *	"fates"            "sent" is the sum of "received", "not_accepted", "tx_errors",
 *	                   "unconfirmed", "rx_missed", "rx_nombuf", "rx_errors", "corrupted",
 *	                   "late", "unknown" and "lost", less "excess". "unknown": frames that are
 *	                   missing while as many came without a probe that can be read; they are
 *	                   lost, or not recognised. Beside these: "untold" (probes beyond the
 *	                   frames that the receivers counted), "duplicated", "reordered",
 *	                   "others". null: not known without probes
 *	"told_by"          "probes" or "counters"
 *	"directions"       [{"from": [ports], "to": [ports], and of that direction all keys from
 *	                   "intended_frames" to "told_by"}]
 *	"latency"          {"actual", "intended": as H in probe.h, of all frames on the receivers,
 *	                   "jitter_ns"}; null without probes
 *	"no_probes"        why some port sent no probes; null: all did, or none were wanted
 *	"inexact"          why probes do not tell everything; null: they do
 *	"verified"         true: receivers looked at the checksums of whole frames (`verify on`).
 *	                   false: frames that are damaged outside of their probe count as received.
 *	                   null without probes
 *	"inside"           frames that the device under test of the built-in wire still held when
 *	                   the drain was over; they are late or lost
 *	"clock"            {"moved_ppm", "uncertainty_ppm"}
 *	"workers"          [{"lcore", "stalls", "stalled_ns", "longest_ns", "waited_ns",
 *	                   "waited_share", "busy_share"}]; waited null: not known. Busy: of the time
 *	                   of sending
 *	"limits"           the limits by which the trial was judged, and its waits
 * }}
 *
 * Of connections and transactions all keys are the same from "ports" to "wall_ns" and from "inside"
 * on. Between these:
 *	"intended_connections", "intended_cps", "offered_connections", "offered_cps",
 *	"duration_ns", "unsent", "behind"
 *	                   as above; of transactions "intended_transactions", "intended_tps" and
 *	                   so on
 *	"loss_ratio"       the share that did not succeed, of connections or of transactions,
 *	                   whichever is larger
 *	"fates"            "opened" ("started" of transactions) is the sum of "succeeded" and of all
 *	                   others by name, less "excess"
 *	"connections", "transactions", "payload", "segments", "http", "errors", "latency"
 *	                   as in `show flows`, of the clients in the trial
 *	"strays", "servers_strays"  frames that came to the senders, and to the receivers, and
 *	                   belong to none of them
 *	"servers"          the same of the servers that were started with them; null: there were
 *	                   none
 *	"directions"       [{"from", "to", and of that direction all keys from
 *	                   "intended_connections" to "servers"}] */
#include <math.h>
#include <stdio.h>

#include "hist_json.h"
#include "trial.h"

static void trial_json_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* A number that may have a fraction, null if it is not finite. Numbers below 10^9 are rounded to a
 * millionth, which is less than any clock can tell. */
json_t *trial_json_real(double v)
{
	return isfinite(v) ? json_real(fabs(v) < 1e9 ? round(v * 1e6) / 1e6 : v) : json_null();
}

static void put_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, trial_json_real(v));
}

static void put_if(json_t *o, const char *key, bool known, uint64_t v)
{
	json_object_set_new(o, key, known ? json_integer((json_int_t)v) : json_null());
}

static json_t *ports_json(const struct portset *s)
{
	json_t *a = json_array();

	for (unsigned p = 0; p < PORTSET_MAX; p++)
		if (portset_has(s, p))
			json_array_append_new(a, json_integer(p));
	return a;
}

static json_t *fates_json(const struct trial_fates *f)
{
	json_t *o = json_object();

	trial_json_put(o, "sent", f->sent);
	trial_json_put(o, "received", f->received);
	trial_json_put(o, "not_accepted", f->not_accepted);
	trial_json_put(o, "tx_errors", f->tx_errors);
	trial_json_put(o, "unconfirmed", f->unconfirmed);
	trial_json_put(o, "rx_missed", f->rx_missed);
	trial_json_put(o, "rx_nombuf", f->rx_nombuf);
	trial_json_put(o, "rx_errors", f->rx_errors);
	put_if(o, "corrupted", f->told || f->corrupted > 0, f->corrupted);
	trial_json_put(o, "late", f->late);
	trial_json_put(o, "unknown", f->unknown);
	trial_json_put(o, "lost", f->lost);
	trial_json_put(o, "excess", f->excess);
	trial_json_put(o, "untold", f->untold);
	put_if(o, "duplicated", f->told, f->duplicated);
	put_if(o, "reordered", f->told, f->reordered);
	trial_json_put(o, "others", f->others);
	return o;
}

/* Puts a number whose key is a word before or behind the word of what the trial is of. */
static void put_word(json_t *o, const char *before, const char *word, json_t *v)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", before, word);
	json_object_set_new(o, key, v);
}

static json_t *calls_fates_json(enum trial_of of, const struct calls_counts *k,
				const struct trial_fates *f)
{
	json_t *o = json_object();

	trial_json_put(o, trial_words(of)->sent, k->begun);
	trial_json_put(o, "succeeded", k->succeeded);
	for (unsigned i = 0; i < k->nfailed; i++)
		trial_json_put(o, k->failed[i].name, k->failed[i].n);
	trial_json_put(o, "excess", f->excess);
	return o;
}

/* What was intended and was not begun. */
static uint64_t load_unsent(const struct trial_load *l, uint64_t sent)
{
	if (!l->counted)
		return l->given_up;
	return l->intended > sent ? l->intended - sent : 0;
}

static json_t *strays_json(const struct calls_strays *k)
{
	json_t *o = json_object();

	trial_json_put(o, "no_match", k->no_match);
	trial_json_put(o, "bad_checksum", k->bad_checksum);
	trial_json_put(o, "malformed", k->malformed);
	trial_json_put(o, "other_queue", k->other_queue);
	trial_json_put(o, "others", k->others);
	json_object_set_new(o, "from", k->from[0] != '\0' ? json_string(k->from) : json_null());
	return o;
}

static void put_calls(json_t *o, enum trial_of of, const struct trial_load *l,
		      const struct trial_fates *f, const struct trial_calls *k)
{
	const struct trial_words *w = trial_words(of);

	put_word(o, "intended", w->noun,
		 l->counted ? json_integer((json_int_t)l->intended) : json_null());
	put_word(o, "intended", w->per_s, trial_json_real(l->max ? (double)NAN : l->intended_pps));
	put_word(o, "offered", w->noun, json_integer((json_int_t)l->offered));
	put_word(o, "offered", w->per_s, trial_json_real(l->offered_pps));
	trial_json_put(o, "duration_ns", l->duration_ns);
	trial_json_put(o, "unsent", load_unsent(l, f->sent));
	trial_json_put(o, "behind", l->behind);
	put_real(o, "loss_ratio", trial_loss(f));
	json_object_set_new(o, "fates", calls_fates_json(of, &k->counts, f));
	if (k->made != NULL)
		json_object_update(o, k->made);
	json_object_set_new(o, "strays", strays_json(&k->strays));
	json_object_set_new(o, "servers_strays", strays_json(&k->strays_answered));
	json_object_set(o, "servers", k->answered != NULL ? k->answered : json_null());
}

static void put_load(json_t *o, const struct trial_load *l, const struct trial_fates *f)
{
	put_if(o, "intended_frames", l->counted, l->intended);
	put_real(o, "intended_pps", l->max ? (double)NAN : l->intended_pps);
	put_real(o, "intended_l1_bps", l->max ? (double)NAN : l->intended_l1_bps);
	put_real(o, "intended_l2_bps", l->max ? (double)NAN : l->intended_l2_bps);
	trial_json_put(o, "offered_frames", l->offered);
	put_real(o, "offered_pps", l->offered_pps);
	put_real(o, "offered_l1_bps", l->offered_l1_bps);
	put_real(o, "offered_l2_bps", l->offered_l2_bps);
	trial_json_put(o, "duration_ns", l->duration_ns);
	trial_json_put(o, "unsent", load_unsent(l, f->sent));
	trial_json_put(o, "behind", l->behind);
	put_real(o, "loss_ratio", trial_loss(f));
	json_object_set_new(o, "fates", fates_json(f));
	json_object_set_new(o, "told_by", json_string(f->told ? "probes" : "counters"));
}

static json_t *flows_json(const struct trial_result *r)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < r->nflows; i++) {
		json_t *o = json_object();
		json_object_set_new(o, "from", ports_json(&r->flow[i].from));
		json_object_set_new(o, "to", ports_json(&r->flow[i].to));
		if (r->of == TRIAL_FRAMES)
			put_load(o, &r->flow[i].load, &r->flow[i].fates);
		else
			put_calls(o, r->of, &r->flow[i].load, &r->flow[i].fates, &r->flow[i].calls);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *workers_json(const struct trial_result *r)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < r->nworkers; i++) {
		const struct trial_worker *w = &r->worker[i];
		json_t *o = json_object();
		trial_json_put(o, "lcore", w->lcore);
		trial_json_put(o, "stalls", w->stalls);
		trial_json_put(o, "stalled_ns", w->stalled_ns);
		trial_json_put(o, "longest_ns", w->longest_ns);
		put_if(o, "waited_ns", w->waited_known, w->waited_ns);
		put_real(o, "waited_share",
			 w->waited_known && r->span_ns > 0
				 ? fmin((double)w->waited_ns / (double)r->span_ns, 1)
				 : (double)NAN);
		put_real(o, "busy_share", w->busy);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *latency_json(const struct trial_result *r)
{
	if (r->latency[LATENCY_SENT] == NULL || r->latency[LATENCY_DUE] == NULL)
		return json_null();
	json_t *o = json_object();
	json_object_set_new(o, "actual", hist_json(r->latency[LATENCY_SENT], 0));
	json_object_set_new(o, "intended", hist_json(r->latency[LATENCY_DUE], 0));
	put_real(o, "jitter_ns", r->jitter_ns);
	return o;
}

json_t *trial_json_rate(const struct rate *r)
{
	struct sbuf text = {0};

	vt_rate_load.print(&(struct vspec){&vt_rate_load}, r, &text);
	json_t *v = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return v;
}

static json_t *limits_json(const struct trial_cfg *c)
{
	json_t *o = json_object();

	trial_json_put(o, "learn", c->learn);
	json_object_set_new(o, "learn_rate", trial_json_rate(&c->learn_rate));
	trial_json_put(o, "learn_wait_ns", c->learn_wait_ns);
	trial_json_put(o, "drain_ns", c->drain_ns);
	trial_json_put(o, "drain_min_ns", c->drain_min_ns);
	trial_json_put(o, "drain_max_ns", c->drain_max_ns);
	trial_json_put(o, "settle_ns", c->settle_ns);
	trial_json_put(o, "overtime_ns", c->overtime_ns);
	put_real(o, "max_clock_ppm", (double)c->max_clock / 1e3);
	put_real(o, "max_wait_share", (double)c->max_wait / 1e9);
	trial_json_put(o, "max_stall_ns", c->max_stall_ns);
	put_real(o, "max_short_share", (double)c->max_short / 1e9);
	put_real(o, "max_rate_error_ppm", (double)c->max_rate_error / 1e3);
	trial_json_put(o, "resolution_ns", c->resolution_ns);
	json_object_set_new(o, "probes", json_boolean(c->told));
	return o;
}

/* What is known of frames alone. */
static void put_frames(json_t *o, const struct trial_result *r)
{
	json_object_set_new(o, "latency", latency_json(r));
	json_object_set_new(o, "no_probes",
			    r->not_told[0] != '\0' ? json_string(r->not_told) : json_null());
	json_object_set_new(o, "inexact",
			    r->inexact != NULL ? json_string(r->inexact) : json_null());
	json_object_set_new(o, "verified",
			    r->latency[LATENCY_SENT] != NULL ? json_boolean(r->verified)
							     : json_null());
}

json_t *trial_json(const struct trial_result *r, const struct trial_cfg *cfg)
{
	json_t *o = json_object(), *reasons = json_array(), *why = json_array(),
	       *clock = json_object();

	for (unsigned v = 1; v < TRIAL_NVERDICTS; v++) {
		if (!r->is[v])
			continue;
		json_array_append_new(reasons,
				      json_string(trial_verdict_name((enum trial_verdict)v)));
		json_array_append_new(why, json_string(r->why[v]));
	}
	json_object_set_new(o, "ports", ports_json(&r->ports));
	json_object_set_new(o, "verdict", json_string(trial_verdict_name(r->verdict)));
	json_object_set_new(o, "reasons", reasons);
	json_object_set_new(o, "why", why);
	json_object_set_new(o, "rate", trial_json_rate(&r->rate));
	json_object_set_new(o, "of", json_string(trial_words(r->of)->noun));
	trial_json_put(o, "asked_duration_ns", r->asked_ns);
	trial_json_put(o, "time_ns", r->time_ns);
	trial_json_put(o, "wall_ns", r->wall_ns);
	if (r->of == TRIAL_FRAMES)
		put_load(o, &r->load, &r->sum);
	else
		put_calls(o, r->of, &r->load, &r->sum, &r->calls);
	json_object_set_new(o, "directions", flows_json(r));
	if (r->of == TRIAL_FRAMES)
		put_frames(o, r);
	trial_json_put(o, "inside", r->inside);
	put_real(clock, "moved_ppm", r->clock_moved_ppm);
	put_real(clock, "uncertainty_ppm", r->clock_uncertainty_ppm);
	json_object_set_new(o, "clock", clock);
	json_object_set_new(o, "workers", workers_json(r));
	json_object_set_new(o, "limits", limits_json(cfg));
	return json_pack("{s:o}", "trial", o);
}
