/* Retry rules (docs/pricing-sources.md section 8). */
#include "retry.h"
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#define BASE_MS  500
#define MAX_MS   30000
#define LEAST_MS 50

bool retry_status(long status, bool listed)
{
    switch (status) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        return true;
    case 404:
        return listed;
    default:
        return false;
    }
}

bool retry_curl(int code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default:
        return false;
    }
}

/* Days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t civil_days(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; the two obsolete forms are not sent by anyone asked here. */
static bool http_date(const char *s, int64_t *when)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char name[4];
    int d, y, h, mi, sec;
    if (sscanf(s, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &d, name, &y, &h, &mi, &sec) !=
        6) {
        return false;
    }
    const char *p = strlen(name) == 3 ? strstr(months, name) : NULL;
    if (!p || (p - months) % 3 != 0 || d < 1 || d > 31 || h > 23 || mi > 59 || sec > 60 || h < 0 ||
        mi < 0 || sec < 0) {
        return false;
    }
    *when = civil_days(y, (int)((p - months) / 3) + 1, d) * 86400 + h * 3600 + mi * 60 + sec;
    return true;
}

int64_t retry_after(const char *value, int64_t now)
{
    while (*value == ' ' || *value == '\t') {
        value++;
    }
    if (*value >= '0' && *value <= '9') {
        int64_t s = 0;
        const char *p = value;
        for (; *p >= '0' && *p <= '9'; p++) {
            s = s < INT32_MAX ? s * 10 + (*p - '0') : s;
        }
        p += strspn(p, " \t\r\n");
        return *p ? RETRY_AFTER_NONE : s;
    }
    int64_t when;
    if (!http_date(value, &when)) {
        return RETRY_AFTER_NONE;
    }
    return when > now ? when - now : 0;
}

int64_t retry_delay_ms(int tries, double unit, int64_t retry_after_s)
{
    int64_t ms = BASE_MS;
    for (int i = 1; i < tries && ms < MAX_MS; i++) {
        ms *= 2;
    }
    ms = ms > MAX_MS ? MAX_MS : ms;
    ms -= (int64_t)((double)ms * unit); /* "full jitter": clients spread over the whole wait */
    ms = ms < LEAST_MS ? LEAST_MS : ms;
    if (retry_after_s > 0 && retry_after_s * 1000 > ms) {
        /* A little later than asked, and not all clients at the same instant. */
        ms = retry_after_s * 1000 + (int64_t)(200 * unit);
    }
    return ms;
}
