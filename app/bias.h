/* SPDX-License-Identifier: BSD-3-Clause */
/* What `calibrate` has measured, kept from run to run in $XDG_STATE_HOME/wirerate/calibration.json, by host and names of ports. */
#pragma once
#include "app.h"

/* What was kept of this host's ports is known to control. Nothing kept, or a file that cannot be read: nothing happens, the log says why. */
void bias_load(const struct app *);
/* All that control knows of its ports replaces what was kept of them. A failure is logged. */
void bias_save(const struct app *);
