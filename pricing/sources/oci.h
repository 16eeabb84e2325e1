/* The parts of the Oracle importer: oci.c reads shapes and products and puts machines,
 * oci_rates.c puts storage and egress. */
#ifndef GPUTIER_OCI_H
#define GPUTIER_OCI_H
#include "cloud.h"

#define OCI_PARTS 8
#define OCI_RATES 8
struct oci_rate {
    money rate, from, to; /* to < 0 = no end */
};
struct oci_product {
    struct oci_product *next;
    const char *number, *name;
    char currency[4];
    struct oci_rate rate[OCI_RATES];
    size_t n_rates;
    bool used; /* asked for by a machine, a disk or a way */
};
struct oci_part {
    const char *number;
    money quantity; /* decimal, in units of 10^-12 */
};
struct oci_shape {
    struct oci_shape *next;
    const char *name;
    struct oci_part part[OCI_PARTS];
    size_t n_parts;
    double ocpus, memory_gib, gpus, gpu_memory, nvme_tb; /* gpu_memory: of all GPUs */
    bool arm, preemptible;
};
struct oci {
    struct oci_shape *shape;
    struct oci_product *product;
    size_t n_products;
};
/* The part of that number, which is thereby used; NULL if the list has none. */
const struct oci_product *oci_product(const struct oci *o, const char *number);
/* Codes of the public regions, NULL past the end. */
const char *oci_region(size_t i);
int oci_put_rates(struct records *r, const struct oci *o, struct gt_error *err) GT_CHECK;

#endif
