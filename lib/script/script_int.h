/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/script share. */
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "out.h"
#include "script.h"

#define SCRIPT_LINE_MAX (1 << 20) /* bytes of a command */
#define SCRIPT_SIZES 64
/* CPU time that a stranger's chunk may take where it cannot give way. */
#define SCRIPT_HOLD_NS 60000000ull

/* What a task waits for. */
enum waits { WAITS_NOT, WAITS_TIME, WAITS_RUN, WAITS_END };

/* A command that a script runs. It is allocated, because it may outlast the call that started
 * it. */
struct script_run {
	struct cmd_run run;
	struct sbuf line, out; /* out: gets the output if it is not printed */
	struct sbuf note;      /* gets the remarks if hushed */
	struct sbuf where;     /* the line of the script that ran the command */
	bool prints, hushed;
	bool ended; /* the command ended at once, with rc and err, but the turn was over */
	int rc;
	struct err err;
};

/* A timer, which calls a function again and again. */
struct script_timer {
	struct script_timer *next;
	int fn; /* in the registry; LUA_NOREF: the timer was stopped */
	uint64_t due_ns, interval_ns;
	unsigned id;
	bool busy; /* its last call has not returned */
};

/* A function that is called when something happens. */
struct script_handler {
	struct script_handler *next;
	char *event;
	int fn; /* in the registry; LUA_NOREF: it was stopped */
	unsigned id;
};

/* Something that has happened and that the handlers have not been told yet. */
struct script_happened {
	struct script_happened *next;
	char *name, *text;
	unsigned port;
	json_t *doc;
};

/* A coroutine that the program runs: the chunk, or a call of a timer's or a handler's function.
 * This is not a task of a worker. */
struct script_task {
	struct script_task *next;
	lua_State *co;
	int ref; /* in the registry, so that co is not collected */
	enum waits waits;
	uint64_t due_ns;            /* WAITS_TIME */
	struct script_run *run;     /* WAITS_RUN */
	struct script_timer *timer; /* the timer whose call it is; NULL: none */
	unsigned id;                /* of the timer or handler whose call it is; 0: none */
	bool begun;
	int nargs; /* values on its stack for the next resume */
};

/* What the script has said with progress(). */
struct script_says {
	bool said;
	double share; /* 0 to 1 */
	uint64_t at_ns;
	char text[100];
};

struct script {
	struct script_host host;
	struct script_opts opts;
	char *lua_dir, *folder;       /* folder: of the file that runs; NULL: no file runs */
	lua_State *L;                 /* NULL: it was closed, or never opened */
	struct script_closer *closer; /* the thread that closes L (script_close.c); NULL: none */
	lua_Alloc alloc;              /* the allocator that the state came with, and its argument */
	void *alloc_arg;
	size_t used_bytes;
	bool limited; /* code of the script runs, so max_bytes holds for allocations */

	struct script_task *tasks, *now; /* now: the task that runs; NULL: none */
	struct script_task *main;        /* the chunk */
	/* The coroutine that yielded to the program, and not to its own coroutine.resume(). */
	lua_State *yielder;
	struct script_timer *timers;
	struct script_handler *handlers;
	struct script_happened *happened, **happened_tail;
	struct sbuf *out, *note;
	struct sbuf warned; /* the last warning of a setting */
	struct sbuf spare;  /* out and note point here between chunks */
	struct script_at_end *at_end;
	unsigned nat_end;
	bool running, main_done;
	/* Why the script is to end. */
	enum { ENDS_NOT, ENDS_EXIT, ENDS_CANCEL, ENDS_TIME, ENDS_HELD, ENDS_ERROR } ends;
	struct script_says says;
	uint64_t begin_ns, slice_ns; /* slice_ns: until when the script may run in this turn */
	/* Addresses on the stack of this thread: its end, and the floor below which no function is
	 * called. */
	uintptr_t stack_low, stack_floor;
	int blocks[SCRIPT_SIZES];   /* number of blocks, by the power of two below their size */
	unsigned largest;           /* the highest of these powers */
	bool hooked, hasty;         /* hasty: the next instruction gives way */
	uint64_t held_cpu_ns;       /* CPU time of this thread when the script went on last */
	unsigned interval;          /* how many instructions run between two looks at the clock */
	int worst_code, asked_code; /* asked_code -1: exit() was not called */
	unsigned expected, failed, last_id;
	double numbered; /* how many values were given a number in place of their address */
	json_t *results;
};

/* Returns the script that a state belongs to. */
struct script *script_of(lua_State *L);
uint64_t script_now_ns(void);

/* Returns how many bytes the state may still allocate. */
size_t script_left(const struct script *s);
/* Raises an error if there is no room to print or note so many bytes more. Such text is kept until
 * somebody takes it, so it is limited as memory is. */
void script_room(lua_State *L, const struct script *s, size_t bytes);
/* Pushes a text as a string and frees it; returns 1. The limit of memory does not hold for it. */
int script_push_text(lua_State *L, struct sbuf *text);

/* Appends the line of the script that is running, "x.lua:12". Lines of the prelude are passed
 * over. */
void script_where(lua_State *L, struct sbuf *out);
/* Raises the error of a command as an object. line is the command; NULL: there is none. Does not
 * return. */
int script_raise(lua_State *L, const char *where, const char *line, const struct err *e, int code);
/* Makes the same object and leaves it on the stack. */
void script_push_error(lua_State *L, const char *where, const char *line, const struct err *e,
		       int code);
/* Raises an error about a wrong argument of a function that the prelude calls. It names the line of
 * the script. Does not return. */
