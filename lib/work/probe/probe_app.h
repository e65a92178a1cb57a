/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "app.h"
#include "part/part.h"
#include "set/set.h"

extern const struct work work_probe;

/* Settings of the program, of ports and of streams. Each list ends with a row without a name. */
extern const struct setting probe_tester_rows[], probe_port_rows[], probe_stream_rows[];
extern const struct verb verb_calibrate, verb_show_latency, verb_latency_save;
extern const struct snap_part part_latency;

/* Runs `start <ports> latsampler` (on) or `stop <ports> latsampler`. Returns 0 or -errno, and *e
 * says why. */
int probe_sampler_turn(struct cmd_run *r, const struct portset *ports, bool on, struct err *e);

/* What `calibrate` has measured is kept from run to run in the file
 * $XDG_STATE_HOME/wirerate/calibration.json, by the names of host and ports. */
/* Tells control what was kept for the ports of this host. If the file cannot be read nothing else
 * happens, and the log says why. */
void probe_bias_load(const struct app *);
/* Writes what control knows of its ports into the file, where it replaces what was kept of them. A
 * failure is logged. */
void probe_bias_save(const struct app *);
