/* Inside pricing/inventory: reads of keys, of prefixes, and by class and age. */
#ifndef GPUTIER_INVENTORY_ACCESS_H
#define GPUTIER_INVENTORY_ACCESS_H
#include "inventory_priv.h"

#define ACCESS_DAYS 30 /* gets and bytes are of so many days before as_of */
struct access_use {
    int64_t last; /* GT_TIME_NONE = never known */
    uint64_t gets, bytes;
};
struct access_prefix {
    char *text; /* without its last slash */
    double gets;
};
/* Storage Class Analysis (access_analysis.c). */
#define ANALYSIS_CLASSES 16
#define ANALYSIS_AGES    13 /* the last is ALL */
struct analysis_class {
    char name[64];
    struct {
        double gets, bytes;
        bool known;
    } age[ANALYSIS_AGES];
};
struct analysis_columns {
    bool known;
    int date, config, filter, storage_class, age, retrieved, gets;
};
struct inventory_accesses {
    int64_t as_of;
    struct inventory *counts; /* bad rows */
    struct inventory_access_stats stats;
    struct slot *slot;
    size_t n_keys, capacity;
    struct access_prefix *prefix;
    size_t n_prefixes;
    bool sorted;
    char bucket[256]; /* of the logs; "" = none yet */
    struct analysis_class analysis[ANALYSIS_CLASSES];
    size_t n_classes;
    char config[256];
};
int access_put(struct inventory_accesses *a, const char *key, size_t len,
               const struct access_use *use, struct gt_error *err);
/* NULL = the key was not read. */
const struct access_use *access_find(const struct inventory_accesses *a, const char *key,
                                     size_t len);
/* Shares out over rows, which are sorted, what is known of prefixes and of classes and ages. */
int access_share(const struct inventory *inv, struct inventory_row *rows, size_t n,
                 struct gt_error *err);
bool access_log_looks(const char *line, size_t len);
int access_log_line(struct inventory_accesses *a, struct reader *r, const char *p, size_t len,
                    struct gt_error *err);
int access_analysis_row(struct inventory_accesses *a, struct analysis_columns *c, struct reader *r,
                        const struct csv_record *rec, struct gt_error *err);
void access_analysis_share(const struct inventory_accesses *a, struct inventory_row *rows,
                           size_t n);

#endif
