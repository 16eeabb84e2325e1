/* When a failed request is tried again, and how long to wait. Pure. */
#ifndef GPUTIER_RETRY_H
#define GPUTIER_RETRY_H
#include <stdbool.h>
#include <stdint.h>

#define RETRY_AFTER_NONE (-1)
#define RETRY_AFTER_MAX  300 /* seconds: a server that asks for longer is given up */

/* Status codes that pass: 408, 429, 500, 502, 503, 504; 404 when an index names the file. */
bool retry_status(long status, bool listed);
/* libcurl result codes that pass: resolve, connect, time-out, cut and reset connections. */
bool retry_curl(int code);
/* Seconds of a Retry-After header, in seconds or as a date of RFC 9110; RETRY_AFTER_NONE when it
 * is absent or no such thing. A date in the past is 0. */
int64_t retry_after(const char *value, int64_t now);
/* Milliseconds before try number `tries` + 1: a random part (unit in 0..1, 0 = all of it) of 0.5 s
 * doubled each time, at most 30 s; at least 50 ms and at least what the server asked. */
int64_t retry_delay_ms(int tries, double unit, int64_t retry_after_s);

#endif
