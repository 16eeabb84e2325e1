/* cmocka with the headers it needs, in the order it needs them. */
#ifndef GPUTIER_UNIT_H
#define GPUTIER_UNIT_H
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#endif
