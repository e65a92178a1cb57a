/* SPDX-License-Identifier: BSD-3-Clause */
#include "face.h"

#define FACE(name) extern const struct face face_##name;
#include "face_list.h"
#undef FACE

#define FACE(name) &face_##name,
const struct face *const faces[] = {
#include "face_list.h"
	NULL,
};
#undef FACE
