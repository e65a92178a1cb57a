/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about flows. */
#pragma once
#include "ctl.h"
#include "flows_cfg.h"

/* All flows of these ports, {"show":"flows","flows":[..]}, as docs/flows.md says; a new reference.
 * Totals are since the last clear, rates are those of the last full second. */
json_t *flows_json(struct ctl *c, const struct portset *ports);

/* Samples of connections take workers a moment: flows_ask() begins to ask the port's workers for n
 * of them, at most FLOWS_SAMPLES_MOST, and flows_answered() says whether all have answered; it is
 * to be asked after each ctl_turn(). -EINVAL with *e: the port has no flow that has ever run. */
#define FLOWS_SAMPLES_MOST 256
int flows_ask(struct ctl *c, unsigned port, unsigned n, struct err *e);
bool flows_answered(const struct ctl *c, unsigned port);
/* What was answered last, a new reference: {"show":"connections","port":N,"connections":[{"stream",
 * "queue","state","src","sport","dst","dport","protocol","cwnd","ssthresh": null if none,"rtt_ns":
 * null if not measured,"rto_ns","unacked","unsent": null: without end,"peer_window","mss",
 * "retries","version": 0 is the newest,"number"}]} */
json_t *flows_connections_json(struct ctl *c, unsigned port);

/* What is wrong with one setting by itself, before it is written: -EINVAL or -ERANGE with *e, whose
 * column counts within the text. They take the texts that struct flows_cfg keeps. */
int flows_check_dialog(const char *text, struct err *e);
/* One of the lists of http: path, host, header, status, method; NULL: not given. */
struct flows_http_texts {
	const char *method, *path, *host, *header, *status;
};
int flows_check_http(const struct flows_http_texts *t, struct err *e);
/* The bytes of `request` and `response`, and the pause of `think`: a value, or several with
 * weights. */
int flows_check_bytes(const char *text, struct err *e);
int flows_check_think(const char *text, struct err *e);

/* What settings of a stream would make `start` refuse its flow, alone and without its port: 0, or
 * -EINVAL with *e. For warnings of `set`. */
int flows_check(const struct stream_cfg *cfg, struct err *e);
