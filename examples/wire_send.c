/* SPDX-License-Identifier: BSD-3-Clause */
/* This is the smallest program that uses lib/ctl and lib/dp alone, without command tables, screen
 * and Lua. It sends 1,000,000 frames over the built-in wire and checks that the other end has
 * counted every one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ctl.h"
#include "work.h"

static int wire_send_fail(const char *what, const struct err *e)
{
	fprintf(stderr, "wire_send: %s: %s\n", what, e->text);
	return EXIT_FAILURE;
}

int main(void)
{
	const struct ctl_opts opts = {.prog = "wire_send"}; /* no ports named: it gets one wire */
	struct portset both = {{0}}, sender = {{0}};
	struct ctl *c;
	struct err e;

	if (ctl_open(&c, &opts, &e) < 0)
		return wire_send_fail("open", &e);
	portset_add(&both, 0);
	portset_add(&both, 1);
	portset_add(&sender, 0);

	struct port_cfg *cfg = ctl_port_cfg(c, 0);
	cfg->rate = (struct rate){.kind = RATE_MAX};
	cfg->count = 1000000;
	ctl_touch(c, 0, WHY_ALL);

	printf("kinds of work:");
	for (unsigned i = 0; works[i] != NULL; i++)
		printf(" %s", works[i]->name);
	printf("\n");

	if (ctl_start(c, &sender, 0, &e) < 0)
		return wire_send_fail("start", &e);
	do { /* this is control's loop: each turn posts plans and takes events */
		ctl_turn(c);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	} while (!ctl_settled(c, &both));

	struct snap *s = ctl_snapshot(c);
	uint64_t tx = s->port[0].tx.packets, rx = s->port[1].rx.packets;
	printf("port 0 sent %llu, port 1 received %llu, %.3f Mpps\n", (unsigned long long)tx,
	       (unsigned long long)rx, s->port[0].run.mean_pps / 1e6);
	snap_free(s);
	free(s);
	ctl_close(c);
	return tx == 1000000 && rx == tx ? EXIT_SUCCESS : EXIT_FAILURE;
}
