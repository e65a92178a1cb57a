/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads descriptions of frames, one JSON object per line, and prints for each {"frames":[hex,
 * ..],"dissect":[..]} or {"error":text}.
 *   stack, size (0 is auto), fill (abc zero none user inc random hex file), user, seed, data (hex)
 *   set: {field: text}   nest: [[field, steps together with the one before], ..] rnd:
 *                        [{off,nbits,one,zero,rnd}, ..]
 *   probes: what is stamped into each of the frames, as hex, and checksums that see it are made
 *   anew
 *   at: ordinals whose frames are wanted   engine: {isa, queues}: from the worker's engine instead
 *                                          of the plain way
 *   dissect: are dissections wanted too?
 * {"hex": bytes} is only dissected. --table prints the protocol table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_dump.h"
#include "frame_run.h"

static const char *word_of(json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? s : "";
}

static uint64_t number_of(json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

static struct hexbytes *bytes_of(const char *hex)
{
	unsigned n = (unsigned)strlen(hex) / 2;
	struct hexbytes *b = xcalloc(1, sizeof(*b) + n);

	for (b->n = 0; b->n < n && sscanf(hex + 2 * b->n, "%2hhx", &b->b[b->n]) == 1; b->n++)
		;
	return b;
}

static int read_fill(json_t *ask, struct frame_spec *spec, struct err *e)
{
	static const char *const words[] = {
		[FILL_ABC] = "abc",   [FILL_ZERO] = "zero", [FILL_NONE] = "none",
		[FILL_USER] = "user", [FILL_INC] = "inc",   [FILL_RANDOM] = "random",
		[FILL_HEX] = "hex",   [FILL_FILE] = "file",
	};
	const char *fill = word_of(ask, "fill");
	unsigned i = 0;

	while (i < ARRAY_SIZE(words) && strcmp(words[i], fill) != 0)
		i++;
	if (i == ARRAY_SIZE(words))
		return err_set(e, 1, "unknown fill \"%s\"", fill);
	spec->fill = (enum frame_fill)i;
	spec->fill_seed = number_of(ask, "seed");
	strncpy(spec->user, word_of(ask, "user"), sizeof(spec->user));
	if (json_object_get(ask, "data") != NULL)
		spec->data = bytes_of(word_of(ask, "data"));
	return 0;
}

static int read_nest(json_t *nest, struct frame_nest *out, struct err *e)
{
	size_t i;
	json_t *pair;
	int rc = 0;

	json_array_foreach(nest, i, pair) {
		unsigned nth;
		if (rc != 0 || i >= FRAME_MAX_NEST)
			break;
		rc = frame_field_parse(json_string_value(json_array_get(pair, 0)),
				       &out->at[i].proto, &nth, &out->at[i].field, e);
		out->at[i].nth = (uint8_t)nth;
		out->at[i].same_digit = json_is_true(json_array_get(pair, 1));
		out->n++;
	}
	return rc;
}

static void read_rnd(json_t *rnd, struct frame_spec *spec)
{
	size_t i;
	json_t *r;

	json_array_foreach(rnd, i, r) {
		if (i >= FRAME_MAX_RND)
			break;
		spec->rnd_on = true;
		spec->rnd[i] = (struct frame_rnd){.on = true,
						  .off = (uint16_t)number_of(r, "off"),
						  .nbits = (uint8_t)number_of(r, "nbits"),
						  .one = (uint32_t)number_of(r, "one"),
						  .zero = (uint32_t)number_of(r, "zero"),
						  .rnd = (uint32_t)number_of(r, "rnd")};
	}
}

static int read_spec(json_t *ask, struct frame_spec *spec, struct err *e)
{
	const char *field;
	json_t *value;

	spec->size = (uint16_t)number_of(ask, "size");
	int rc = read_fill(ask, spec, e);
	if (rc == 0)
		rc = frame_stack_parse(word_of(ask, "stack"), &spec->stack, e);
	json_object_foreach(json_object_get(ask, "set"), field, value)
		if (rc == 0)
			rc = frame_vals_parse(&spec->vals, field, json_string_value(value), e);
	if (rc == 0)
		rc = read_nest(json_object_get(ask, "nest"), &spec->nest, e);
	read_rnd(json_object_get(ask, "rnd"), spec);
	spec->probe = json_object_get(ask, "probes") != NULL;
	return rc;
}

static void add_frame(json_t *answer, const uint8_t *bytes, unsigned len, bool dissect)
{
	struct sbuf hex = {0};

	for (unsigned i = 0; i < len; i++)
		sbuf_addf(&hex, "%02x", bytes[i]);
	json_array_append_new(json_object_get(answer, "frames"), json_string(sbuf_str(&hex)));
	if (dissect)
		json_array_append_new(json_object_get(answer, "dissect"),
				      frame_dissect(bytes, len));
	sbuf_free(&hex);
}

/* Writes the probe into a frame that is ready otherwise, as a worker does. */
static void stamp(json_t *ask, size_t i, const struct frun *f, const struct frame_recipe *recipe,
		  uint8_t *bytes)
{
	json_t *probes = json_object_get(ask, "probes");

	if (probes == NULL)
		return;
	struct hexbytes *b = bytes_of(json_string_value(json_array_get(probes, i)));
	memcpy(bytes + recipe->probe_off, b->b, b->n);
	free(b);
	frun_probe_sums(f, 0, bytes);
}

/* ---- the worker's engine ---- */

/* The engine sends one stream on some queues. Its objects are as control makes them: the image of
 * their class lies behind room for lengths. */
enum { DATA = 64, OBJS = 13, OBJ_SIZE = DATA + FRAME_MAX_LEN + 256 };

struct engine {
	struct frun_spec spec;
	struct frun *f;
	void *state;
	void *obj[OBJS];
};

static int engine_open(struct engine *en, unsigned queue, struct err *e)
{
	en->spec.first = queue;
	en->f = frun_new(&en->spec, e);
	if (en->f == NULL)
		return -1;
	const struct frun_class *c = frun_class(en->f, 0);
	size_t size = (frun_state_size(en->f) + 63) / 64 * 64 + 64;
	en->state = aligned_alloc(64, size);
	memset(en->state, 0, size);
	for (unsigned i = 0; i < OBJS; i++) {
		en->obj[i] = aligned_alloc(64, OBJ_SIZE / 64 * 64);
		memset(en->obj[i], 0xee, OBJ_SIZE / 64 * 64);
		memcpy((uint8_t *)en->obj[i] + DATA, c->bytes, c->len);
	}
	frun_begin(en->f, en->state);
	return 0;
}

static void engine_close(struct engine *en)
{
	frun_free(en->f);
	free(en->state);
	for (unsigned i = 0; i < OBJS; i++)
		free(en->obj[i]);
}

/* Returns frame k, which is one of queue k mod queues. Bursts of different lengths lead to it; if
 * there are many frames before it, only the last of them are made. */
static uint8_t *engine_frame(struct engine *en, uint64_t k)
{
	uint64_t want = k / en->spec.nqueues, i = want > 100 ? want - 37 : 0;
	unsigned last = 0;

	if (frun_is_fixed(en->f))
		return (uint8_t *)en->obj[0] + DATA;
	frun_seek(en->f, en->state, i);
	for (unsigned n = 1; i <= want; n = n % OBJS + 1) {
		unsigned burst = want + 1 - i < n ? (unsigned)(want + 1 - i) : n;
		frun_fill(en->f, en->state, en->obj, burst);
		i += burst;
		last = burst - 1;
	}
	return (uint8_t *)en->obj[last] + DATA;
}

static int engine_frames(json_t *ask, const struct frame_recipe *recipe, json_t *answer,
			 struct err *e)
{
	static const struct frun_slot slot;
	static const uint32_t id;
	json_t *how = json_object_get(ask, "engine"), *k;
	struct engine en = {.spec = {.cycle = &slot,
				     .ncycle = 1,
				     .recipe = &recipe,
				     .nrecipes = 1,
				     .stream_id = &id,
				     .nstreams = 1}};
	size_t i;
	int rc = 0;

	en.spec.nqueues = (unsigned)number_of(how, "queues");
	en.spec.isa = json_string_value(json_object_get(how, "isa"));
	en.spec.data_off = DATA;
	en.spec.len16_off = 0;
	en.spec.len32_off = 8;
	json_array_foreach(json_object_get(ask, "at"), i, k) {
		if (rc != 0)
			break;
		uint64_t at = (uint64_t)json_integer_value(k);
		rc = engine_open(&en, (unsigned)(at % en.spec.nqueues), e);
		if (rc == 0) {
			uint8_t *bytes = engine_frame(&en, at);
			stamp(ask, i, en.f, recipe, bytes);
			add_frame(answer, bytes, recipe->len,
				  json_is_true(json_object_get(ask, "dissect")));
			json_object_set_new(answer, "engine", json_string(frun_engine(en.f)));
			json_object_set_new(answer, "sums", json_string(frun_sums(en.f)));
			engine_close(&en);
		}
	}
	return rc;
}

static int plain_frames(json_t *ask, const struct frame_recipe *recipe, json_t *answer)
{
	static uint8_t bytes[FRAME_MAX_LEN + 4];
	static const struct frun_slot slot;
	static const uint32_t id;
	struct frun_spec spec = {.cycle = &slot,
				 .ncycle = 1,
				 .recipe = &recipe,
				 .nrecipes = 1,
				 .stream_id = &id,
				 .nstreams = 1,
				 .nqueues = 1};
	struct frun *f = frun_new(&spec, NULL);
	size_t i;
	json_t *o;

	json_array_foreach(json_object_get(ask, "at"), i, o) {
		frame_recipe_at(recipe, (uint64_t)json_integer_value(o), bytes);
		stamp(ask, i, f, recipe, bytes);
		add_frame(answer, bytes, recipe->len,
			  json_is_true(json_object_get(ask, "dissect")));
	}
	frun_free(f);
	return 0;
}

/* Says whether frame_build() makes the frame of ordinal 0. Random bits (rnd), and random values
 * without a seed of the user's, are made by recipes alone. */
static bool builder_knows(const struct frame_spec *spec)
{
	for (unsigned i = 0; i < spec->vals.n; i++) {
		const struct vary *v = spec->vals.val[i].vary;
		if (v != NULL && (v->kind == VARY_RANDOM || v->kind == VARY_MASK) && v->seed == 0)
			return false;
	}
	return !spec->rnd_on;
}

/* Checks that frame_build() makes the same frame as the recipe, if it makes it at all. */
static int check_build(const struct frame_spec *spec, const struct frame_recipe *recipe,
		       struct err *e)
{
	static struct frame f;
	int rc = frame_build(spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, e);

	if (rc == 0 && builder_knows(spec) &&
	    (f.len != recipe->len || memcmp(f.bytes, recipe->bytes, f.len) != 0))
		return err_set(e, 1,
			       "frame_build() and frame_compile() do not make the same frame");
	return rc;
}

static int answer_spec(json_t *ask, json_t *answer, struct err *e)
{
	struct frame_spec spec = {0};
	struct frame_recipe recipe = {0};

	int rc = read_spec(ask, &spec, e);
	if (rc == 0)
		rc = frame_compile(&spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &recipe, e);
	if (rc == 0) {
		rc = check_build(&spec, &recipe, e);
		if (rc == 0 && json_object_get(ask, "engine") != NULL)
			rc = engine_frames(ask, &recipe, answer, e);
		else if (rc == 0)
			rc = plain_frames(ask, &recipe, answer);
		json_object_set_new(answer, "vars", json_integer(recipe.nvars));
		frame_recipe_free(&recipe);
	}
	frame_spec_free(&spec);
	return rc;
}

static void answer_line(json_t *ask)
{
	json_t *answer = json_pack("{s:[], s:[]}", "frames", "dissect"),
	       *hex = json_object_get(ask, "hex");
	struct err e = {.text = ""};
	int rc = 0;

	if (hex != NULL) {
		struct hexbytes *b = bytes_of(json_string_value(hex));
		add_frame(answer, b->b, b->n, true);
		free(b);
	} else {
		rc = answer_spec(ask, answer, &e);
	}
	if (rc != 0) {
		json_decref(answer);
		answer = json_pack("{s:s}", "error", e.text);
	}
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(answer);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t cap = 0;

	if (argc == 2 && strcmp(argv[1], "--table") == 0) {
		json_t *table = table_json();
		json_dumpf(table, stdout, 0);
		json_decref(table);
		return 0;
	}
	while (getline(&line, &cap, stdin) > 0) {
		json_t *ask = json_loads(line, 0, NULL);
		if (ask == NULL)
			return 1;
		answer_line(ask);
		json_decref(ask);
	}
	free(line);
	return 0;
}
