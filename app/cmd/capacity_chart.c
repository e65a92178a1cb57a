/* SPDX-License-Identifier: BSD-3-Clause */
/* The chart of what `capacity` measured: a bar of bits/s on the wire for each point, in text and as
 * SVG. A hollow bar stands for "at least", and a point without a number has none. */
#include "capacity_doc.h"
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 40

/* The scale of all bars: the link where a device has one and it is more, else the longest bar. */
static double chart_full(const json_t *doc)
{
	double most = 0;
	const json_t *p;
	size_t i;

	json_array_foreach(out_get(doc, "capacity.points"), i, p)
		most = fmax(most, json_number_value(json_object_get(p, "l1_bps")));
	if (json_is_true(out_get(doc, "capacity.link_told")))
		most = fmax(most, json_number_value(out_get(doc, "capacity.link_bps")));
	return most;
}

static void point_label(const json_t *p, char *out, size_t size)
{
	long long n = json_integer_value(json_object_get(p, "queues"));

	snprintf(out, size, "%-7s %5lld bytes %3lld queue%s",
		 json_string_value(json_object_get(p, "direction")),
		 (long long)json_integer_value(json_object_get(p, "size")), n, n == 1 ? " " : "s");
}

static bool is_least(const json_t *p)
{
	return strcmp(json_string_value(json_object_get(p, "state")),
		      capacity_state_name(CAPACITY_LEAST)) == 0;
}

/* "8.4G core", "at least 8.4G tester", "not valid". */
static void point_value(const json_t *p, struct sbuf *out)
{
	const json_t *bps = json_object_get(p, "l1_bps");
	const char *limit = json_string_value(json_object_get(p, "limit"));

	if (!json_is_number(bps)) {
		sbuf_add(out, json_string_value(json_object_get(p, "state")));
	} else {
		if (is_least(p))
			sbuf_add(out, "at least ");
		out_si(json_number_value(bps), out);
	}
	if (limit != NULL)
		sbuf_addf(out, "  %s", limit);
}

void capacity_chart(const json_t *doc, struct sbuf *out)
{
	double full = chart_full(doc);
	struct sbuf value = {0};
	char label[64];
	const json_t *p;
	size_t i;

	sbuf_add(out, "bits/s on the wire\n");
	json_array_foreach(out_get(doc, "capacity.points"), i, p) {
		double bps = json_number_value(json_object_get(p, "l1_bps"));
		int n = full > 0 ? (int)lround(bps / full * BAR_COLUMNS) : 0;
		char bar[BAR_COLUMNS + 1];
		memset(bar, is_least(p) ? ':' : '#', sizeof(bar) - 1);
		bar[n] = '\0';
		point_label(p, label, sizeof(label));
		sbuf_reset(&value);
		point_value(p, &value);
		sbuf_addf(out, "%s |%-*s| %s\n", label, BAR_COLUMNS, bar, sbuf_str(&value));
	}
	sbuf_free(&value);
}

/* ---- SVG ---- */

#define SVG_WIDE 860
#define SVG_LEFT 210
#define SVG_BAR 380
#define SVG_ROW 26
#define SVG_TOP 54

static const char *svg_colour(const json_t *p)
{
	const char *d = json_string_value(json_object_get(p, "direction"));

	for (unsigned i = 0; i < CAPACITY_DIRECTIONS; i++)
		if (strcmp(d, capacity_direction_name((enum capacity_direction)i)) == 0)
			return svg_colours[i];
	return svg_colours[0];
}

void capacity_svg(const json_t *doc, struct sbuf *out)
{
	const json_t *points = out_get(doc, "capacity.points"), *p;
	int high = SVG_TOP + (int)json_array_size(points) * SVG_ROW + 20;
	double full = chart_full(doc);
	struct sbuf value = {0};
	char text[256];
	size_t i;

	svg_open(SVG_WIDE, high, out);
	snprintf(text, sizeof(text), "What port %lld (%s) carries, in bits/s on the wire",
		 (long long)json_integer_value(out_get(doc, "capacity.port")),
		 json_string_value(out_get(doc, "capacity.name")));
	svg_text(16, 24, "start", text, out);
	json_array_foreach(points, i, p) {
		int y = SVG_TOP + (int)i * SVG_ROW;
		double bps = json_number_value(json_object_get(p, "l1_bps")),
		       wide = full > 0 ? bps / full * SVG_BAR : 0;
		point_label(p, text, sizeof(text));
		svg_text(SVG_LEFT - 8, y + 13, "end", text, out);
		if (wide > 0)
			sbuf_addf(
				out,
				"<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" stroke=\"%s\" fill=\"%s\"/>\n",
				SVG_LEFT, y, wide, SVG_ROW - 8, svg_colour(p),
				is_least(p) ? "#ffffff" : svg_colour(p));
		sbuf_reset(&value);
		point_value(p, &value);
		svg_text(SVG_LEFT + (int)wide + 8, y + 13, "start", sbuf_str(&value), out);
	}
	svg_close(out);
	sbuf_free(&value);
}
