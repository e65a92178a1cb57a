/* SPDX-License-Identifier: BSD-3-Clause */
/* The page capture: what is being captured, and what became of the frames. It has a column for each
 * port. */
#include <string.h>

#include "page_table.h"

static const struct line {
	const char *title, *key;
	enum { AS_TEXT, AS_TAIL, AS_COUNT, AS_FAULT, AS_TIME } as;
} lines[] = {
	{"state", "state", AS_TEXT},
	{"why", "why", AS_TEXT},
	{"file", "file", AS_TAIL},
	{"files", "files", AS_COUNT},
	{"direction", "direction", AS_TEXT},
	{"filter", "filter", AS_TEXT},
	{"snap", "snap", AS_COUNT},
	{"time", "duration_ns", AS_TIME},
	{"seen", "seen", AS_COUNT},
	{"accepted", "accepted", AS_COUNT},
	{"frames", "frames", AS_COUNT},
	{"bytes", "bytes", AS_COUNT},
	{"waiting", "waiting", AS_COUNT},
	{"no block", "no_block", AS_FAULT},
	{"write failed", "write_failed", AS_FAULT},
	{"beyond limit", "beyond_limit", AS_COUNT},
	{"rotated out", "rotated_out", AS_COUNT},
	{"file bytes", "file_bytes", AS_COUNT},
	{"memory", "memory_bytes", AS_COUNT},
};

static void put_text(struct grid *g, int row, int col, int width, const struct line *l,
		     const char *word)
{
	size_t n = strlen(word);

	/* Of a path the end tells most. */
	if (l->as == AS_TAIL && n >= (size_t)width)
		word += n - (size_t)width + 1;
	grid_right(g, row, col, width, strcmp(word, "failed") == 0 ? ROLE_WARN : ROLE_STAT_VALUES,
		   word);
}

static const char *line_title(unsigned line)
{
	return lines[line].title;
}

static void put_line(struct grid *g, int row, int col, int width, unsigned line, const json_t *port)
{
	const struct line *l = &lines[line];
	const json_t *v = json_object_get(port, l->key);

	width--; /* a blank between texts that are cut */
	switch (l->as) {
	case AS_TEXT:
	case AS_TAIL:
		put_text(g, row, col, width, l, page_str(port, l->key, "-"));
		break;
	case AS_TIME:
		page_put_ns(g, row, col, width, ROLE_STAT_VALUES, (double)json_integer_value(v));
		break;
	case AS_COUNT:
	case AS_FAULT:
		page_put_count(g, row, col, width,
			       l->as == AS_FAULT && json_integer_value(v) > 0 ? ROLE_WARN
									      : ROLE_STAT_VALUES,
			       v);
		break;
	}
}

static void capture_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	static const struct sheet sheet = {
		.none = "nothing has been captured; `capture 0 FILE` begins, `capture stop` ends",
		.label = 13,
		.width = 22,
		.nlines = ARRAY_SIZE(lines),
		.title = line_title,
		.put = put_line,
	};

	sheet_draw(&sheet, json_object_get(in->snap, "captures"), in, g, out);
}

const struct page page_capture = {
	.name = "capture",
	.parts = "captures",
	.draw = capture_draw,
	.help = "Captures of ports: the file, what ended it, and what became of the frames.",
};
