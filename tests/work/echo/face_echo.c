/* SPDX-License-Identifier: BSD-3-Clause */
/* The work echo as users see it: the settings `echo` and `echo.doors` of ports, and the doors
 * themselves. These are a scope of this work: "0/door.1" is door 1 of port 0. */
#include "echo_cfg.h"
#include "face.h"
#include "set/rows.h"

extern const struct work work_echo;

/* The settings of the work on a port. NULL: the program has no ports. */
static struct echo_cfg *echo_cfg(const struct app *app, unsigned port)
{
	return app->ctl != NULL ? work_cfg(ctl_port_cfg(app->ctl, port), &work_echo) : NULL;
}

static unsigned door_count(void *app, unsigned port)
{
	const struct echo_cfg *cfg = echo_cfg(app, port);

	return cfg != NULL ? (unsigned)cfg->ndoors : 0;
}

static void *door_object(void *app, unsigned port, unsigned id)
{
	return id < door_count(app, port) ? &echo_cfg(app, port)->door[id] : NULL;
}

static const struct cmd_scope scope_door = {.level = LEVEL_NUMBERED,
					    .name = "door",
					    .count = door_count,
					    .object = door_object};

static const struct setting echo_rows[] = {
	{.name = "echo",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = offsetof(struct echo_cfg, on),
	 .store = &set_work_store,
	 .arg = &work_echo,
	 .help = "UDP frames to ports of open doors go back to who sent them"},
	{.name = "echo.doors",
	 .scope = &scope_port,
	 .v = {&vt_uint, 0, ECHO_MAX_DOORS},
	 .dflt = ECHO_DFLT_DOORS,
	 .offset = offsetof(struct echo_cfg, ndoors),
	 .store = &set_work_store,
	 .arg = &work_echo,
	 .help = "how many doors the port has"},
	{0},
};

static const struct setting door_rows[] = {
	{.name = "listen",
	 .scope = &scope_door,
	 .v = {&vt_uint, 1, UINT16_MAX},
	 .dflt = ECHO_DFLT_LISTEN,
	 .offset = offsetof(struct echo_door, listen),
	 .help = "the UDP port that the door is for"},
	{.name = "open",
	 .scope = &scope_door,
	 .v = {&vt_bool},
	 .dflt = ECHO_DFLT_OPEN,
	 .offset = offsetof(struct echo_door, open),
	 .help = "whether frames to the door go back"},
	{0},
};

static const struct set_chunk rows[] = {{600, echo_rows}, {605, door_rows}, {0}};

const struct face face_echo = {.rows = rows};
