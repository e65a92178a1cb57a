/* SPDX-License-Identifier: BSD-3-Clause */
/* States of Lua for sessions and clients, and what lib/script asks of the program. Control
 * thread. */
#pragma once
#include "app.h"
#include "script.h"

/* The state of Lua in which a command runs its text or file; it is made when it is first needed. It
 * belongs to the command's session. For text that a client sent (app->guest, file false) it is the
 * client's own state, because that text may be a stranger's. file: a file on this machine is to be
 * run, and not text. NULL with *e when there is none; then *code is the error: -ENOTSUP where the
 * command has no session (a script runs it), -ENOMEM where the state cannot be made. */
struct script *app_script(struct cmd_run *r, bool file, int *code, struct err *e);
/* The state for text of the client app->guest (app.h), made when it is first needed. NULL with
 * *e. */
struct script *app_guest_script(struct app *app, struct err *e);
