/* SPDX-License-Identifier: BSD-3-Clause */
/* What keeps a chunk within its stack and its time.
 *
 * LuaJIT does not bound recursion that goes through functions of C, such as string.gsub() calling
 * the function that called it. So a hook is called for each call of any function, however it came
 * about, and compares the address of the stack with a floor. In this way no function of a library
 * can be forgotten.
 *
 * The hook also looks at the time: in each call, since a function of C may take long, and after a
 * number of instructions. The larger the blocks of the state are, the smaller is that number,
 * because one instruction may go over a whole block (a comparison of texts, a step over a table
 * that was emptied). */
#include "script_int.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define BLOCK_MIN 4096
#define SLICE_NS 20000000ull   /* most time of one turn; what is set in that time is one plan */
#define INSTRUCTIONS 10000     /* most instructions between two looks at the clock */
#define LOOK_BYTES (32u << 20) /* most bytes that these instructions may go over: some 10 ms */
/* Most bytes of stack: enough for some 50 calls of string.gsub() within each other. It is not more,
 * because an error that leaves n such calls takes a time that grows with the square of n. */
#define STACK_MOST (512u << 10)
#define STACK_UNKNOWN (128u << 10) /* the same if the size of the stack is unknown */
#define LOAD_MOST (2u << 20)       /* most bytes of a stranger's text */
#define LOAD_NS 80000000ull        /* most CPU time to compile it */
#define LOAD_PART 512              /* bytes that are compiled between two looks at the time */

static void on_hook(lua_State *L, lua_Debug *ar);

void hold_open(struct script *s)
{
	pthread_attr_t attr;
	size_t size;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &low, &size) == 0)
		s->stack_low = (uintptr_t)low;
	pthread_attr_destroy(&attr);
}

/* Returns the script that a state belongs to. Unlike script_of() it needs no room on the stack. */
static struct script *hold_owner(lua_State *L)
{
	void *s;

	lua_getallocf(L, &s);
	return s;
}

/* Returns the CPU time of this thread. It is used where a script may be ended, so that a busy
 * machine ends no script for the time that other programs take. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Returns how many instructions may run between two looks at the clock now. */
static unsigned hold_interval(const struct script *s)
{
	unsigned n = LOOK_BYTES >> s->largest;

	return n > INSTRUCTIONS ? INSTRUCTIONS : n > 0 ? n : 1;
}

/* Sets the hook. With the compiler of LuaJIT there is no hook for calls, which would keep the
 * compiler from its work: then only the functions of the prelude look at the stack. Compiled loops
 * call no hook at all. */
static void look_after(struct script *s, unsigned instructions)
{
	s->interval = instructions;
	lua_sethook(s->L, on_hook, s->opts.jit ? LUA_MASKCOUNT : LUA_MASKCALL | LUA_MASKCOUNT,
		    (int)instructions);
}

void hold_begin(struct script *s)
{
	s->hooked = true;
	look_after(s, hold_interval(s));
}

void hold_end(struct script *s)
{
	s->hooked = false;
	lua_sethook(s->L, NULL, 0, 0);
}

void hold_floor(struct script *s)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), room = STACK_UNKNOWN;

	/* The script gets half of what is left. The other half is for what its last function may
	 * call: commands, documents, the compiler. */
	if (s->stack_low != 0 && here > s->stack_low)
		room = (here - s->stack_low) / 2;
	s->stack_floor = here - (room < STACK_MOST ? room : STACK_MOST);
}

void hold_turn(struct script *s)
{
	hold_floor(s);
	s->slice_ns = script_now_ns() + SLICE_NS;
	hold_resume(s);
	if (s->interval != hold_interval(s))
		look_after(s, hold_interval(s));
}

void hold_resume(struct script *s)
{
	s->held_cpu_ns = cpu_ns();
	s->hasty = false;
}

bool hold_over(const struct script *s)
{
	return script_now_ns() > s->slice_ns;
}

/* Counts a block by its size. Blocks that the state had before it was given our allocator are not
 * counted, and none of them is large. */
static void count_block(struct script *s, size_t size, int change)
{
	if (size >= BLOCK_MIN)
		s->blocks[63 - __builtin_clzl(size)] += change;
}

void hold_block(struct script *s, size_t osize, size_t nsize)
{
	count_block(s, nsize, 1);
	count_block(s, osize, -1);
	unsigned top = nsize >= BLOCK_MIN ? 63 - (unsigned)__builtin_clzl(nsize) : 0;
	if (top > s->largest)
		s->largest = top;
	while (s->largest > 0 && s->blocks[s->largest] <= 0)
		s->largest--;
	/* This cannot wait for the next look at the clock: the next instruction may go over the
	 * block. */
	if (s->hooked && !s->opts.jit && s->interval > hold_interval(s))
		look_after(s, hold_interval(s));
}

