/* SPDX-License-Identifier: BSD-3-Clause */
#include "show.h"
#include "log.h"

#include <time.h>

#define NS_PER_S 1000000000ull

static const struct out_col cols[] = {{"time", "time", OF_STR}, {"level", "level", OF_STR}, {"text", "message", OF_STR}};
static const struct out_view view = {.rows = "messages", .cols = cols, .ncols = ARRAY_SIZE(cols)};

int show_log(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	static const char *const levels[] = {
		[LOG_LVL_ERROR] = "error", [LOG_LVL_WARN] = "warning", [LOG_LVL_INFO] = "info", [LOG_LVL_DEBUG] = "debug",
	};
	json_t *doc = show_doc("log"), *list = json_array();
	uint64_t next = log_next();
	struct log_entry m;

	(void)sel;
	(void)e;
	for (uint64_t seq = next > LOG_RING ? next - LOG_RING : 0; seq < next; seq++) {
		if (!log_get(seq, &m))
			continue;
		time_t s = (time_t)(m.wall_ns / NS_PER_S);
		struct tm tm;
		char stamp[40];
		localtime_r(&s, &tm);
		size_t n = strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
		snprintf(stamp + n, sizeof(stamp) - n, ".%03u", (unsigned)(m.wall_ns % NS_PER_S / 1000000));
		json_t *o = json_object();
		json_object_set_new(o, "seq", json_integer((json_int_t)m.seq));
		json_object_set_new(o, "wall_ns", json_integer((json_int_t)m.wall_ns));
		json_object_set_new(o, "time", json_string(stamp));
		json_object_set_new(o, "level", json_string(levels[m.level]));
		json_object_set_new(o, "text", out_json_text(m.text));
		json_array_append_new(list, o);
	}
	json_object_set_new(doc, "messages", list);
	return show_out(r, doc, &view);
}
