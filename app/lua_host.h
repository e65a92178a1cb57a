/* SPDX-License-Identifier: BSD-3-Clause */
/* Lua for sessions: what lib/script asks of the program. Control thread. */
#pragma once
#include "app.h"
#include "script.h"

/* The state of the command's session, made when it is first wanted: -EBUSY while it runs, -ENOTSUP where there is no session (a command
 * that a script runs). file: for a file on this machine, not for text, which may be a stranger's. NULL with *e; *code is the failure. */
struct script *app_script(struct cmd_run *r, bool file, int *code, struct err *e);
/* What a script of this program gets; sandboxes and limits are the caller's. lua_dir is good until the process ends. */
void app_script_host(struct app *app, struct script_host *host, struct script_opts *opts);
/* The state for text of the guest whose commands are run (app.h). NULL with *e. */
struct script *app_guest_script(struct app *app, struct err *e);
/* What happens in the program goes to the script from now on; app_unlisten() ends it. */
struct app_listener *app_script_listen(struct app *app, struct script *script);