int hold_raise_end(lua_State *L, struct script *s)
{
	look_after(s, 1);
	return luaL_error(L, "%s",
			  s->ends == ENDS_TIME || s->ends == ENDS_HELD
				  ? "the script has used up its time"
				  : "the script ends");
}

bool hold_interrupted(const struct script *s)
{
	sigset_t set;

	if (s->host.interrupted != NULL && s->host.interrupted())
		return true;
	return sigpending(&set) == 0 &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1);
}

static void stack_overflow(lua_State *L)
{
	luaL_error(L, "stack overflow: too many functions that a library calls are in each other");
}

void hold_stack(lua_State *L)
{
	if ((uintptr_t)__builtin_frame_address(0) < script_of(L)->stack_floor)
		stack_overflow(L);
}

/* Ends a stranger's chunk that has taken too long in a place where it cannot give way, because all
 * of the program waits for it there. The user's own scripts may take that time. */
static void check_held(struct script *s)
{
	if (s->ends == ENDS_NOT && s->opts.sandbox && cpu_ns() > s->held_cpu_ns + SCRIPT_HOLD_NS)
		s->ends = ENDS_HELD;
}

/* The hook of calls. It cannot give way, so it lets the next instruction do it. If functions of C
 * call each other there is no next instruction, and a script that goes on too long is ended
 * here. */
static void on_call(lua_State *L, struct script *s)
{
	struct timespec t;

	if ((uintptr_t)__builtin_frame_address(0) < s->stack_floor)
		stack_overflow(L);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	uint64_t now = (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
	if (s->now == NULL || now <= s->slice_ns)
		return;
	bool can = lua_isyieldable(L) && s->yielder == NULL;
	if (can && !s->hasty) {
		s->hasty = true;
		s->held_cpu_ns = cpu_ns();
		look_after(s, 1);
	}
	check_held(s);
	if (s->ends != ENDS_NOT && (!can || s->ends == ENDS_HELD))
		hold_raise_end(L, s);
}

/* The hook of instructions: gives way when the turn is over, and ends a script that is to end. */
static void on_count(lua_State *L, struct script *s)
{
	uint64_t now = script_now_ns();
	bool can = lua_isyieldable(L) && s->yielder == NULL;

	if (s->now == NULL)
		return;
	s->limited = true;
	if (!can && now > s->slice_ns)
		check_held(s);
	if (s->ends == ENDS_NOT && s->opts.max_ns > 0 && now - s->begin_ns > s->opts.max_ns)
		s->ends = ENDS_TIME;
	/* where the script cannot give way, nothing else would notice the signal */
	if (s->ends == ENDS_NOT && !can && hold_interrupted(s))
		s->ends = ENDS_CANCEL;
	if (s->ends != ENDS_NOT && !can) {
		hold_raise_end(L, s);
	} else if (can && (s->ends != ENDS_NOT || now > s->slice_ns)) {
		s->yielder = L;
		lua_yield(L, 0);
	} else if (s->interval != hold_interval(s)) {
		look_after(s, hold_interval(s));
	}
}

static void on_hook(lua_State *L, lua_Debug *ar)
{
	if (ar->event == LUA_HOOKCALL)
		on_call(L, hold_owner(L));
	else
		on_count(L, hold_owner(L));
}

/* A text that is given to the compiler in parts, until its time is over. For some texts, such as a
 * chain of very many `and`, the time grows much faster than the length. */
struct reading {
	const char *at, *end;
	uint64_t until_ns;
};

static const char *read_part(lua_State *L, void *arg, size_t *n)
{
	struct reading *r = arg;
	const char *part = r->at;

	if (cpu_ns() > r->until_ns)
		luaL_error(L, "the chunk takes too long to be compiled; write it in several parts");
	*n = (size_t)(r->end - part) < LOAD_PART ? (size_t)(r->end - part) : LOAD_PART;
	r->at += *n;
	return *n > 0 ? part : NULL;
}

int hold_load(lua_State *L, const char *text, size_t len, const char *name)
{
	const struct script *s = hold_owner(L);
	struct reading r = {text, text + len, cpu_ns() + LOAD_NS};

	if (!s->opts.sandbox)
		return luaL_loadbuffer(L, text, len, name);
	if (len > LOAD_MOST) {
		lua_pushfstring(L, "a chunk has at most %d bytes", (int)LOAD_MOST);
		return LUA_ERRSYNTAX;
	}
	return lua_loadx(L, read_part, &r, name, "t");
}
