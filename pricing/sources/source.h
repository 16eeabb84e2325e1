/* What the sources of this folder share: their records, and the checked readers of vendors'
 * fields. First file to read here; source.c holds the table, one file holds one source. */
#ifndef GPUTIER_SOURCE_H
#define GPUTIER_SOURCE_H
#include "csv_read.h"
#include "gputier/fetch.h"
#include "gputier/units.h"
#include <stdbool.h>

extern const struct source_def source_aws_capacity_block; /* aws_capacity_block.c */
extern const struct source_def source_aws_offer;          /* aws_offer.c */
extern const struct source_def source_aws_savings_plan;   /* aws_savings.c */
extern const struct source_def source_prices_csv;         /* prices_csv.c */
extern const struct source_def source_skypilot;           /* skypilot.c */
extern const struct source_def source_aws_spot_history;   /* aws_spot_history.c */
extern const struct source_def source_aws_spot_price;     /* aws_spot_price.c */
extern const struct source_def source_azure_retail;       /* azure_retail.c */
extern const struct source_def source_ecb_fx;             /* ecb_fx.c */
extern const struct source_def source_aws_spot_advisor;   /* spot_advisor.c */
extern const struct source_def source_gcp_skus;           /* gcp_skus.c */
extern const struct source_def source_digitalocean;       /* digitalocean.c */
extern const struct source_def source_vultr;              /* vultr.c */
extern const struct source_def source_verda;              /* verda.c */
extern const struct source_def source_jarvislabs;         /* jarvislabs.c */
extern const struct source_def source_fluidstack;         /* fluidstack.c */
extern const struct source_def source_hyperstack;         /* hyperstack.c */
extern const struct source_def source_cudo;               /* cudo.c */
extern const struct source_def source_gpuhunt;            /* gpuhunt.c */
extern const struct source_def source_lambda;             /* lambda.c */
extern const struct source_def source_oci;                /* oci.c */
extern const struct source_def source_runpod;             /* runpod.c */
extern const struct source_def source_coreweave;          /* coreweave.c */
extern const struct source_def source_nebius;             /* skypilot.c */
extern const struct source_def source_alibaba;            /* alibaba.c */
extern const struct source_def source_tencent;            /* tencent.c */
extern const struct source_def source_huawei;             /* huawei.c */
extern const struct source_def source_vast;               /* vast.c */

/* Text that may become a name: valid UTF-8, no control characters, 1..200 bytes. */
bool src_name_ok(const char *s);
/* A vendor id: canonical where it is known, else lower case letters, digits and dashes kept as
 * they are; NULL when it cannot be one. Returns buf or static text. */
const char *src_vendor(const char *name, char buf[48]);
/* A price as the vendor printed it: 0, GT_EPARSE (no number) or GT_ERANGE (negative, over 10^9
 * or more than 12 decimals that are not zero). */
int src_price(const char *text, money *out) GT_CHECK;
/* Non-negative figure of a vendor ("1,952 GiB", "8.0"); -1 when there is none ("NA", ""). */
double src_figure(const char *text);
/* "8", "8.0", "0.167", "1/6" to a fraction; GT_EPARSE / GT_ERANGE (0 < count <= 4096). */
int src_gpu_count(const char *text, int32_t *num, int32_t *den) GT_CHECK;
/* A bracket's end: "", "Inf" and 10^9 less one and more mean none (-1). */
int src_bracket(const char *text, money *out) GT_CHECK;
/* The first date within a text ("2026-08 (repository)"; a month is its first day), as people
 * write it into tables; GT_TIME_NONE if there is none. */
int64_t src_loose_date(const char *text);
/* Counts rows that are left out, with the reason: static text that reads well before a number. */
void src_skip(struct parse_context *ctx, const char *reason, uint64_t rows);
/* Counts a row that cannot be read and logs the first few. More than 50 of them, and more than
 * one in twenty, is GT_EPARSE: then the layout has changed. */
struct bad_rows {
    uint64_t n, seen;
};
int src_bad_row(struct bad_rows *b, struct parse_context *ctx, uint64_t line, const char *what,
                const char *found, struct gt_error *err) GT_CHECK;
/* First path component that names a vendor ("…/catalogs/v8/aws/vms.csv", "azure-vms.csv");
 * NULL if none does. */
const char *src_vendor_of_path(const char *path);

/* Copies a text; one that does not fit becomes "": half a name would be another one. */
void src_copy(char *to, size_t size, const char *text);

/* An offer row with every optional field null and the prices' time from ctx. */
struct offer_row src_offer(const struct parse_context *ctx);

#endif
