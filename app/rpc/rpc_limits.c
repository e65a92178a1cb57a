/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses --rpc-limit and --rpc-allow, which say what remote clients may do. */
#include "rpc.h"

#include "value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000ull
#define KB 1000ull

static const struct limit {
	const char *name;
	size_t offset;
	struct vspec v;
	const char *dflt;
} table[] = {
#define AT(member) offsetof(struct rpc_limits, member)
	{"clients", AT(clients), {&vt_uint, 1, 1000}, "128"},
	{"line", AT(line_bytes), {&vt_uint, 1000, 100000 * KB}, "1M"},
	{"queue", AT(queue), {&vt_uint, 1, 100000}, "256"},
	{"rate", AT(rate), {&vt_uint, 0, 1000000}, "5000"},
	{"out", AT(out_bytes), {&vt_uint, 64 * KB, 1000000 * KB}, "16M"},
	{"lua-time", AT(lua_ns), {&vt_duration, MS, 24 * 3600 * 1000 * MS}, "60s"},
	{"lua-memory", AT(lua_bytes), {&vt_uint, 1000 * KB, 1000000 * KB}, "64M"},
#undef AT
};

void rpc_limits_init(struct rpc_limits *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		table[i].v.type->parse(&table[i].v, table[i].dflt, (char *)l + table[i].offset,
				       NULL);
}

static int one_limit(const char *item, size_t len, struct rpc_limits *l, struct err *e)
{
	const char *names[ARRAY_SIZE(table)], *eq = memchr(item, '=', len);
	char name[32], value[32];
	struct err why;

	size_t n = eq != NULL ? (size_t)(eq - item) : len;
	snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : (int)sizeof(name) - 1,
		 item);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		names[i] = table[i].name;
		if (strcmp(name, table[i].name) != 0)
			continue;
		if (eq == NULL || len - n - 1 >= sizeof(value))
			return err_set(e, EINVAL, "a limit is written NAME=VALUE: %s=%s", name,
				       table[i].dflt);
		snprintf(value, sizeof(value), "%.*s", (int)(len - n - 1), eq + 1);
		if (table[i].v.type->parse(&table[i].v, value, (char *)l + table[i].offset, &why) ==
		    0)
			return 0;
		return err_set(e, EINVAL, "limit %s: %s", name, why.text);
	}
	const char *near = str_nearest(name, names, ARRAY_SIZE(names));
	return err_set(
		e, EINVAL,
		"there is no limit '%s'%s%s; there are: clients, line, queue, rate, out, lua-time, lua-memory",
		name, near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

int rpc_limits_parse(const char *list, struct rpc_limits *l, struct err *e)
{
	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");
		int rc = one_limit(at, len, l, e);
		if (rc < 0)
			return rc;
		at += len;
		if (*at == '\0')
			return 0;
	}
}

int rpc_allow_parse(const char *list, unsigned *out, struct err *e)
{
	static const struct {
		const char *name;
		unsigned bits;
	} words[] = {
		{"files", RPC_ALLOW_FILES},
		{"quit", RPC_ALLOW_QUIT},
		{"lua", RPC_ALLOW_LUA},
		{"all", RPC_ALLOW_FILES | RPC_ALLOW_QUIT | RPC_ALLOW_LUA},
	};

	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ","), i = 0;
		while (i < ARRAY_SIZE(words) &&
		       (strlen(words[i].name) != len || strncmp(words[i].name, at, len) != 0))
			i++;
		if (i == ARRAY_SIZE(words))
			return err_set(
				e, EINVAL,
				"'%.*s' is nothing that can be allowed; there are: files, quit, lua, all",
				len < 60 ? (int)len : 60, at);
		*out |= words[i].bits;
		at += len;
		if (*at == '\0')
			return 0;
	}
}
