/* SPDX-License-Identifier: BSD-3-Clause */
/* How DPDK came into the program, and which of its drivers are there. */
#include <ctype.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "port_int.h"

#ifdef RTE_EAL_PMD_PATH
#define PMD_DIR RTE_EAL_PMD_PATH
#else
#define PMD_DIR ""
#endif

static int is_eal(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size, (void)arg;
	return strncmp(slash != NULL ? slash + 1 : info->dlpi_name, "librte_eal.so", 13) == 0;
}

bool linked_static(void)
{
	return dl_iterate_phdr(is_eal, NULL) == 0;
}

/* Takes the driver's name from a device's name: net_af_packet from net_af_packet0. */
static void driver_of(const char *devname, char *out, size_t size)
{
	snprintf(out, size, "%s", devname);
	size_t n = strlen(out);
	while (n > 0 && isdigit((unsigned char)out[n - 1]))
		out[--n] = '\0';
}

/* The name of Debian's package of the driver. Its folder is .../pmds-23.0, and packages have the
 * 23. */
static void package_of(const char *driver, char *out, size_t size)
{
	const char *abi = strrchr(PMD_DIR, '-');
	size_t n = strlen(driver);

	snprintf(out, size, "librte-%s%s%.*s", driver,
		 n > 0 && isdigit((unsigned char)driver[n - 1]) ? "-" : "",
		 abi != NULL ? (int)strcspn(abi + 1, ".") : 0, abi != NULL ? abi + 1 : "");
	for (char *c = out; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
}

int linked_driver(const char *devname, const char *spec, struct err *e)
{
	struct rte_devargs da = {0};
	char driver[64], package[96];

	/* A virtual device's name is one if a driver takes it for its own. */
	if (rte_devargs_parse(&da, devname) == 0) {
		rte_devargs_reset(&da);
		return 0;
	}
	driver_of(devname, driver, sizeof(driver));
	if (linked_static())
		return err_set(
			e, ENODEV,
			"port '%s': DPDK has no driver '%s' in this program: check the name; drivers of shared libraries "
			"are for a program that is built with -Ddpdk_link=shared",
			spec, driver);
	package_of(driver, package, sizeof(package));
	return err_set(
		e, ENODEV,
		"port '%s': DPDK has no driver '%s' here (looked in %s): check the name, or on Debian: "
		"apt install %s",
		spec, driver, PMD_DIR, package);
}
