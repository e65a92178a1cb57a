/* SPDX-License-Identifier: BSD-3-Clause */
/* Scopes that the language does not know of: it learns of doors, which ports have beside their
 * streams, from rows alone. Settings of doors are set, completed, described and reached from Lua as
 * those of streams are, and what is wrong is refused and changes nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../cmd_scopes.h"
#include "script.h"

#define NPORTS 2
#define NSTREAMS 2
#define NDOORS 4

struct door {
	uint64_t listen, rate;
	bool open, there;
};
static struct world {
	uint64_t pages, rate[NPORTS], size[NPORTS][NSTREAMS];
	struct door door[NPORTS][NDOORS];
} world;
static unsigned changes;

static const struct cmd_scope scope_door = {.level = LEVEL_NUMBERED, .name = "door"};

static bool door_check(const struct setting *s, const struct set_obj *obj, struct err *warn)
{
	const struct door *d = obj->cfg;

	(void)s;
	if (d->listen == 13)
		err_set(warn, EINVAL, "13 tells the time");
	return true;
}

#define DOOR(m) offsetof(struct door, m)
static const struct setting rows[] = {
	{"pages", NULL, &scope_global, {&vt_uint}, "4", NULL, "Pages.", 0},
	{"listen",
	 "ear",
	 &scope_door,
	 {&vt_uint, .min = 1, .max = 65535},
	 "7",
	 NULL,
	 "What the door hears.",
	 DOOR(listen),
	 .check = door_check},
	{"open", NULL, &scope_door, {&vt_bool}, "on", NULL, "Whether it opens.", DOOR(open)},
	{"rate", NULL, &scope_door, {&vt_uint, .max = 9}, "0", NULL, "Of the door.", DOOR(rate)},
	{"rate", NULL, &scope_port, {&vt_uint}, "0", NULL, "Of the port.", 0},
	{"size", NULL, &scope_stream, {&vt_uint}, "0", NULL, "Of the stream.", 0},
};

static unsigned host_nports(void *arg)
{
	(void)arg;
	return NPORTS;
}

static unsigned host_count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)arg;
	assert_true(port < NPORTS && scope->level == LEVEL_NUMBERED);
	return scope == &scope_door ? NDOORS : NSTREAMS;
}

static void *host_object(void *arg, const struct cmd_scope *scope, unsigned port, unsigned id)
{
	(void)arg;
	if (scope == &scope_global)
		return &world.pages;
	assert_true(port < NPORTS);
	if (scope == &scope_port)
		return &world.rate[port];
	assert_true(id < host_count(NULL, scope, port));
	if (scope == &scope_stream)
		return &world.size[port][id];
	return world.door[port][id].there ? &world.door[port][id] : NULL;
}

static void host_changed(void *arg, const struct setting *row, unsigned port, unsigned id)
{
	(void)arg;
	assert_true(row->scope != &scope_door || world.door[port][id].there);
	changes++;
}

static int run_any(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r, (void)args, (void)e;
	return VERB_DONE;
}

static const struct arg_spec ports_args[] = {{ARG_TARGETS, "ports"}, {ARG_END}},
			     objects_args[] = {{ARG_TARGETS, "ports", ARG_OBJECTS}, {ARG_END}};
static const struct verb verb_go = {"go", NULL, ports_args, "Go.", 0, run_any},
			 verb_tell = {"tell", NULL, objects_args, "Tell.", 0, run_any};
static const struct verb *const verbs[] = {&verb_set, &verb_help, &verb_go, &verb_tell};

static struct cmd *lang;
static struct sbuf out, note;

static int setup(void **state)
{
	static const struct cmd_host host = {.nports = host_nports,
					     .count = host_count,
					     .object = host_object,
					     .changed = host_changed};
	const struct setting *list[ARRAY_SIZE(rows)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		list[i] = &rows[i];
	memset(&world, 0, sizeof(world));
	changes = 0;
	for (unsigned p = 0; p < NPORTS; p++)
		for (unsigned d = 0; d < NDOORS; d++)
			world.door[p][d] = (struct door){.listen = 7, .open = true, .there = true};
	world.door[0][2].there = false;
	lang = cmd_new(list, ARRAY_SIZE(rows), verbs, ARRAY_SIZE(verbs), &host);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cmd_free(lang);
	sbuf_free(&out);
	sbuf_free(&note);
	return 0;
}

static int exec(const char *line, struct err *e)
{
	static struct cmd_run run;

	*e = (struct err){.col = -1};
	sbuf_reset(&out);
	sbuf_reset(&note);
	run.out = &out;
	run.note = &note;
	return cmd_exec(lang, &run, line, e);
}

static void ok(const char *line)
{
	struct err e;

	if (exec(line, &e) < 0 || cmd_check(lang, line, &e) != 0)
		fail_msg("%s: %s", line, e.text);
}

/* The line is refused at this column with this text, and nothing has changed. */
static void refused(const char *line, int col, const char *part)
{
	struct world before = world;
	unsigned changed = changes;
	struct err e;

	int rc = exec(line, &e);
	if (rc >= 0 || e.col != col || strstr(e.text, part) == NULL)
		fail_msg("\"%s\": %d at %d, not at %d with \"%s\": %s", line, rc, e.col, col, part,
			 e.text);
	assert_memory_equal(&before, &world, sizeof(world));
	assert_int_equal(changed, changes);
	assert_int_equal(note.len, 0);
}

