/* SkyPilot's catalogue: one CSV a cloud below <base>/v8/ (docs/pricing-sources.md section 4). A
 * cloud that the catalogue does not (or no longer) hold is not an error unless it was fetched
 * before. */
#include "http.h"
#include <stdio.h>

/* Folder names of the catalogue, and the vendors that they are. */
static const struct {
    const char *folder, *vendor;
} clouds[] = {
    {"aws", "aws"},
    {"azure", "azure"},
    {"gcp", "gcp"},
    {"lambda", "lambda"},
    {"runpod", "runpod"},
    {"vast", "vast"},
    {"nebius", "nebius"},
    {"oci", "oci"},
    {"cudo", "cudo"},
    {"verda", "verda"},
    {"fluidstack", "fluidstack"},
    {"hyperbolic", "hyperbolic"},
    {"do", "digitalocean"},
};

int skypilot_fetch(struct fetch_run *run, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof clouds / sizeof *clouds; i++) {
        char url[64];
        snprintf(url, sizeof url, "/v8/%s/vms.csv", clouds[i].folder);
        struct fetch_request q = {
            .url = url, .scope = clouds[i].vendor, .vendor = clouds[i].vendor, .optional = true};
        rc = fetch_rows(run, &q, err);
    }
    return rc;
}

int nebius_fetch(struct fetch_run *run, struct gt_error *err)
{
    struct fetch_request q = {.url = fetch_base(run), .scope = "nebius", .vendor = "nebius"};
    return fetch_rows(run, &q, err);
}
