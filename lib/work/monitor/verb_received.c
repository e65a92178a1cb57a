/* SPDX-License-Identifier: BSD-3-Clause */
/* show frame <ports> rx: the last frame that each port has received. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame.h"
#include "monitor_app.h"

enum { EXIT_NONE_CAME = 1 };
#define WAIT_NS 1000000000ull

struct receiving {
	struct portset ports;
	uint64_t begin_ns;
};
_Static_assert(sizeof(struct receiving) <= VERB_STATE_BYTES, "state of a verb");

static json_t *received_json(const struct monitor_line *l, uint64_t age_ns)
{
	json_t *o = frame_dissect(l->bytes, l->have);
	struct sbuf time = {0};

	monitor_print_time(l->wall_ns, &time);
	json_t *beside = json_pack("{si,ss,si,ss,sI,sI}", "port", (int)l->port, "direction", "rx",
				   "queue", (int)l->queue, "time", sbuf_str(&time), "wall_ns",
				   (json_int_t)l->wall_ns, "age_ns", (json_int_t)age_ns);
	json_object_set_new(beside, "size", json_integer(l->len + FRAME_FCS));
	json_object_update(o, beside);
	json_decref(beside);
	sbuf_free(&time);
	return o;
}

static void received_text(const struct monitor_line *l, uint64_t age_ns, struct sbuf *out)
{
	sbuf_addf(out, "port %u rx queue %u, ", l->port, l->queue);
	monitor_print_time(l->wall_ns, out);
	sbuf_add(out, ", ");
	out_duration(age_ns, out);
	sbuf_add(out, " ago: ");
	if (l->have < l->len)
		sbuf_addf(out,
			  "%u bytes with FCS, of which the first are kept: ", l->len + FRAME_FCS);
	frame_print(l->bytes, l->have, out);
}

static bool all_have(const struct app *app, const struct portset *ports)
{
	struct monitor_line l;
	uint64_t age_ns;

	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p) && !monitor_last(app->ctl, p, &l, &age_ns))
			return false;
	return true;
}

static void none_text(const struct portset *none, struct sbuf *note)
{
	sbuf_add(note, "no frame came to port ");
	ports_print(none, note);
	sbuf_add(note, " within 1 s; from now on the last one that comes is kept, until `reset ");
	ports_short(none, note);
	sbuf_add(note, "`\n");
}

static int received_print(struct cmd_run *r)
{
	const struct receiving *x = (const struct receiving *)r->state;
	const struct app *app = app_of(r);
	json_t *doc = show_doc("frame"), *frames = json_array(), *none = json_array();
	struct portset without = {{0}};

	for (unsigned p = 0; p < ctl_nports(app->ctl); p++) {
		struct monitor_line l;
		uint64_t age_ns;
		if (!portset_has(&x->ports, p))
			continue;
		if (!monitor_last(app->ctl, p, &l, &age_ns)) {
			json_array_append_new(none, json_integer(p));
			portset_add(&without, p);
			continue;
		}
		json_array_append_new(frames, received_json(&l, age_ns));
		if (r->out_mode == OUT_TEXT)
			received_text(&l, age_ns, r->out);
	}
	if (json_array_size(none) > 0) {
		r->exit_code = EXIT_NONE_CAME;
		none_text(&without, r->note);
	}
	json_object_set_new(doc, "direction", json_string("rx"));
	json_object_set_new(doc, "frames", frames);
	json_object_set_new(doc, "none", none);
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, NULL);
	cmd_result(r, doc);
	json_decref(doc);
	return 0;
}

static int received_poll(struct cmd_run *r, struct err *e)
{
	const struct receiving *x = (const struct receiving *)r->state;

	(void)e;
	if (!all_have(app_of(r), &x->ports) && verb_now_ns() - x->begin_ns < WAIT_NS)
		return VERB_PENDING;
	return received_print(r);
}

static int received_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct receiving *x = (struct receiving *)r->state;
	int rc = arg_ports_or_all(r, &args[0], &x->ports, e);

	if (rc == 0 && (rc = monitor_last_keep(app_of(r)->ctl, &x->ports, e)) < 0 && args[0].given)
		e->col = args[0].col;
	x->begin_ns = verb_now_ns();
	return rc < 0 ? rc : received_poll(r, e);
}

/* Nothing is printed; what is kept stays so. */
static void received_cancel(struct cmd_run *r)
{
	(void)r;
}

static bool received_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct receiving *x = (const struct receiving *)r->state;

	snprintf(out->text, sizeof(out->text), "waiting for a frame");
	cmd_progress_time(out, verb_now_ns() - x->begin_ns, WAIT_NS);
	return true;
}

const struct verb verb_received = {
	.name = "show frame rx",
	.run = received_run,
	.poll = received_poll,
	.cancel = received_cancel,
	.progress = received_progress,
	.help = "The last frame that ports have received.",
};
