/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "arm_port.h"

#include "face.h"

const struct arm_port *arm_port(void)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->arm != NULL)
			return (*f)->arm;
	return NULL;
}

/* Whether a port has addresses of its own, and the first one that has. */
static bool port_with_address(struct cmd_run *r, unsigned *port)
{
	const struct setting *s = cmd_setting_find(r->cmd, "ip", &(struct err){.col = -1});
	struct portset all;
	bool has = false;

	app_all_ports(app_of(r), &all);
	for (unsigned p = 0; s != NULL && p < PORTSET_MAX && !has; p++) {
		struct sbuf text = {0};
		if (portset_has(&all, p))
			has = cmd_setting_text(r->cmd, s, p, 0, &text);
		if (has)
			*port = p;
		sbuf_free(&text);
	}
	return has;
}

int arm_use_choose(struct cmd_run *r, enum arm_stack stack, struct arm_use *out, struct err *e)
{
	bool has;

	*out = (struct arm_use){0};
	has = port_with_address(r, &out->number);
	out->port = stack == ARM_ANY ? has : stack == ARM_PORT;
	if (!out->port)
		return 0;
	if (arm_port() == NULL || !has)
		return err_set(e, EINVAL,
			       "--stack port: no port has an address of its own: `set 0 ip "
			       "ADDRESS/LENGTH`, or --ip");
	if (ctl_sending(app_of(r)->ctl, out->number))
		return err_set(e, EBUSY, "port %u is sending; `stop %u` first", out->number,
			       out->number);
	return 0;
}

void arm_use_make(struct cmd_run *r, unsigned control_port, struct arm_use *u)
{
	const struct arm_port_ask ask = {.port = u->number, .control_port = control_port};

	u->arm = u->port ? arm_port()->make(r, &ask) : arm_kernel(app_of(r)->loop);
}

void arm_use_drop(struct arm_use *u)
{
	if (u->arm != NULL && u->port)
		arm_port()->drop(u->arm);
	else
		arm_kernel_free(u->arm);
	u->arm = NULL;
}
