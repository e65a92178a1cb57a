/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared inside lib/script. */
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "out.h"
#include "script.h"

#define SCRIPT_LINE_MAX (1 << 20) /* bytes of a command */
#define SCRIPT_SIZES 64
#define SCRIPT_HOLD_NS 60000000ull /* of CPU that a stranger's chunk may take where it cannot give way */

/* Why a task does not run. */
enum waits { WAITS_NOT, WAITS_TIME, WAITS_RUN, WAITS_END };

/* A command that a script runs, in memory of its own: it may outlast the call that began it. */
struct script_run {
	struct cmd_run run;
	struct sbuf line, out; /* out: where results go that nobody prints */
	struct sbuf note;      /* remarks that the script wants itself */
	struct sbuf where;     /* the script's line that ran it */
	bool prints, hushed;   /* hushed: remarks go to note */
	bool ended;            /* with rc and err: only the script's turn was over */
	int rc;
	struct err err;
};

/* A timer that calls a function again and again. */
struct script_timer {
	struct script_timer *next;
	int fn;               /* in the registry; LUA_NOREF: it was stopped */
	uint64_t due_ns, interval_ns;
	unsigned id;
	bool busy;            /* its last call has not returned */
};

/* A function that is called when something happens. */
struct script_handler {
	struct script_handler *next;
	char *event;
	int fn; /* LUA_NOREF: it was stopped */
	unsigned id;
};

/* Something that happened, until the functions were called. */
struct script_happened {
	struct script_happened *next;
	char *name, *text;
	unsigned port;
	json_t *doc;
};

/* One coroutine of ours: the chunk, or the call of a timer's or a handler's function. */
struct script_task {
	struct script_task *next;
	lua_State *co;
	int ref; /* keeps co */
	enum waits waits;
	uint64_t due_ns;
	struct script_run *run;
	struct script_timer *timer;
	unsigned id; /* of the timer or handler whose call it is; 0: none */
	bool begun;
	int nargs; /* on its stack for the next resume */
};

/* How far the script says that it has come. */
struct script_says {
	bool said;
	double share; /* 0 to 1 */
	uint64_t at_ns;
	char text[100];
};

struct script {
	struct script_host host;
	struct script_opts opts;
	char *lua_dir, *folder; /* folder: of the file that runs, NULL: none */
	lua_State *L;           /* NULL: it was closed, or never opened */
	struct script_closer *closer; /* closes it; NULL: nobody does */
	lua_Alloc alloc; /* what the state came with */
	void *alloc_arg;
	size_t used_bytes;
	bool limited; /* the script's own code runs: its allocations count */

	struct script_task *tasks, *now; /* now: it runs */
	struct script_task *main;
	lua_State *yielder; /* gave way for us, and not for its own coroutine.resume() */
	struct script_timer *timers;
	struct script_handler *handlers;
	struct script_happened *happened, **happened_tail;
	struct sbuf *out, *note;
	struct sbuf warned; /* what a setting warned of last */
	struct sbuf spare; /* stands for both between chunks */
	struct script_at_end *at_end;
	unsigned nat_end;
	bool running, main_done;
	enum { ENDS_NOT, ENDS_EXIT, ENDS_CANCEL, ENDS_TIME, ENDS_HELD, ENDS_ERROR } ends;
	struct script_says says;
	uint64_t begin_ns, slice_ns; /* slice_ns: when this turn's share is used up */
	uintptr_t stack_low, stack_floor; /* of this thread: its end, and where functions are no longer called */
	int blocks[SCRIPT_SIZES]; /* of the state, by the power of two below their size */
	unsigned largest;         /* of these powers */
	bool hooked, hasty;       /* hasty: the next instruction gives way */
	uint64_t held_cpu_ns;     /* the thread's time when nothing else could run any more */
	unsigned interval;        /* instructions between two looks at the clock */
	int worst_code, asked_code; /* asked_code -1: exit() was not called */
	unsigned expected, failed, last_id;
	double numbered; /* things that were told by a number */
	json_t *results;
};

/* The script of a state. */
struct script *script_of(lua_State *L);
uint64_t script_now_ns(void);

/* Memory that the state may still take. */
size_t script_left(const struct script *s);
/* What is printed or noted waits for somebody to take it: it counts as memory does. Raises where there is no room for so many bytes more. */
void script_room(lua_State *L, const struct script *s, size_t bytes);
/* The text as a string; frees it. The program's own: memory is not refused. */
int script_push_text(lua_State *L, struct sbuf *text); /* 1 */

