/* Names of the units in which vendors price storage (storage.h). */
#include "gputier/storage.h"
#include <stddef.h>
#include <string.h>

static const char *const unit_names[SU_COUNT] = {
    [SU_GIB_MONTH] = "gib_month",
    [SU_GB_MONTH] = "gb_month",
    [SU_GIB] = "gib",
    [SU_GB] = "gb",
    [SU_REQUEST] = "request",
    [SU_OBJECT_MONTH] = "object_month",
    [SU_IOPS_MONTH] = "iops_month",
    [SU_MIBPS_MONTH] = "mibps_month",
    [SU_DISK_MONTH] = "disk_month",
    [SU_HOUR] = "hour",
};

const char *storage_unit_name(enum storage_unit u)
{
    return (size_t)u < SU_COUNT ? unit_names[u] : "?";
}

int storage_unit_from_name(const char *name, enum storage_unit *out)
{
    for (size_t i = 0; name != NULL && i < SU_COUNT; i++) {
        if (strcmp(unit_names[i], name) == 0) {
            *out = (enum storage_unit)i;
            return 0;
        }
    }
    return GT_ENOTFOUND;
}
