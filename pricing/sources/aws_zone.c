/* See aws_zone.h. */
#include "aws_zone.h"
#include <stdio.h>
#include <string.h>

/* "use1-az1" -> us-east-1, "usw2-lax1-az1" -> us-west-2-lax-1. False when it is no zone id. */
static bool region_of_id(const char *zone, char out[64])
{
    static const char *const areas[][2] = {
        {"usg", "us-gov"}, {"us", "us"}, {"eu", "eu"}, {"ap", "ap"}, {"sa", "sa"}, {"ca", "ca"},
        {"me", "me"},      {"af", "af"}, {"il", "il"}, {"mx", "mx"}, {"cn", "cn"}};
    static const char *const winds[][2] = {
        {"ne", "northeast"}, {"nw", "northwest"}, {"se", "southeast"},
        {"sw", "southwest"}, {"n", "north"},      {"e", "east"},
        {"s", "south"},      {"w", "west"},       {"c", "central"}};
    for (size_t a = 0; a < sizeof areas / sizeof *areas; a++) {
        size_t n = strlen(areas[a][0]);
        for (size_t w = 0; w < sizeof winds / sizeof *winds && strncmp(zone, areas[a][0], n) == 0;
             w++) {
            size_t k = strlen(winds[w][0]);
            const char *digit = zone + n + k;
            if (strncmp(zone + n, winds[w][0], k) != 0 || *digit < '0' || *digit > '9' ||
                digit[1] != '-') {
                continue;
            }
            int used = snprintf(out, 64, "%s-%s-%c", areas[a][1], winds[w][1], *digit);
            const char *city = digit + 2, *end = strchr(city, '-');
            if (end && strncmp(city, "az", 2) != 0 && end - city > 1 && end - city < 12) {
                snprintf(out + used, 64 - (size_t)used, "-%.*s-%c", (int)(end - city - 1), city,
                         end[-1]);
            }
            return true;
        }
    }
    return false;
}

bool aws_zone_region(const char *zone, char out[64])
{
    size_t n = strlen(zone);
    if (region_of_id(zone, out)) {
        return true;
    }
    if (n < 6 || n > 60 || zone[n - 1] < 'a' || zone[n - 1] > 'z' || zone[n - 2] < '0' ||
        zone[n - 2] > '9') {
        return false;
    }
    memcpy(out, zone, n - 1);
    out[n - 1] = '\0';
    return true;
}

bool aws_is_region(const char *code)
{
    static const char *const winds[] = {"northeast", "northwest", "southeast", "southwest", "north",
                                        "east",      "south",     "west",      "central"};
    size_t n = strlen(code), parent = aws_parent_length(code);
    const char *p = code + (strncmp(code, "us-gov-", 7) == 0 ? 6 : 2);
    if (n < 6 || n > 60 || strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-") != n ||
        *p != '-' || memchr(code, '-', 2)) {
        return false;
    }
    for (size_t i = 0; i < sizeof winds / sizeof *winds; i++) {
        size_t k = strlen(winds[i]);
        if (strncmp(p + 1, winds[i], k) == 0 && p[1 + k] == '-') {
            return p + k + 3 == code + parent && p[2 + k] >= '1' && p[2 + k] <= '9';
        }
    }
    return false;
}

size_t aws_parent_length(const char *region)
{
    size_t n = 0;
    int dashes = 0, want = strncmp(region, "us-gov-", 7) == 0 ? 4 : 3;
    for (; region[n] != '\0'; n++) {
        dashes += region[n] == '-';
        if (dashes == want) {
            break;
        }
    }
    return n;
}

const char *aws_feed_region(const char *code)
{
    static const char *const old[][2] = {
        {"us-east", "us-east-1"},       {"us-west", "us-west-1"},
        {"eu-ireland", "eu-west-1"},    {"apac-sin", "ap-southeast-1"},
        {"apac-syd", "ap-southeast-2"}, {"apac-tokyo", "ap-northeast-1"},
    };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        if (strcmp(old[i][0], code) == 0) {
            return old[i][1];
        }
    }
    return code;
}