/* "x.lua:12" of the script's line that is running, nothing for code of ours. */
void script_where(lua_State *L, struct sbuf *out);
/* Raise what a command said as an error object; line NULL: none. Does not return. */
int script_raise(lua_State *L, const char *where, const char *line, const struct err *e, int code);
/* The same, left on the stack. */
void script_push_error(lua_State *L, const char *where, const char *line, const struct err *e, int code);
/* A wrong argument of one of our functions that the prelude calls: the error names the script's line. Does not return. */
int script_misuse(lua_State *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Text of any value as print() shows it, on the stack too. */
const char *script_text(lua_State *L, int idx, size_t *len);

/* at_end.c */
void script_at_end_open(lua_State *L, int module);
void script_run_at_end(struct script *); /* and forget them */

/* task.c */
struct script_task *task_new(struct script *, int nargs); /* the function and its arguments are on the stack of s->L: taken */
void task_free(struct script *, struct script_task *);
void script_run_free(struct script_run *);
/* Yield of ours: true where the coroutine can. */
int task_wait(lua_State *L, enum waits w, uint64_t due_ns, struct script_run *run);
int task_turn(struct script *, struct err *e); /* everything that can go on, for a while */
void task_open(lua_State *L);
void script_drop_all(struct script *); /* tasks, timers, handlers, events */

/* hold.c: what keeps a chunk within its stack and its time */
void hold_open(struct script *);
void hold_begin(struct script *); /* a chunk runs from now on */
void hold_end(struct script *);
void hold_floor(struct script *); /* the stack below the caller is the state's own, up to some part of it */
void hold_turn(struct script *);  /* that, and its share of a turn begins */
void hold_resume(struct script *); /* a coroutine of it goes on */
bool hold_over(const struct script *); /* the share is used up */
void hold_block(struct script *, size_t osize, size_t nsize); /* a block of the state was made, changed or freed */
bool hold_interrupted(const struct script *);
/* An error ends what the coroutine cannot be left in the middle of: from now on every instruction raises it, so that no pcall() holds it. */
int hold_raise_end(lua_State *L, struct script *s);
/* As luaL_loadbuffer() of text. A stranger's has a limit of its size, and of the time that it takes. */
int hold_load(lua_State *L, const char *text, size_t len, const char *name);
/* Raises where there is too little of the stack left. */
void hold_stack(lua_State *L);

/* pattern.c: would a search of Lua's library hold up everything? */
enum pattern_use { PATTERN_PLAIN, PATTERN_FIRST, PATTERN_ALL };
bool pattern_takes_long(const char *text, size_t len, const char *pattern, size_t plen, enum pattern_use use);

/* json.c: documents to tables and back */
void json_open(lua_State *L); /* the metatables */
void json_push(lua_State *L, const json_t *doc);
/* The same of a document that nobody keeps: json_prepare() before it is made, so that it is freed whatever is raised. */
void json_prepare(lua_State *L);
int json_push_taken(lua_State *L, json_t *doc); /* takes it; 1 */
json_t *json_take(lua_State *L, int idx, bool *large, struct err *e); /* new; NULL with *e. large (may be NULL): it is too much */
int json_module(lua_State *L); /* pushes the cjson table */

/* props.c */
void props_open(lua_State *L, struct script *s);
/* Is it a port or stream of ours? Its text as in a port list. */
bool props_target(lua_State *L, int idx, struct sbuf *out);
int props_global_get(lua_State *L); /* __index, __newindex of the module */
int props_global_set(lua_State *L);

/* args.c */
/* A Lua value as the text of a value of the type (NULL: none known). false with *e. */
bool props_value_text(lua_State *L, int idx, const struct vspec *v, struct sbuf *out, struct err *e);
/* Arguments of a function as a line. 0 or -errno with *e. */
int args_line(lua_State *L, struct cmd *cmd, const struct verb *v, int first, int n, struct sbuf *line, struct err *e);
/* "max-loss" -> "max_loss"; true when it is a reserved word, which gets an underscore behind it. */
void args_key(const char *name, struct sbuf *out);
/* The name that a verb's function has in the module: "stream_add". */
void verb_key(const struct verb *v, struct sbuf *out);

/* verbs.c */
void verbs_open(lua_State *L, struct script *s, int module);
/* Run a line; silent: its results are values alone; hushed: its remarks are too. Pushes true and values, or raises, or yields. */
enum verbs_mode { VERBS_PRINT, VERBS_SILENT, VERBS_HUSHED };
int verbs_run(lua_State *L, const char *line, enum verbs_mode mode);
/* What a finished run gives, behind verbs_prepare(): pushes true and values, or false and the error. Number of values, or -1 with what is to be
 * raised on the stack. Takes the run. */
void verbs_prepare(lua_State *L);
int verbs_results(lua_State *L, struct script_run *r, int rc, const struct err *e);

/* files.c: chunks that are files */
#define SCRIPT_FILE_MAX (16u << 20) /* bytes; no script has more */
void files_open(lua_State *L);

/* ask.c, time.c, module.c, sandbox.c */
void progress_open(lua_State *L, int module);
void ask_open(lua_State *L); /* R is on the stack */
void execute_open(lua_State *L);
void time_open(lua_State *L, struct script *s, int module);
void module_open(lua_State *L, struct script *s);
void sandbox_names(lua_State *L); /* from now on no text tells an address */
void sandbox_open(lua_State *L, struct script *s);
void sandbox_path(lua_State *L, struct script *s); /* where require() looks, for the folder that is now */
/* What module.c has for the lists that names.c, doc.c and complete.c make. */
struct script_fn {
	const char *name, *args, *help; /* NULL args: a value */
	const char *returns;            /* type for annotations */
};
extern const struct script_fn script_fns[];
extern const unsigned script_nfns;
