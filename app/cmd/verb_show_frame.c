/* SPDX-License-Identifier: BSD-3-Clause */
/* show frame: the frames that streams send, and with `rx` the last one that a port has received. */
#include "show.h"

#include <errno.h>
#include <stdlib.h>

static int add_frame(struct cmd_run *r, unsigned port, unsigned stream, void *arg, struct err *e)
{
	json_t *o = ctl_frame_json(app_of(r)->ctl, port, stream, e);
	if (o == NULL)
		return -EINVAL;
	json_array_append_new(arg, o);
	if (r->out_mode != OUT_TEXT)
		return 0;
	struct frame *f = xcalloc(1, sizeof(*f));
	int rc = ctl_frame(app_of(r)->ctl, port, stream, f, e);
	if (rc == 0) {
		sbuf_addf(r->out, "port %u stream %u: ", port, stream);
		frame_print(f->bytes, f->len, r->out);
	}
	free(f);
	return rc;
}

static int show_frame(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = show_doc("frame"), *frames = json_array();
	int rc = show_streams(r, sel, false, add_frame, frames, e);

	json_object_set_new(doc, "frames", frames);
	if (rc == 0 && r->out_mode != OUT_TEXT)
		return show_out(r, doc, NULL);
	if (rc == 0)
		cmd_result(r, doc);
	json_decref(doc);
	return rc;
}

enum { A_STREAMS, A_RX };

static int show_frame_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct show_sel sel;

	if (args[A_RX].given)
		return verb_show_received(r, args, e);
	int rc = show_select(r, "frame", TAKES_STREAMS, &args[A_STREAMS], &sel, e);
	if (rc == 0)
		rc = show_frame(r, &sel, e);
	if (rc < 0 && e->col < 0 && sel.given)
		e->col = sel.col;
	return rc;
}

static const struct arg_spec args_frame[] = {
	[A_STREAMS] = {ARG_TARGETS, "streams", ARG_OPT},
	[A_RX] = {ARG_WORD, "rx", ARG_OPT},
	{ARG_END},
};

const struct verb verb_show_frame = {
	.name = "show frame",
	.args = args_frame,
	.run = show_frame_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Print the frame that is sent, header by header, and its bytes; with rx the last one that a port has received.\n"
		"Of ports without a stream: stream 0 of each. `show frame <ports> rx`: nothing is kept until somebody asks, so the\n"
		"first time it waits up to 1 s for a frame, and from then on the last one of the port is kept, until `reset <ports>`.\n"
		"Exit code 1: of some port none came.",
};
