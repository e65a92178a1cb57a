/* SPDX-License-Identifier: BSD-3-Clause */
/* How likely what was counted is by chance. Pure. */
#pragma once

/* The probability that chi-square with so many degrees of freedom is x or more. */
double chance_chi_square(double degrees, double x);
