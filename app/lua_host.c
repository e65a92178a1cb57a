/* SPDX-License-Identifier: BSD-3-Clause */
#include "lua_host.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "out.h"
#include "snapshot.h"
#include "stuck.h"

/* The state of Lua of a session. The session keeps it in its struct cmd_own. */
struct own_script {
	struct script *script;
	struct app_listener *listener;
};

/* The folder of the Lua files that come with the program: lua/ of the build tree when the program
 * runs there, else share/wirerate/lua beside its bin/, which is found even when the installation
 * was moved as a whole, else the folder that the build was configured with. */
static const char *lua_dir(void)
{
	static char dir[PATH_MAX + 32];
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (dir[0] != '\0')
		return dir;
	exe[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < 2 && exe[0] != '\0'; up++) {
		char *slash = strrchr(exe, '/');
		if (slash == NULL)
			break;
		bool app = up == 1 && strcmp(slash, "/app") == 0;
		*slash = '\0';
		if (up == 1)
			snprintf(dir, sizeof(dir), "%s%s", exe,
				 app ? "/lua" : "/share/wirerate/lua");
	}
	if (dir[0] == '\0' || access(dir, R_OK) != 0)
		snprintf(dir, sizeof(dir), "%s", WR_LUA);
	return dir;
}

static void on_check(void *app, bool passed, const char *text)
{
	json_t *doc = json_pack("{s:b}", "passed", (int)passed);

	app_tell(app, &(struct app_event){.kind = APP_EVENT_CHECK, .text = text, .doc = doc});
	json_decref(doc);
}

/* Fills in what is the same for all scripts of this program. The caller adds sandbox and limits.
 * opts->lua_dir stays valid until the process ends. */
static void app_script_host(struct app *app, struct script_host *host, struct script_opts *opts)
{
	static const char *names[APP_EVENTS + 1];

	for (int i = 0; i < APP_EVENTS; i++)
		names[i] = app_event_names[i];
	*host = (struct script_host){
		.arg = app,
		.cmd = app->cmd,
		.cmd_host = app,
		.snapshot = app_snapshot,
		.events = names,
		.version = WR_VERSION,
		.check = on_check,
		.interrupted = stuck_noted,
		.dpdk_version = ctl_dpdk_version(),
	};
	*opts = (struct script_opts){.jit = app->lua_jit, .lua_dir = lua_dir()};
}

static void on_event(void *arg, const struct app_event *ev)
{
	script_event(arg, app_event_names[ev->kind], ev->port, ev->text, ev->doc);
}

/* From now on the script gets the events of the program, until app_unlisten(). */
static struct app_listener *app_script_listen(struct app *app, struct script *script)
{
	return app_listen(app, on_event, script);
}

static void own_free(void *p)
{
	struct own_script *own = p;

	app_unlisten(own->listener);
	script_free(own->script);
	free(own);
}

struct script *app_guest_script(struct app *app, struct err *e)
{
	const struct app_guest *g = app->guest;
	struct script_host host;
	struct script_opts opts;

	if (*g->script != NULL)
		return *g->script;
	app_script_host(app, &host, &opts);
	host.cmd = g->cmd;
	opts.sandbox = g->sandbox;
	opts.jit &= !g->sandbox;
	opts.max_bytes = g->max_bytes;
	opts.max_out_bytes = g->max_out_bytes;
	opts.max_ns = g->max_ns;
	opts.out_mode = OUT_TEXT;
	*g->script = script_new(&host, &opts, e);
	return *g->script;
}

struct script *app_script(struct cmd_run *r, bool file, int *code, struct err *e)
{
	struct script_host host;
	struct script_opts opts;

	if (r->own == NULL) {
		*code = err_set(
			e, ENOTSUP,
			"a script cannot begin another one: dofile(\"FILE\") and require \"NAME\" run files of Lua");
		return NULL;
	}
	if (app_of(r)->guest != NULL && !file) {
		*code = -ENOMEM;
		return app_guest_script(app_of(r), e);
	}
	struct own_script *own = r->own->p;
	if (own != NULL) {
		*code = 0;
		return own->script;
	}
	app_script_host(app_of(r), &host, &opts);
	opts.batch = r->batch;
	opts.out_mode = r->out_mode;
	opts.own = r->own;
	struct script *made = script_new(&host, &opts, e);
	if (made == NULL) {
		*code = -ENOMEM;
		return NULL;
	}
	own = xcalloc(1, sizeof(*own));
	*own = (struct own_script){.script = made, .listener = app_script_listen(app_of(r), made)};
	r->own->p = own;
	r->own->free = own_free;
	*code = 0;
	return made;
}
