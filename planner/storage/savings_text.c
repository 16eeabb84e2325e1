/* Savings in words: the same line in `tier`'s first steps, in `inventory savings` and in CSV. */
#include "gputier/error.h"
#include "gputier/savings.h"
#include "gputier/units.h"
#include <stdio.h>

static const struct {
    const char *name, *what, *unit, *how;
} kinds[SAVING_KINDS] = {
    [SAVING_VERSIONS] = {"old_versions", "old versions", "versions",
                         "expire those that nobody needs (S3: NoncurrentVersionExpiration, "
                         "NoncurrentDays counts from when a version was replaced; GCS: Delete with "
                         "daysSinceNoncurrentTime; Azure: version.delete)"},
    [SAVING_MARKERS] = {"delete_markers", "delete markers that hide nothing", "markers",
                        "a rule with ExpiredObjectDeleteMarker: true; they are billed nothing, but "
                        "slow down lists"},
    [SAVING_MULTIPART] = {"multipart", "incomplete multipart uploads", "uploads",
                          "a rule AbortIncompleteMultipartUpload with DaysAfterInitiation: 7, or "
                          "aws s3api abort-multipart-upload"},
    [SAVING_DUPLICATES] = {"duplicates", "duplicates", "copies",
                           "delete all but one of each after comparing them byte by byte"},
    [SAVING_PACK] = {"pack", "pack small objects", "objects",
                     "write them into tar, WebDataset or Parquet files with an index for range "
                     "reads, check those, delete the originals"},
    [SAVING_VOLUMES] = {"unattached_volumes", "unattached volumes", "volumes",
                        "delete them, after a snapshot if somebody may want them back"},
    [SAVING_SNAPSHOTS] = {"orphaned_snapshots", "snapshots of volumes that are gone", "snapshots",
                          "delete those that nobody restores from; do not archive single ones of "
                          "a chain: an archived snapshot is a full copy (R-EBS-09)"},
};

const char *saving_kind_name(enum saving_kind k)
{
    return kinds[k].name;
}

const char *saving_how(enum saving_kind k)
{
    return kinds[k].how;
}

int saving_ends(struct saving *s, int horizon_months)
{
    money all;
    s->month_then = 0;
    s->horizon = -s->once;
    s->break_even_month = -1;
    if (s->month_now < 0 || __builtin_mul_overflow(s->month_now, (money)horizon_months, &all)) {
        return GT_ERANGE;
    }
    s->horizon = all - s->once;
    if (s->once <= 0) {
        s->break_even_month = 0;
    } else if (s->horizon >= 0 && s->month_now > 0) {
        s->break_even_month = (int)((s->once - 1) / s->month_now);
    }
    return 0;
}

static const char *pays(const struct saving *s, char *text, size_t size)
{
    if (s->break_even_month < 0) {
        return "never paid back within the horizon";
    }
    snprintf(text, size, "paid back in month %d", s->break_even_month + 1);
    return text;
}

static const char *pack_text(struct arena *a, const struct saving *s, const char *currency)
{
    char size[32], text[4][MONEY_TEXT], month[48];
    int digits = money_minor_digits(currency);
    return arena_printf(
        a,
        "%s: %s: %llu objects, %s, into %llu packs; one-off %s %s, %s a month instead of %s, %s, "
        "%s %s %s over the horizon against the best plan without packs%s%s",
        s->place[0] ? s->place : "(top level)",
        s->horizon > 0 ? kinds[s->kind].what : "leave small objects unpacked",
        (unsigned long long)s->objects, size_format(s->bytes, size), (unsigned long long)s->packs,
        money_format_fixed(s->once, digits, true, text[0]), currency,
        money_format_fixed(s->month_then, digits, true, text[1]),
        money_format_fixed(s->month_now, digits, true, text[2]), pays(s, month, sizeof month),
        s->horizon > 0 ? "saves" : "would lose",
        money_format_fixed(s->horizon < 0 ? -s->horizon : s->horizon, digits, true, text[3]),
        currency, s->horizon > 0 ? ": " : "", s->horizon > 0 ? kinds[s->kind].how : "");
}

const char *saving_text(struct arena *a, const struct saving *s, const char *currency)
{
    char size[32], text[3][MONEY_TEXT], month[48], money_part[200] = "no price in the catalog";
    int digits = money_minor_digits(currency);
    if (s->kind == SAVING_PACK && s->priced) {
        return pack_text(a, s, currency);
    }
    if (s->kind == SAVING_MARKERS) {
        snprintf(money_part, sizeof money_part, "no cost");
    } else if (s->priced && s->once == 0) {
        snprintf(money_part, sizeof money_part, "%s%s %s a month, %s over the horizon",
                 s->upper_bound ? "at most " : "",
                 money_format_fixed(s->month_now, digits, true, text[0]), currency,
                 money_format_fixed(s->horizon, digits, true, text[1]));
    } else if (s->priced) {
        snprintf(money_part, sizeof money_part,
                 "%s%s %s a month, one-off %s (early deletion), %s, %s over the horizon",
                 s->upper_bound ? "at most " : "",
                 money_format_fixed(s->month_now, digits, true, text[0]), currency,
                 money_format_fixed(s->once, digits, true, text[1]), pays(s, month, sizeof month),
                 money_format_fixed(s->horizon, digits, true, text[2]));
    }
    return arena_printf(a, "%s%s%s: %llu %s, %s; %s: %s%s%s", s->place, s->place[0] ? ": " : "",
                        kinds[s->kind].what, (unsigned long long)s->objects, kinds[s->kind].unit,
                        size_format(s->bytes, size), money_part, kinds[s->kind].how,
                        s->note ? "; " : "", s->note ? s->note : "");
}
