/* SPDX-License-Identifier: BSD-3-Clause */
/* NICs of which something must be known that /sys does not tell: the rate of a port while its link
 * is down or the kernel's driver is away, and whether it wants a DDP package. Numbers are those of
 * the PCI ID database. */
#include "exam.h"

static const struct nic_model models[] = {
	{0x8086, 0x10fb, "82599", 10000, false},
	{0x8086, 0x1528, "X540", 10000, false},
	{0x8086, 0x1563, "X550", 10000, false},
	{0x8086, 0x1572, "X710", 10000, false},
	{0x8086, 0x158b, "XXV710", 25000, false},
	{0x8086, 0x1583, "XL710", 40000, false},
	{0x8086, 0x1584, "XL710", 40000, false},
	{0x8086, 0x15c4, "X553", 10000, false},
	{0x8086, 0x37ce, "X722", 10000, false},
	{0x8086, 0x37d0, "X722", 10000, false},
	{0x8086, 0x37d2, "X722", 10000, false},
	{0x8086, 0x37d3, "X722", 10000, false},
	{0x8086, 0x124c, "E823-L", 25000, true},
	{0x8086, 0x124d, "E823-L", 25000, true},
	{0x8086, 0x124e, "E823-L", 10000, true},
	{0x8086, 0x124f, "E823-L", 1000, true},
	{0x8086, 0x151d, "E823-L", 25000, true},
	{0x8086, 0x12d2, "E830-C", 200000, true},
	{0x8086, 0x1591, "E810-C", 100000, true},
	{0x8086, 0x1592, "E810-C", 100000, true},
	{0x8086, 0x1593, "E810-C", 25000, true},
	{0x8086, 0x1599, "E810-XXV", 25000, true},
	{0x8086, 0x159a, "E810-XXV", 25000, true},
	{0x8086, 0x159b, "E810-XXV", 25000, true},
	{0x8086, 0x188a, "E823-C", 25000, true},
	{0x8086, 0x188b, "E823-C", 25000, true},
	{0x8086, 0x188c, "E823-C", 25000, true},
	{0x8086, 0x188d, "E823-C", 10000, true},
	{0x8086, 0x188e, "E823-C", 1000, true},
	{0x8086, 0x1890, "E822-C", 25000, true},
	{0x8086, 0x1891, "E822-C", 25000, true},
	{0x8086, 0x1892, "E822-C", 25000, true},
	{0x8086, 0x1893, "E822-C", 10000, true},
	{0x8086, 0x1894, "E822-C", 1000, true},
	{0x8086, 0x1897, "E822-L", 25000, true},
	{0x8086, 0x1898, "E822-L", 25000, true},
	{0x8086, 0x1899, "E822-L", 10000, true},
	{0x8086, 0x189a, "E822-L", 1000, true},
	{0x8086, 0x579c, "E825-C", 25000, true},
	{0x8086, 0x579d, "E825-C", 25000, true},
	{0x8086, 0x579e, "E825-C", 25000, true},
	{0x8086, 0x579f, "E825-C", 10000, true},
	{0x15b3, 0x1013, "ConnectX-4", 100000, false},
	{0x15b3, 0x1015, "ConnectX-4 Lx", 25000, false},
	{0x15b3, 0x1017, "ConnectX-5", 100000, false},
	{0x15b3, 0x1019, "ConnectX-5 Ex", 100000, false},
	{0x15b3, 0x101d, "ConnectX-6 Dx", 100000, false},
	{0x15b3, 0x101f, "ConnectX-6 Lx", 25000, false},
};

const struct nic_model *nic_model_find(uint32_t vendor, uint32_t device)
{
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].vendor == vendor && models[i].device == device)
			return &models[i];
	return NULL;
}
