/* SPDX-License-Identifier: BSD-3-Clause */
#include "arm_port.h"

#include "face.h"

const struct arm_port *arm_port(void)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->arm != NULL)
			return (*f)->arm;
	return NULL;
}

bool arm_port_first(struct cmd_run *r, unsigned *port)
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
