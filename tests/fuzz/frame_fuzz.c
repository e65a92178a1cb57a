/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes frames of stacks, values and variations from the tables, given as text or as bytes. They
 * are built in all ways, which must agree, and dissected again. The dissector also gets arbitrary
 * bytes. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "frame_run.h"
#include "input.h"

#define MAX_SIZE 2000 /* largest frame for the engine; larger ones only cost time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(void *arg, const char *word)
{
	(void)arg;
	(void)word;
}

static void dissect(const uint8_t *bytes, unsigned len)
{
	struct sbuf out = {0};
	json_t *j = frame_dissect(bytes, len);
	json_t *payload = json_object_get(j, "payload"), *padding = json_object_get(j, "padding");

	CHECK(json_integer_value(json_object_get(payload, "offset")) +
		      json_integer_value(json_object_get(payload, "len")) +
		      json_integer_value(json_object_get(padding, "len")) ==
	      (json_int_t)len);
	frame_print(bytes, len, &out);
	frame_brief(bytes, len, len, true, &out, NULL);
	frame_brief(bytes, len / 2, len, true, &out, NULL);
	sbuf_free(&out);
	json_decref(j);
}

/* Says whether a payload behind this header may look like another header, because nothing in the
 * header names what it carries. */
static bool is_open(const struct proto *last)
{
	static const char *const open[] = {"mpls", "gtpu", "vxlan"};

	for (unsigned i = 0; i < ARRAY_SIZE(open); i++)
		if (strcmp(last->name, open[i]) == 0)
			return true;
	return false;
}

/* Checks that the dissector finds the stack of a frame in which no values were set. */
static void check_plain(const struct frame_spec *spec, const struct frame *f)
{
	struct sbuf stack = {0};
	json_t *j = frame_dissect(f->bytes, f->len), *h;
	const char *found = json_string_value(json_object_get(j, "stack"));
	size_t i;

	frame_stack_print(&spec->stack, &stack);
	CHECK(strncmp(sbuf_str(&stack), found, stack.len) == 0);
	if (!is_open(spec->stack.hdr[spec->stack.n - 1])) {
		/* The payload may have a probe's sum by chance. */
		CHECK(strcmp(found + stack.len, "/probe") == 0 ||
		      (found[stack.len] == '\0' && spec->probe == 0));
		json_array_foreach(json_object_get(j, "headers"), i, h) {
			CHECK(json_object_get(h, "malformed") == NULL);
			CHECK(!json_is_false(
				json_object_get(json_object_get(h, "fields"), "cksum_ok")));
		}
	}
	sbuf_free(&stack);
	json_decref(j);
}

/* ---- all ways to make a frame ---- */

static void build(const struct frame_spec *spec)
{
	static struct frame f;
	struct err e = {.text = ""};

	if (frame_build(spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e) != 0) {
		CHECK(e.text[0] != '\0');
		return;
	}
	CHECK(f.len >= FRAME_MIN_LEN && f.len <= FRAME_MAX_LEN && f.len >= frame_headers_len(spec));
	CHECK(spec->size == 0 || f.len + FRAME_FCS == spec->size);
	dissect(f.bytes, f.len);
	if (spec->vals.n == 0)
		check_plain(spec, &f);
}

#define STREAMS 3
#define PLANS 2
#define CYCLE 7
#define OBJS 16
#define DATA 64

struct run {
	struct frun_slot cycle[CYCLE];
	uint32_t id[STREAMS];
	uint64_t o0[STREAMS];
	const struct frame_recipe *recipe[PLANS];
	struct frun_spec spec;
	struct frun *f;
	uint8_t *obj[OBJS];
	unsigned class[OBJS];
};

static void give_object(struct run *r, unsigned n, unsigned class)
{
	const struct frun_class *c = frun_class(r->f, class);

	if (r->obj[n] != NULL && r->class[n] == class)
		return;
	free(r->obj[n]);
	r->obj[n] =
		aligned_alloc(64, DATA + (c->len > FRUN_MIN_ROOM ? c->len + 63u : FRUN_MIN_ROOM) /
						  64 * 64);
	memcpy(r->obj[n] + DATA, c->bytes, c->len);
	r->class[n] = class;
}