static void test_set(void **state)
{
	(void)state;
	ok("set 0/door.1 listen 9");
	assert_int_equal(world.door[0][1].listen, 9);
	ok("set 0/door.all,1/door.0 ear 11"); /* 0/door.2 does not exist */
	assert_int_equal(changes, 1 + 4);
	assert_int_equal(world.door[0][3].listen, 11);
	assert_int_equal(world.door[0][2].listen, 7);
	assert_int_equal(world.door[1][1].listen, 7);
	ok("set all/door.1-3 open off");
	assert_true(world.door[0][0].open && !world.door[1][3].open);
	ok("set 0/door.3 listen default");
	assert_int_equal(world.door[0][3].listen, 7);
	ok("set 0/door.3,0/door.3 lis 8"); /* shortened */
	assert_int_equal(world.door[0][3].listen, 8);
	ok("tell 0/door.0-1");
	ok("tell 0/1,1");
}

/* A name that rows of several scopes have means the one whose objects were named. */
static void test_one_name(void **state)
{
	(void)state;
	ok("set 1/door.1 rate 5");
	ok("set 1 rate 12");
	assert_int_equal(world.door[1][1].rate, 5);
	assert_int_equal(world.rate[1], 12);
	refused("set 1/door.1 rate 12", 18, "0 to 9");
}

static void test_refused(void **state)
{
	(void)state;
	refused("set 0/door.4 listen 9", 4, "no door 0/door.4; port 0 has doors 0-1, 3");
	refused("set 0/door.2 listen 9", 4, "no door 0/door.2; port 0 has doors 0-1, 3");
	refused("set 0/door.0,0/door.3-4 listen 9", 4, "no door 0/door.4");
	refused("set 2/door.0 listen 9", 4, "no port 2; there are ports 0 to 1");
	refused("set 0/dor.0 listen 9", 6,
		"\"dor\" is nothing that ports have; there is /door.N; allowed: all | N");
	refused("set 0/doors.0 listen 9", 6, "\"doors\" is nothing");
	refused("set 0/door listen 9", 10, "a dot and a number or \"all\" are wanted here");
	refused("set 0/door. listen 9", 11, "a number or \"all\" is wanted here");
	refused("set 0/door.x listen 9", 11, "a number or \"all\" is wanted here");
	refused("set 0/door.3-1 listen 9", 11, "backwards");
	refused("set 0/door.1000000 listen 9", 11, "0 to 999999");
	refused("set 0/door.1,1 listen 9", 13, "all items of a list are of one sort");
	refused("set 0/0,1/door.1 listen 9", 8, "all items of a list are of one sort");
	refused("set 0/door.1 listen 0", 20, "1 to 65535");
	refused("set 0/door.all listen x", 22, "listen: ");
	refused("set 0/door.1 foo 1", 13, "no setting \"foo\"");
	refused("set 0 listen 9", 6,
		"listen belongs to a door; write: set <ports>/door.<n> listen <value>, for example "
		"set 0/door.0 listen 7");
	refused("set 0/1 listen 9", 8, "listen belongs to a door");
	refused("set listen 9", 4, "listen belongs to a door");
	refused("set 0/door.1 size 9", 13, "size belongs to a stream, not to its doors");
	refused("set 0/door.1 pages 9", 13, "pages belongs to no port; write: set pages <value>");
	/* what is not said to take such objects takes none */
	refused("go 0/door.1", 5, "a number or \"all\" is wanted here");
	world.door[1][0].there = world.door[1][1].there = world.door[1][2].there =
		world.door[1][3].there = false;
	refused("set 1/door.all listen 9", 4, "port 1 has no door");
	refused("tell 1/door.0", 5, "port 1 has no door");
}

