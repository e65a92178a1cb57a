/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_new.h"

static void fill_fixed(const struct frun *f, struct run_state *st, void *const *obj, unsigned n)
{
	(void)f;
	(void)obj;
	st->pos += n;
}

int run_make_engine(struct run_make *m, struct err *e)
{
	struct frun *f = &m->f;

	(void)e;
	f->lanes = f->own;
	f->fill = run_fill_scalar;
	f->engine = "scalar";
	if (f->fixed) {
		f->fill = fill_fixed;
		f->engine = "fixed";
	}
	return 0;
}