/* Compares own frame i with the frame that is made in the plain way. */
static void check_frame(const struct run *r, uint64_t i, const uint8_t *obj)
{
	static uint8_t want[FRAME_MAX_LEN + 4];
	uint64_t k = r->spec.first + i * r->spec.nqueues, ordinal;
	unsigned at = (unsigned)(k % r->spec.ncycle), per_cycle = 0, before = 0;
	const struct frun_slot *slot = &r->cycle[at];
	const struct frame_recipe *recipe = r->recipe[slot->recipe];

	for (unsigned n = 0; n < r->spec.ncycle; n++) {
		per_cycle += r->cycle[n].stream == slot->stream;
		before += n < at && r->cycle[n].stream == slot->stream;
	}
	ordinal = (r->spec.o0 != NULL ? r->o0[slot->stream] : 0) + k / r->spec.ncycle * per_cycle +
		  before;
	frame_recipe_at(recipe, ordinal, want);
	CHECK(frun_bytes(r->f, i, 1) == recipe->len + FRAME_FCS);
	CHECK(memcmp(want, obj + DATA, recipe->len) == 0);
	if (frun_len(r->f) != 0) {
		CHECK(frun_len(r->f) == recipe->len);
	} else {
		uint16_t len16;
		uint32_t len32;
		memcpy(&len16, obj + r->spec.len16_off, sizeof(len16));
		memcpy(&len32, obj + r->spec.len32_off, sizeof(len32));
		CHECK(len16 == recipe->len && len32 == recipe->len);
	}
}

static void run_bursts(struct run *r, struct input *in)
{
	size_t size = (frun_state_size(r->f) + 63) / 64 * 64 + 64;
	void *state = aligned_alloc(64, size);
	uint64_t i = (byte(in) & 1) != 0 ? number(in, 5) : 0;

	memset(state, 0, size);
	frun_begin(r->f, state);
	if (i != 0)
		frun_seek(r->f, state, i);
	for (unsigned burst = 0; burst < 6; burst++) {
		unsigned n = byte(in) % OBJS + 1;
		CHECK(frun_pos(r->f, state) == i);
		for (unsigned m = 0; m < n; m++)
			give_object(r, m, frun_nclasses(r->f) > 1 ? frun_class_of(r->f, i + m) : 0);
		frun_fill(r->f, state, (void *const *)r->obj, n);
		for (unsigned m = 0; m < n; m++)
			check_frame(r, i + m, r->obj[m]);
		i += n;
	}
	free(state);
}

static void run_engine(struct run *r, unsigned nrecipes, struct input *in)
{
	static const char *const isas[] = {NULL, "scalar", "ssse3", "avx2", "avx512"};
	struct err e = {.text = ""};

	r->spec.ncycle = byte(in) % CYCLE + 1;
	r->spec.nstreams = byte(in) % STREAMS + 1;
	r->spec.nqueues = byte(in) % 4 + 1;
	r->spec.first = byte(in) % r->spec.nqueues;
	for (unsigned n = 0; n < r->spec.ncycle; n++) {
		r->cycle[n].stream = (uint16_t)(byte(in) % r->spec.nstreams);
		r->cycle[n].recipe = (uint16_t)(byte(in) % nrecipes);
	}
	for (unsigned n = 0; n < STREAMS; n++) {
		r->id[n] = n * 7 + 1;
		r->o0[n] = number(in, n * 2);
	}
	r->spec.cycle = r->cycle;
	r->spec.recipe = r->recipe;
	r->spec.nrecipes = nrecipes;
	r->spec.stream_id = r->id;
	r->spec.o0 = (byte(in) & 1) != 0 ? r->o0 : NULL;
	r->spec.data_off = DATA;
	r->spec.len32_off = 8;
	r->spec.isa = isas[byte(in) % ARRAY_SIZE(isas)];
	r->f = frun_new(&r->spec, &e);
	if (r->f == NULL) {
		CHECK(e.text[0] != '\0');
		return;
	}
	if (frun_is_fixed(r->f)) {
		give_object(r, 0, 0);
		frame_recipe_at(r->recipe[r->cycle[r->spec.first % r->spec.ncycle].recipe], 0,
				r->obj[0] + DATA);
		CHECK(memcmp(r->obj[0] + DATA, frun_class(r->f, 0)->bytes,
			     frun_class(r->f, 0)->len) == 0);
	} else {
		run_bursts(r, in);
	}
	for (unsigned n = 0; n < OBJS; n++)
		free(r->obj[n]);
	frun_free(r->f);
}

/* Says whether frame_build() makes the frame of ordinal 0. Random bits (rnd), and random values
 * without a seed of the user's, are made by templates alone. */
static bool builder_knows(const struct frame_spec *spec)
{
	for (unsigned i = 0; i < spec->vals.n; i++) {
		const struct vary *v = spec->vals.val[i].vary;
		if (v != NULL && (v->kind == VARY_RANDOM || v->kind == VARY_MASK) && v->seed == 0)
			return false;
	}
	return !spec->rnd_on;
}

/* Compiles templates of the stream for some sizes, and checks their frames, first those made in the
 * plain way and then the engine's. */
