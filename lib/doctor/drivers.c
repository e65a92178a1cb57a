/* SPDX-License-Identifier: BSD-3-Clause */
/* Which driver a NIC is to be bound to. Drivers of DPDK for mlx4, mlx5 and mana work beside the
 * kernel's; others need the device for themselves, through vfio-pci (DPDK Getting Started Guide for
 * Linux, "Linux Drivers"). What a device needs is known by its maker and its number, whatever it is
 * bound to. */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

/* Devices that DPDK drives beside a driver of the kernel: ConnectX-3, ConnectX-4 and later,
 * BlueField, and those of Azure. */
static const struct {
	uint32_t vendor, least, most;
	const char *driver;
} beside[] = {
	{0x15b3, 0x1003, 0x1007, "mlx4_core"},
	{0x15b3, 0x1013, 0x10ff, "mlx5_core"},
	{0x15b3, 0xa2d0, 0xa2ff, "mlx5_core"},
	{0x1414, 0x00b9, 0x00ba, "mana"},
};

static const struct {
	const char *driver;
	enum doctor_driver kind;
} drivers[] = {
	{"vfio-pci", DOCTOR_DRIVER_BOUND},        {"igb_uio", DOCTOR_DRIVER_BOUND},
	{"uio_pci_generic", DOCTOR_DRIVER_BOUND}, {"mlx4_core", DOCTOR_DRIVER_SHARED},
	{"mlx5_core", DOCTOR_DRIVER_SHARED},      {"mana", DOCTOR_DRIVER_SHARED},
};

/* NICs for which DPDK has no driver, by the kernel's driver, and by makers all of whose NICs are
 * such. since: the first version of DPDK that has one, 100 * year + month; 0: none has. */
static const struct {
	const char *driver;
	unsigned since;
} lacking[] = {{"r8169", 2411},  {"8139too", 0}, {"8139cp", 0}, {"alx", 0},  {"atl1c", 0},
	       {"atl1e", 0},     {"atl1", 0},    {"atl2", 0},   {"tg3", 0},  {"bnx2", 0},
	       {"b44", 0},       {"sky2", 0},    {"skge", 0},   {"e100", 0}, {"be2net", 0},
	       {"forcedeth", 0}, {"qlcnic", 0},  {"pcnet32", 0}};
static const struct {
	uint32_t vendor;
	unsigned since;
} makers[] = {{0x10ec, 2411}, {0x1969, 0}};

const char *doctor_driver_wanted(uint32_t vendor, uint32_t device)
{
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		if (vendor == beside[i].vendor && device >= beside[i].least &&
		    device <= beside[i].most)
			return beside[i].driver;
	return "vfio-pci";
}

static bool driver_lacking(const char *driver, uint32_t vendor, const char *dpdk)
{
	unsigned year = 0, month = 0;

	sscanf(dpdk, "DPDK %u.%u", &year, &month);
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++)
		if (strcmp(driver, lacking[i].driver) == 0)
			return lacking[i].since == 0 || year * 100 + month < lacking[i].since;
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		if (vendor == makers[i].vendor)
			return makers[i].since == 0 || year * 100 + month < makers[i].since;
	return false;
}

enum doctor_driver doctor_driver_kind(const char *driver, uint32_t vendor, uint32_t device,
				      const char *dpdk)
{
	const char *wanted = doctor_driver_wanted(vendor, device);

	if (strcmp(wanted, "vfio-pci") != 0)
		return strcmp(driver, wanted) == 0 ? DOCTOR_DRIVER_SHARED : DOCTOR_DRIVER_LOST;
	if (driver_lacking(driver, vendor, dpdk))
		return DOCTOR_DRIVER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(driver, drivers[i].driver) == 0)
			return drivers[i].kind;
	return DOCTOR_DRIVER_KERNEL;
}