int script_misuse(lua_State *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns any value as the text that print() shows, and leaves it on the stack. */
const char *script_text(lua_State *L, int idx, size_t *len);

/* script_at_end.c: commands that run at the end of a script */
void script_at_end_open(lua_State *L, int module);
void script_run_at_end(struct script *); /* runs and forgets them */

/* script_task.c */
/* Makes a task of a function and its arguments, which are taken from the stack of s->L. */
struct script_task *task_new(struct script *, int nargs);
void script_run_free(struct script_run *);
/* Lets the task that runs wait, and yields to the program. The coroutine must be able to yield. */
int task_wait(lua_State *L, enum waits w, uint64_t due_ns, struct script_run *run);
/* Runs every task that can go on. Returns what script_poll() does. */
int task_turn(struct script *, struct err *e);
void task_open(lua_State *L);
void script_drop_all(struct script *); /* frees tasks, timers, handlers and events */

/* script_hold.c: what keeps a chunk within its stack and its time */
void hold_open(struct script *);
void hold_begin(struct script *); /* to be called when a chunk begins */
void hold_end(struct script *);
/* Sets stack_floor: the script may use a part of the stack that is left below the caller. */
void hold_floor(struct script *);
void hold_turn(struct script *);   /* begins a turn: calls hold_floor(), and time counts from now */
void hold_resume(struct script *); /* to be called before a coroutine goes on */
bool hold_over(const struct script *); /* says whether the time of this turn is used up */
void hold_block(struct script *, size_t osize, size_t nsize); /* counts a block that has changed */
bool hold_interrupted(const struct script *);
/* Raises an error that ends a script which cannot give way. From then on every instruction raises
 * it again, so that no pcall() stops it. */
int hold_raise_end(lua_State *L, struct script *s);
/* Does what luaL_loadbuffer() does, for text. In the sandbox its size and the time to compile it
 * are limited. */
int hold_load(lua_State *L, const char *text, size_t len, const char *name);
/* Raises an error if there is too little left of the stack. */
void hold_stack(lua_State *L);

/* script_pattern.c */
/* Says whether a search by Lua's library would take so long that it would hold up the program: one
 * for a plain text, for the first place where a pattern fits, or for all of them. */
enum pattern_use { PATTERN_PLAIN, PATTERN_FIRST, PATTERN_ALL };
bool pattern_takes_long(const char *text, size_t len, const char *pattern, size_t plen,
			enum pattern_use use);

/* script_json.c: documents to tables and back */
void json_open(lua_State *L); /* makes the metatables */
void json_push(lua_State *L, const json_t *doc);
/* json_push_taken() pushes a document and releases it, even if an error is raised; returns 1.
 * json_prepare() must be called before the document is made. */
void json_prepare(lua_State *L);
int json_push_taken(lua_State *L, json_t *doc);
/* Returns a value as a new document, or NULL with *e. *large says whether the document would have
 * been too large; large may be NULL. */
json_t *json_take(lua_State *L, int idx, bool *large, struct err *e);
int json_module(lua_State *L); /* pushes the table of cjson's functions */

/* script_props.c: settings as properties */
void props_open(lua_State *L, struct script *s);
/* If the value is a port or a stream (wr.port[0]), appends it as in a list of ports; else false. */
bool props_target(lua_State *L, int idx, struct sbuf *out);
int props_global_get(lua_State *L); /* __index and __newindex of the module */
int props_global_set(lua_State *L);

/* script_args.c */
/* Appends a Lua value as the text of a value of this type (NULL: unknown). false with *e. */
bool props_value_text(lua_State *L, int idx, const struct vspec *v, struct sbuf *out,
		      struct err *e);
/* Makes a command line of the n arguments of a verb's function, from `first` on the stack on. 0 or
 * -errno with *e. */
int args_line(lua_State *L, struct cmd *cmd, const struct verb *v, int first, int n,
	      struct sbuf *line, struct err *e);
/* Appends the name that Lua has for a word of the language: "max_loss" for "max-loss". A reserved
 * word gets an underscore at its end. */
void args_key(const char *name, struct sbuf *out);
/* Appends the name of a verb's function in the module: "stream_add". */
void verb_key(const struct verb *v, struct sbuf *out);

/* script_verbs.c */
void verbs_open(lua_State *L, struct script *s, int module);
/* Pushes what a finished run gives: true and the values, or false and the error. verbs_prepare()
 * must be called before. Returns the number of values, or -1 with an error to raise on the stack.
 * Frees the run. */
void verbs_prepare(lua_State *L);
int verbs_results(lua_State *L, struct script_run *r, int rc, const struct err *e);

/* script_files.c: loadfile(), dofile() and require() */
#define SCRIPT_FILE_MAX (16u << 20) /* bytes; no script has more */
void files_open(lua_State *L);

/* script_progress.c, script_ask.c, script_execute.c, script_time.c, script_module.c,
 * script_sandbox.c. Each of these functions adds some functions to the module, to the globals, or
 * to the table R, which the prelude gets and which is on the stack. */
void progress_open(lua_State *L, int module);
void ask_open(lua_State *L);
void execute_open(lua_State *L);
void time_open(lua_State *L, struct script *s, int module);
void module_open(lua_State *L, struct script *s);
void sandbox_names(lua_State *L); /* from now on no text shows an address of memory */
void sandbox_open(lua_State *L, struct script *s);
void sandbox_path(lua_State *L, struct script *s); /* sets where require() looks, by s->folder */
/* script_names.c: what the module has beside settings and verbs. Completion, annotations and the
 * manual read it. */
struct script_fn {
	const char *name, *args, *help; /* args NULL: it is a value, and no function */
	const char *returns;            /* its type for annotations */
};
extern const struct script_fn script_fns[];
extern const unsigned script_nfns;