static void compile(struct frame_spec *spec, struct input *in)
{
	static uint8_t bytes[FRAME_MAX_LEN + 4];
	static struct frame f;
	struct frame_recipe recipe[PLANS] = {0};
	struct run r = {.recipe = {&recipe[0], &recipe[1]}};
	struct err e = {.text = ""};
	unsigned n = 0;

	for (; n < PLANS; n++) {
		if (frame_compile(spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &recipe[n], &e) != 0) {
			CHECK(e.text[0] != '\0');
			break;
		}
		CHECK(frame_build(spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e) == 0 &&
		      f.len == recipe[n].len);
		CHECK(!builder_knows(spec) || memcmp(f.bytes, recipe[n].bytes, f.len) == 0);
		frame_recipe_at(&recipe[n], 0, bytes);
		CHECK(memcmp(bytes, recipe[n].bytes, f.len) == 0);
		frame_recipe_at(&recipe[n], number(in, 8), bytes);
		dissect(bytes, f.len);
		spec->size = (uint16_t)(f.len + FRAME_FCS + byte(in) % 40);
	}
	if (n > 0)
		run_engine(&r, n, in);
	while (n-- > 0)
		frame_recipe_free(&recipe[n]);
}

/* ---- specs from bytes ---- */

static void make_stack(struct frame_stack *s, struct input *in)
{
	unsigned depth = byte(in) % 12 + 1;
	const struct proto *next[64];

	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		if ((*p)->starts)
			s->hdr[0] = *p;
	for (s->n = 1; s->n < depth; s->n++) {
		unsigned n = 0;
		for (const struct proto *const *p = proto_table; *p != NULL; p++)
			if (!(*p)->is_payload && proto_bind(s->hdr[s->n - 1], *p) != NULL)
				next[n++] = *p;
		if (n == 0)
			return;
		s->hdr[s->n] = next[byte(in) % n];
	}
}

/* Returns a number that the field may hold. */
static vary_u field_number(const struct field *f, struct input *in)
{
	unsigned bits = f->bits != 0 ? f->bits : 1;
	vary_u x = 0;

	for (unsigned n = 0; n < bits; n += 8)
		x = x << 8 | byte(in);
	if (bits < 128)
		x &= ((vary_u)1 << bits) - 1;
	if (f->max != 0 && (x < f->min || x > f->max))
		x = f->min + x % (f->max - f->min + 1);
	return x;
}

static void make_vary(struct vary *v, vary_u *list, const struct field *f, struct input *in)
{
	vary_u a = field_number(f, in), b = field_number(f, in);

	*v = (struct vary){.kind = (uint8_t)(VARY_RANGE + byte(in) % 4),
			   .bits = (uint8_t)f->bits,
			   .div = 1,
			   .first = a};
	v->lo = a < b ? a : b;
	v->hi = a < b ? b : a;
	v->seed = number(in, 2);
	v->repeat = number(in, 1);
	if (v->kind == VARY_RANGE) {
		v->down = (byte(in) & 1) != 0;
		v->step = (byte(in) & 1) != 0 ? byte(in) + 1
					      : field_number(f, in) + (field_number(f, in) == 0);
		if (v->step == 0)
			v->step = 1;
	} else if (v->kind == VARY_LIST) {
		v->n = byte(in) % 5 + 2;
		v->list = list;
		list[0] = a;
		for (unsigned i = 1; i < v->n; i++)
			list[i] = field_number(f, in);
	} else if (v->kind == VARY_MASK) {
		v->mask = field_number(f, in);
	}
}

static void make_bytes(struct frame_spec *spec, const struct proto *p, unsigned nth,
		       const struct field *f, struct input *in)
{
	struct hexbytes *bytes = xcalloc(1, HEXBYTES_SIZE);
	unsigned n = byte(in) % 70;

	bytes->n = (uint16_t)(f->max != 0 && n > f->max ? f->max : n);
	for (unsigned i = 0; i < bytes->n; i++)
		bytes->b[i] = (uint8_t)byte(in);
	frame_vals_bytes(&spec->vals, p, nth, f, bytes);
	free(bytes);
}