static void test_warnings(void **state)
{
	(void)state;
	ok("set 0/door.0 listen 13");
	assert_string_equal(note.s, "warning: door 0/door.0: 13 tells the time\n");
	ok("set 1/door.1-2 listen 13");
	assert_string_equal(note.s, "warning: doors 1/door.1-2: 13 tells the time\n");
}

/* What a file says is checked as far as it can be before it is run. */
static void test_look(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(cmd_check(lang, "set 0/door.2 listen 9", &e), 0);
	assert_int_equal(cmd_check(lang, "set 0/door.1 listen 0", &e), -ERANGE);
	assert_int_equal(cmd_check(lang, "set 0/gate.1 listen 9", &e), -EINVAL);
	assert_int_equal(changes, 0);
}

static void test_read(void **state)
{
	struct sbuf text = {0};
	struct set_obj obj;

	(void)state;
	assert_false(cmd_setting_text(lang, &rows[1], 0, 1, &text));
	ok("set 0/door.1 listen 99");
	sbuf_reset(&text);
	assert_true(cmd_setting_text(lang, &rows[1], 0, 1, &text));
	assert_string_equal(text.s, "99");
	assert_false(cmd_object(lang, &scope_door, 0, 2, &obj));
	assert_true(cmd_object(lang, &scope_door, 1, 3, &obj));
	assert_ptr_equal(obj.scope, &scope_door);
	assert_int_equal(obj.port, 1);
	assert_int_equal(obj.id, 3);
	assert_ptr_equal(obj.cfg, &world.door[1][3]);
	sbuf_free(&text);
}

static void collect(void *arg, const char *word, const char *help)
{
	(void)help;
	if (word != NULL)
		sbuf_addf(arg, "%s ", word);
}

static void completes(const char *line, const char *want)
{
	struct sbuf words = {0};
	int start;

	cmd_complete(lang, line, (int)strlen(line), &start, collect, &words);
	if (strcmp(sbuf_str(&words), want) != 0)
		fail_msg("%s: %s", line, sbuf_str(&words));
	sbuf_free(&words);
}

static void test_complete(void **state)
{
	(void)state;
	completes("set 0/", "0/all 0/0 0/1 0/door.all 0/door.0 0/door.1 0/door.2 0/door.3 ");
	completes("set 1,0/do", "1,0/door.all 1,0/door.0 1,0/door.1 1,0/door.2 1,0/door.3 ");
	completes("set 0/door.2", "0/door.2 ");
	completes("set 0/dx", "");
	completes("set 7/door.", "");
	completes("go 0/", "0/all 0/0 0/1 ");
	completes("set 0/door.1 ", "listen open rate ");
	completes("set 0 ", "rate size ");
	completes("set 0/door.1 open o", "on off ");
}

