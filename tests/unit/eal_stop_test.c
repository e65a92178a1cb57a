/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of EAL, while its thread of interrupts listens to something that lies in its memory, as
 * the socket of a memif does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <rte_interrupts.h>

#include "port.h"

static void nothing(void *arg)
{
	(void)arg;
}

static void gone(struct rte_intr_handle *h, void *arg)
{
	(void)h, (void)arg;
}

/* What it listens to changes: so it goes through all of it. */
static void change(void *arg)
{
	rte_intr_callback_unregister_pending(arg, change, arg, gone);
}

static struct rte_intr_handle *listen_to(int fd, uint32_t where, rte_intr_callback_fn fn)
{
	struct rte_intr_handle *h = rte_intr_instance_alloc(where);

	assert_non_null(h);
	assert_int_equal(rte_intr_fd_set(h, fd), 0);
	assert_int_equal(rte_intr_type_set(h, RTE_INTR_HANDLE_EXT), 0);
	assert_int_equal(rte_intr_callback_register(h, fn, h), 0);
	return h;
}

static void test_nobody_reads_what_has_gone(void **state)
{
	struct eal_ask ask = {.prog = "eal_stop_test", .small_pages = true};
	int quiet = eventfd(0, EFD_CLOEXEC), waker = eventfd(0, EFD_CLOEXEC);
	struct err e = {.text = ""};
	uint64_t memory, one = 1;

	(void)state;
	if (eal_start(&ask, &memory, &e) < 0)
		fail_msg("%s", e.text);
	listen_to(quiet, RTE_INTR_INSTANCE_F_SHARED, nothing);
	listen_to(waker, RTE_INTR_INSTANCE_F_PRIVATE, change);
	eal_stop();
	assert_int_equal(write(waker, &one, sizeof(one)), sizeof(one));
	/* a thread that runs reads the memory at once, and that would end the process */
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_reads_what_has_gone),
	};

	return cmocka_run_group_tests_name("the end of EAL", tests, NULL, NULL);
}
