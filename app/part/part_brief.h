/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts by which Pktgen describes the packets of a stream: those of the part "brief" from
 * "encap" on (app/snapshot.h), and "cos", "tos", "teid". */
#pragma once
#include "app.h"

/* Adds the texts to the object o. The stream must exist. */
void brief_stream(struct app *app, unsigned port, unsigned stream, json_t *o);
