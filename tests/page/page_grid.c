/* SPDX-License-Identifier: BSD-3-Clause */
/* page_grid FILE PAGE COLSxROWS [option...] draws a page from a snapshot in a file (as `show
 * snapshot` and `show page` print it with --json) and prints it as text, each row behind a '|'. A
 * line above the page tells what the page says of what it did not draw. Options: ascii, roles
 * (prints for each row column, width and role of what is not blank), port=N stream=N first=N
 * max_ports=N top=N spin=N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

static const char *const role_name[] = {
#define ROLE(id, name, help) name,
	THEME_ROLES(ROLE)
#undef ROLE
};

static int usage(const char *why)
{
	fprintf(stderr,
		"page_grid: %s\nusage: page_grid FILE PAGE COLSxROWS [ascii] [roles] [port=N] [stream=N] [first=N] "
		"[max_ports=N] [top=N] [spin=N]\n",
		why);
	return 2;
}

static bool option(const char *word, struct page_in *in, bool *roles)
{
	struct {
		const char *name;
		unsigned *to;
	} const numbers[] = {
		{"port=", &in->port},           {"stream=", &in->stream}, {"first=", &in->first},
		{"max_ports=", &in->max_ports}, {"top=", &in->top},       {"spin=", &in->spin},
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0) {
			*numbers[i].to =
				(unsigned)strtoul(word + strlen(numbers[i].name), NULL, 10);
			return true;
		}
	in->ascii |= strcmp(word, "ascii") == 0;
	*roles |= strcmp(word, "roles") == 0;
	return strcmp(word, "ascii") == 0 || strcmp(word, "roles") == 0;
}

static void print_text(const struct grid *g)
{
	struct sbuf b = {0};
	char *save = NULL;

	grid_text(g, &b);
	for (char *p = b.s; p != NULL && *p != '\0'; p = save) {
		save = strchr(p, '\n');
		printf("|%.*s\n", (int)(save - p), p);
		save++;
	}
	sbuf_free(&b);
}

static bool same(const struct grid_cell *a, const struct grid_cell *b)
{
	return a->role == b->role;
}

static void print_roles(struct grid *g)
{
	for (int r = 0; r < g->rows; r++) {
		const char *sep = "";
		for (int c = 0, end; c < g->cols; c = end) {
			const struct grid_cell *first = grid_at(g, r, c);
			for (end = c + 1; end < g->cols && same(grid_at(g, r, end), first); end++)
				;
			if (first->role == ROLE_DEFAULT)
				continue;
			if (sep[0] == '\0')
				printf("roles %d:", r);
			printf("%s %d+%d %s", sep, c, end - c, role_name[first->role]);
			sep = ",";
		}
		if (sep[0] != '\0')
			printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct page_in in = {0};
	struct page_out out;
	const struct page *page;
	json_error_t why;
	struct grid g;
	struct err e;
	bool roles = false;
	int rows, cols;

	if (argc < 4)
		return usage("too few words");
	json_t *snap = json_load_file(argv[1], 0, &why);
	if (snap == NULL)
		return usage(why.text);
	page = page_find(argv[2], &e);
	if (page == NULL)
		return usage(e.text);
	if (sscanf(argv[3], "%dx%d", &cols, &rows) != 2)
		return usage("the size is COLSxROWS");
	in.snap = snap;
	for (int i = 4; i < argc; i++)
		if (!option(argv[i], &in, &roles))
			return usage(argv[i]);
	grid_init(&g, rows, cols);
	page_draw(page, &in, &g, &out);
	printf("ports %u/%u rows %u/%u\n", out.shown, out.of, out.rows, out.all);
	print_text(&g);
	if (roles)
		print_roles(&g);
	grid_free(&g);
	json_decref(snap);
	return 0;
}