static void test_described(void **state)
{
	struct sbuf text = {0};

	(void)state;
	cmd_help(lang, NULL, &text);
	assert_non_null(
		strstr(text.s,
		       "Settings of a door: set <ports>/door.<n> <setting> <value>\n  listen"));
	sbuf_reset(&text);
	cmd_help(lang, "listen", &text);
	assert_ptr_equal(strstr(text.s, "set <ports>/door.<n> listen <value>\n"), text.s);
	sbuf_reset(&text);
	cmd_help(lang, "set", &text);
	assert_non_null(strstr(text.s, "doors as port/door.N: 0/door.0-2"));
	sbuf_reset(&text);
	cmd_help(lang, "go", &text);
	assert_null(strstr(text.s, "door"));
	sbuf_reset(&text);
	cmd_man(lang, "x", "1", &text);
	assert_non_null(strstr(text.s, ".B set <ports>/door.<n> listen <value>\n"));
	json_t *doc = cmd_dump(lang), *row = json_array_get(json_object_get(doc, "settings"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "scope")), "door");
	json_decref(doc);
	sbuf_reset(&text);
	script_annotations(lang, &text);
	assert_non_null(strstr(text.s, "---@field door table<integer|\"all\", wirerate.Door>\n"));
	assert_non_null(strstr(text.s, "function Port:doors() end\n"));
	assert_non_null(strstr(text.s, "---@class wirerate.Door\n---@field id integer\n"
				       "---@field port wirerate.Port\n---@field [\"listen\"] "));
	sbuf_reset(&text);
	script_manual(lang, &text);
	assert_non_null(strstr(text.s, "## Settings of a door\n\n`wr.port[N].door[D].NAME`.\n\n"));
	sbuf_free(&text);
}

/* Runs a chunk of Lua. What it prints must be this, or its error must have this in it. */
static void runs(const char *text, const char *prints, const char *fails)
{
	struct script_host host = {.cmd = lang};
	struct err e = {.text = ""};
	struct script *s = script_new(&host, &(struct script_opts){.batch = true}, &e);
	int rc;

	sbuf_reset(&out);
	sbuf_reset(&note);
	assert_non_null(s);
	assert_int_equal(script_start(s, text, "@t.lua", NULL, 0, &out, &note, &e), 0);
	while ((rc = script_poll(s, &e)) == VERB_PENDING)
		;
	script_free(s);
	if ((rc < 0) != (fails != NULL) || (rc < 0 && strstr(e.text, fails) == NULL))
		fail_msg("%s: %d: %s", text, rc, e.text);
	if (prints != NULL)
		assert_string_equal(sbuf_str(&out), prints);
}

static void test_lua(void **state)
{
	(void)state;
	runs("wr.port[0].door[1].listen = 9 print(wr.port[0].door[1].listen, wr.port[0].door[1].id)",
	     "9\t1\n", NULL);
	assert_int_equal(world.door[0][1].listen, 9);
	runs("print(wr.port[0].door[3], wr.port.all.door.all, wr.port[1].door[0].port)",
	     "0/door.3\tall/door.all\t1\n", NULL);
	runs("for id, d in wr.port[0]:doors() do print(id, d.listen) end", "0\t7\n1\t9\n3\t7\n",
	     NULL);
	runs("for id, s in wr.port[0]:streams() do print(id, s) end", "0\t0/0\n1\t0/1\n", NULL);
	runs("wr.port.all.door.all.open = false", "", NULL);
	assert_true(!world.door[1][3].open && world.door[0][2].open);
	runs("wr.port[1].door[1]:set{rate = 3, listen = 5}", "", NULL);
	assert_int_equal(world.door[1][1].rate, 3);
	assert_int_equal(world.rate[1], 0);
	runs("wr.port[1].rate = 4 print(wr.port[1].rate, wr.port[1].door[1].rate)", "4\t3\n", NULL);
	runs("print(wr.port[1].door[1] == wr.port[1].door[1], wr.port[1].door[1] == wr.port[1].stream[1])",
	     "true\tfalse\n", NULL);
	runs("wr.tell(wr.port[0].door[1]) wr.set('0/door.1', 'listen', 6)", "", NULL);
	assert_int_equal(world.door[0][1].listen, 6);
	struct world before = world;
	runs("wr.port[0].door[2].listen = 1", NULL, "no door 0/door.2; port 0 has doors 0-1, 3");
	runs("wr.port[0].door[1].listen = 0", NULL, "set 0/door.1 listen 0");
	runs("wr.port[0].door[1].size = 1", NULL, "size belongs to a stream");
	runs("wr.port[0].listen = 1", NULL, "listen belongs to a door");
	runs("wr.port[0].door.x.listen = 1", NULL, "doors are numbers from 0 on, or \"all\"");
	runs("wr.port[0].door[1]:set{rate = 1, listen = 0}", NULL, "1 to 65535");
	runs("wr.port.all:doors()", NULL, "one port is wanted: wr.port[0]:doors()");
	runs("wr.port[0].door[1].copy(1)", NULL, "no setting \"copy\"");
	assert_memory_equal(&before, &world, sizeof(world));
}