static void make_value(struct frame_spec *spec, struct input *in)
{
	const struct proto *p = spec->stack.hdr[byte(in) % spec->stack.n];
	unsigned n = 0, nth = byte(in) % 8 == 0 ? 2 : 1;
	uint8_t raw[VT_FIELD_BYTES];
	vary_u list[8];
	struct vary v;

	while (p->fields[n].name != NULL)
		n++;
	if (n == 0)
		return;
	const struct field *f = &p->fields[byte(in) % n];
	if (f->kind == FIELD_BYTES) {
		make_bytes(spec, p, nth, f, in);
	} else if (f->bits == 0 || (byte(in) & 1) != 0) {
		vary_store(field_number(f, in), raw);
		frame_vals_set(&spec->vals, p, nth, f, raw);
	} else {
		make_vary(&v, list, f, in);
		frame_vals_vary(&spec->vals, p, nth, f, &v);
		if (spec->nest.n < FRAME_MAX_NEST && byte(in) % 4 == 0) {
			unsigned at = spec->nest.n++;
			spec->nest.at[at].proto = p;
			spec->nest.at[at].field = f;
			spec->nest.at[at].nth = (uint8_t)nth;
			spec->nest.at[at].same_digit = at > 0 && (byte(in) & 1) != 0;
		}
	}
}

static void make_fill(struct frame_spec *spec, struct input *in)
{
	spec->fill = (enum frame_fill)(byte(in) % (FILL_FILE + 1));
	spec->fill_seed = number(in, 3);
	for (unsigned i = 0; i < byte(in) % sizeof(spec->user); i++)
		spec->user[i] = (char)byte(in);
	if (spec->fill == FILL_HEX || spec->fill == FILL_FILE) {
		spec->data = xcalloc(1, HEXBYTES_SIZE);
		spec->data->n = (uint16_t)(byte(in) % 50);
		for (unsigned i = 0; i < spec->data->n; i++)
			spec->data->b[i] = (uint8_t)byte(in);
	}
}

static void binary_input(struct input *in)
{
	struct frame_spec spec = {0};

	make_stack(&spec.stack, in);
	spec.size = (uint16_t)((byte(in) & 1) != 0 ? number(in, 2) % MAX_SIZE : 0);
	make_fill(&spec, in);
	for (unsigned n = byte(in) % 8; n > 0; n--)
		make_value(&spec, in);
	for (unsigned n = byte(in) % 8 == 0 ? byte(in) % 4 : 0; n > 0; n--) {
		spec.rnd_on = true;
		spec.rnd[n] = (struct frame_rnd){.on = true,
						 .off = (uint16_t)number(in, 2) % 300,
						 .nbits = (uint8_t)(byte(in) % 32 + 1),
						 .one = (uint32_t)number(in, 4),
						 .zero = (uint32_t)number(in, 4),
						 .rnd = (uint32_t)number(in, 4)};
	}
	spec.probe = byte(in) % 4 == 0 ? 1u + byte(in) : 0;
	struct frame_spec copy;
	frame_spec_copy(&copy, &spec);
	frame_spec_free(&spec);
	build(&copy);
	compile(&copy, in);
	frame_spec_free(&copy);
}

/* Takes a text: a stack, and then a line "field=value" for each value. */
static void text_input(char *text, unsigned size, struct input *in)
{
	struct frame_spec spec = {.size = (uint16_t)size};
	struct frame_stack again;
	struct sbuf printed = {0};
	struct err e = {.text = ""};
	char *save = NULL, *stack = strtok_r(text, " \n", &save);

	if (stack == NULL)
		return;
	frame_stack_complete(stack, nothing, NULL);
	if (frame_stack_parse(stack, &spec.stack, &e) != 0) {
		CHECK(e.text[0] != '\0' && e.col >= 0 && e.col <= (int)strlen(stack));
		return;
	}
	frame_stack_print(&spec.stack, &printed);
	CHECK(frame_stack_parse(sbuf_str(&printed), &again, &e) == 0 && again.n == spec.stack.n);
	for (char *w; (w = strtok_r(NULL, "\n", &save)) != NULL;) {
		char *eq = strchr(w, '=');
		if (eq != NULL)
			*eq = '\0';
		if (frame_vals_parse(&spec.vals, w, eq != NULL ? eq + 1 : "", &e) != 0)
			CHECK(e.text[0] != '\0');
	}
	build(&spec);
	if (size < MAX_SIZE)
		compile(&spec, in);
	sbuf_free(&printed);
	frame_spec_free(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data + 1, data + size};

	if (size < 3 || size > FRAME_MAX_LEN)
		return 0;
	if (data[0] % 3 == 0) {
		char *text = strndup((const char *)data + 3, size - 3);
		text_input(text, (unsigned)data[1] << 8 | data[2], &in);
		free(text);
	} else if (data[0] % 3 == 1) {
		/* The copy has exactly as many bytes as there are, so that the sanitizer sees a
		 * byte too many. */
		uint8_t *copy = malloc(size - 1);
		memcpy(copy, data + 1, size - 1);
		dissect(copy, (unsigned)size - 1);
		free(copy);
	} else {
		binary_input(&in);
	}
	return 0;
}
