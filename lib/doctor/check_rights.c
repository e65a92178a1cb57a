/* SPDX-License-Identifier: BSD-3-Clause */
/* Rights that hold in a user namespace alone: root of a container is nobody on the machine. */
#include "exam.h"

static void rights_run(struct exam *x)
{
	if (!x->user_ns || x->self->caps == 0)
		return;
	struct doctor_finding *f = found(
		x, DOCTOR_NOTE, NULL,
		"the rights of this process are those of a user namespace (/proc/self/uid_map)");
	found_why(
		f,
		"on the machine they count for nothing: they lock no memory, load no program into the kernel and make no queue of a NIC%s",
		x->self->net_foreign ? ", and open no socket on its interfaces" : "");
}

const struct check check_rights = {"rights", rights_run};