static void lua_completes(const char *line, const char *want)
{
	struct sbuf words = {0};
	int start;

	script_complete_line(lang, line, (int)strlen(line), &start, collect, &words);
	if (strcmp(sbuf_str(&words), want) != 0)
		fail_msg("%s: %s", line, sbuf_str(&words));
	sbuf_free(&words);
}

static void test_lua_complete(void **state)
{
	(void)state;
	lua_completes("wr.port[0].d", "wr.port[0].door wr.port[0].doors ");
	lua_completes("wr.port[0].door[1].", "wr.port[0].door[1].set wr.port[0].door[1].id "
					     "wr.port[0].door[1].port wr.port[0].door[1].listen "
					     "wr.port[0].door[1].open wr.port[0].door[1].rate ");
	lua_completes("wr.port[0].stream[1].s",
		      "wr.port[0].stream[1].set wr.port[0].stream[1].size ");
	lua_completes("wr.port[0].l", "");
}

static void test_table_check(void **state)
{
	static const struct cmd_scope bad[] = {
		{.level = LEVEL_NUMBERED, .name = "Gate"},
		{.level = LEVEL_NUMBERED, .name = "all"},
		{.level = LEVEL_NUMBERED, .name = "go"},
		{.level = LEVEL_NUMBERED, .name = "rate"},
		{.level = LEVEL_NUMBERED, .name = "door"},
		{.level = LEVEL_NUMBERED, .name = "a.b"},
		{.level = LEVEL_NUMBERED, .name = "size"},
		{.level = LEVEL_PORT, .name = "plug"},
	};
	static const char *const want[] = {
		"Gate: the name of a scope is one plain word",
		"all: the name of a scope is one plain word",
		"go: a scope and a command of this name",
		"rate: a scope and a setting of this name",
		"size: a scope and a setting of this name, or of its plural",
		"door: two scopes of this name",
		"a.b: the name of a scope is one plain word",
		"plug: its objects would be written as those of port"};
	struct setting row[ARRAY_SIZE(bad)];
	static const struct setting sizes = {"sizes", NULL, &scope_port,  {&vt_uint},
					     "0",     NULL, "Like size.", 0};
	const struct setting *list[ARRAY_SIZE(bad) + 3] = {&rows[1], &rows[4], &sizes};
	struct sbuf problems = {0};

	(void)state;
	if (cmd_table_check(lang, &problems) != 0)
		fail_msg("%s", problems.s);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		row[i] = rows[1];
		row[i].scope = &bad[i];
		list[i + 3] = &row[i];
	}
	struct cmd *c = cmd_new(list, ARRAY_SIZE(list), verbs, ARRAY_SIZE(verbs), NULL);
	assert_true(cmd_table_check(c, &problems) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (strstr(problems.s, want[i]) == NULL)
			fail_msg("no \"%s\" in:\n%s", want[i], problems.s);
	cmd_free(c);
	sbuf_free(&problems);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_set),          TEST(test_one_name),    TEST(test_refused),
		TEST(test_warnings),     TEST(test_look),        TEST(test_read),
		TEST(test_complete),     TEST(test_described),   TEST(test_lua),
		TEST(test_lua_complete), TEST(test_table_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
