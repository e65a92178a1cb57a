/* SPDX-License-Identifier: BSD-3-Clause */
/* What Pktgen says of a packet, of one stream: the texts of "brief" from "encap" on (app/snapshot.h), and "cos", "tos", "teid". */
#pragma once
#include "app.h"

/* The stream is there. Texts are added to o. */
void brief_stream(struct app *app, unsigned port, unsigned stream, json_t *o);
