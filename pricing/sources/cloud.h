/* What the sources of GPU clouds share: one machine out of a vendor's entry, priced exactly, its
 * GPU named by the table, in the places where it is sold; and a map from entries to machines for
 * the vendors whose lists differ in nothing but the names of their fields
 * (docs/pricing-sources.md section 5.1). */
#ifndef GPUTIER_CLOUD_H
#define GPUTIER_CLOUD_H
#include "records.h"

/* A place that the vendor does not tell, or a machine that has no free place now. */
#define CLOUD_ANY_REGION "any"

struct cloud_machine {
    struct offer_row o;       /* vendor, instance type, counts … as far as known */
    const char *gpu;          /* as the vendor names it, "" = none */
    double gpu_memory;        /* GiB of one GPU, -1 = not stated */
    const char *price, *spot; /* the vendor's digits, "" = none */
    int cents;                /* decimal places that the digits are moved by */
    int times;                /* the prices are of one of so many parts, 0 = 1 */
};
struct cloud_machine cloud_machine(const struct parse_context *ctx, const char *vendor);

/* Puts the on-demand price and the spot price of a machine in one region. Zero is no price; a
 * spot price that is not below the full one is none. An entry that can not be read is counted. */
int cloud_put(struct records *r, const struct cloud_machine *m, const char *region,
              struct gt_error *err) GT_CHECK;
/* Puts one price, bought in one way; zero is no price. A monthly package's is that of a month. */
int cloud_put_as(struct records *r, const struct cloud_machine *m, const char *region,
                 enum purchase p, const char *price, struct gt_error *err) GT_CHECK;
/* The same in every region of a list of names; with an empty or absent list in no particular one,
 * and the note says so. */
int cloud_put_regions(struct records *r, struct cloud_machine *m, const struct rec *regions,
                      struct gt_error *err) GT_CHECK;
/* What a list that names no GPU says of a type that is not in the table: the GPU is called by the
 * family, its number stays open. */
void cloud_family_gpu(struct cloud_machine *m, const char *family);
/* How many of a machine could be had in a region when the list was read. price < 0: not stated. */
int cloud_put_capacity(struct records *r, const struct cloud_machine *m, const char *region,
                       money price, int32_t available, struct gt_error *err) GT_CHECK;
/* Model, count and memory of m->o from the table of types, else from the vendor's name. */
void cloud_set_gpu(struct cloud_machine *m);
/* Number in a text such as "80", "80GB", "(40 GB PCIe)"; -1 = none. */
double cloud_memory_in(const char *text);

/* An error in an answer's own envelope (HTTP 200 too): its texts are kept while the fields come, in
 * either order, and make the document an error at its end. */
struct cloud_error {
    char code[80], message[240];
};
void cloud_error_field(struct cloud_error *e, const char *path, const char *text,
                       const char *code_path, const char *message_path);
int cloud_error_end(struct records *r, const struct cloud_error *e, struct gt_error *err) GT_CHECK;

struct cloud_map {
    const char *vendor;
    /* Paths below the entry; NULL = the vendor does not say. type: NULL = the entry's key. */
    const char *type, *gpu, *gpu_count, *gpu_memory, *vcpus, *memory, *currency, *price, *spot;
    const char *regions;
    bool gpu_memory_total; /* of the machine, not of one GPU */
    int memory_per_gib;    /* 1024: the memory is in MiB */
    int cents;
    /* What the map can not say, before the machine is put; GT_ENOTFOUND = leave it out. */
    int (*adjust)(struct records *r, const struct rec *e, struct cloud_machine *m,
                  struct gt_error *err);
};
/* Fills m from an entry. 0, or GT_ENOTFOUND when the entry was counted as bad or left out. */
int cloud_read(struct records *r, const struct cloud_map *map, const struct rec *e,
               struct cloud_machine *m, struct gt_error *err) GT_CHECK;
/* cloud_read and cloud_put_regions. */
int cloud_entry(struct records *r, const struct cloud_map *map, const struct rec *e,
                struct gt_error *err) GT_CHECK;

#endif
