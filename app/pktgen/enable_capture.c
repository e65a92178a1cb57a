/* SPDX-License-Identifier: BSD-3-Clause */
/* `enable <ports> capture` and `disable <ports> capture`: each port writes what it receives to a
 * file in the current folder, which is named by time and port as in Pktgen. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "each_port.h"
#include "pktgen.h"

static int begin_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	time_t now = time(NULL);
	struct sbuf name = {0};
	char when[32];
	struct tm tm;

	(void)r;
	(void)e;
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	sbuf_addf(&name, "pktgen-%s-%u.pcapng", when, port);
	for (unsigned i = 2; access(name.s, F_OK) == 0; i++) { /* twice in a second */
		sbuf_reset(&name);
		sbuf_addf(&name, "pktgen-%s-%u-%u.pcapng", when, port, i);
	}
	sbuf_addf(line, "capture %u %s rx", port, name.s);
	sbuf_free(&name);
	return 0;
}

static int end_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	(void)r;
	(void)e;
	sbuf_addf(line, "capture %u stop", port);
	return 0;
}

/* A port that is being captured goes on, as one on which the feature is on already. */
static int capture_on(struct cmd_run *r, const struct portset *ports, struct err *e)
{
	int rc = 0;

	for (unsigned p = 0; p < ctl_nports(app_of(r)->ctl) && rc == 0; p++) {
		struct portset one = {{0}};
		if (!portset_has(ports, p))
			continue;
		portset_add(&one, p);
		rc = each_port_begin(r, &one, begin_line, e);
		if (rc == -EBUSY)
			rc = 0;
	}
	return rc;
}

int pktgen_enable_capture(struct cmd_run *r, const struct arg_val *a, bool on, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, a, &ports, e);

	if (rc < 0)
		return rc;
	return on ? capture_on(r, &ports, e) : each_port_begin(r, &ports, end_line, e);
}
