/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's files of probes share. */
#pragma once
#include "app.h"
#include "part/part.h"
#include "set/set.h"

extern const struct work work_probe;

/* Each ends with a row without a name. */
extern const struct setting probe_tester_rows[], probe_port_rows[], probe_stream_rows[];
extern const struct verb verb_calibrate, verb_latency, verb_show_latency, verb_latency_save;
extern const struct snap_part part_latency;

/* `start <ports> latsampler` and `stop <ports> latsampler`. */
int probe_sampler_turn(struct cmd_run *r, const struct portset *ports, bool on, struct err *e);

/* What `calibrate` has measured is kept from run to run in $XDG_STATE_HOME/wirerate/calibration.json, by host and names of ports. */
/* What was kept of this host's ports is known to control. Nothing kept, or a file that cannot be read: nothing happens, the log says why. */
void probe_bias_load(const struct app *);
/* All that control knows of its ports replaces what was kept of them. A failure is logged. */
void probe_bias_save(const struct app *);
