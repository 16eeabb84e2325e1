/* Sizes, durations, instants, counts: parsing and printing with errors that name the position.
 *
 * Sizes: KB, MB, GB, TB, PB are powers of 1000; KiB, MiB, GiB, TiB, PiB of 1024; B or no suffix
 * is bytes. Durations: s, min (or m), h, d, w, mo, y; m is always minutes; a month is 730 h, a
 * year 8,760 h; compound forms ("1h30min") are allowed. Instants: ISO 8601. */
#ifndef GPUTIER_UNITS_H
#define GPUTIER_UNITS_H
#include "gputier/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_KIB             (1024ULL)
#define GT_MIB             (1024ULL * 1024)
#define GT_GIB             (1024ULL * 1024 * 1024)
#define GT_TIB             (1024ULL * 1024 * 1024 * 1024)
#define GT_GB              (1000000000ULL)
#define GT_HOURS_PER_MONTH 730
#define GT_HOURS_PER_YEAR  8760
#define GT_TIME_NONE       INT64_MIN

int size_parse(const char *text, uint64_t *bytes, struct gt_error *err) GT_CHECK;
/* "150 GiB", "12.3 MB"? binary units, at most 3 significant digits; returns buf. */
const char *size_format(uint64_t bytes, char buf[32]);
/* Seconds of a duration. `long_only` refuses m/min/s (for --horizon and keep) and names "mo". */
int duration_parse(const char *text, bool long_only, double *seconds,
                   struct gt_error *err) GT_CHECK;
/* "3 d 4 h", "12 min", "45 s": two units at most; returns buf. */
const char *duration_format(double seconds, char buf[32]);
/* ISO 8601 date or date-time, zone Z or +hh:mm; without a zone `local_offset_s` applies (the
 * caller passes it; this function knows no clock). Seconds since 1970 UTC. */
int time_parse(const char *text, int32_t local_offset_s, int64_t *when,
               struct gt_error *err) GT_CHECK;
/* "2026-12-02T10:00:00Z"; returns buf. */
const char *time_format(int64_t when, char buf[32]);
/* "2026-12-02"; returns buf. */
const char *date_format(int64_t when, char buf[16]);
/* Finite decimal number, whole text used; refuses NaN and infinities. */
int number_parse(const char *text, double *value, struct gt_error *err) GT_CHECK;
/* Shortest of 15 to 17 significant digits that reads back the same, for machines; v is finite.
 * Returns buf. */
const char *number_format(double v, char buf[40]);
/* Non-negative count; SI suffixes K, M, B (10^9), T allowed ("4.2M"). */
int count_parse(const char *text, uint64_t *value, struct gt_error *err) GT_CHECK;
/* "0.4..0.7" or "1-16" or a single number. */
int range_parse(const char *text, double *lo, double *hi, struct gt_error *err) GT_CHECK;

#endif
