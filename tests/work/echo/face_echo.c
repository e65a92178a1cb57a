/* SPDX-License-Identifier: BSD-3-Clause */
/* The work echo as users see it: the setting `echo` of ports. */
#include "echo_cfg.h"
#include "face.h"
#include "set/rows.h"

extern const struct work work_echo;

static const struct setting echo_rows[] = {
	{.name = "echo",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = offsetof(struct echo_cfg, on),
	 .store = &set_work_store,
	 .arg = &work_echo,
	 .help = "UDP frames to port 7 go back to who sent them"},
	{0},
};

static const struct set_chunk rows[] = {{600, echo_rows}, {0}};

const struct face face_echo = {.rows = rows};
