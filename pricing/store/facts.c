/* The tables whose rows a run replaces: their keys, compared and carried columns. */
#include "store_impl.h"
#include <string.h>

static const struct fact_table tables[] = {
    {.name = "offer",
     .key = "place instance_type purchase payment offering_class period",
     .value = "price_state price upfront price_month currency sku note valid_to",
     .extra = "sort_price valid_from as_of",
     .order = "price_state, as_of DESC, sort_price DESC, sku",
     .vanishing = true,
     .priced = true},
    {.name = "storage_rate",
     .key = "place tier component from_qty period",
     .value = "unit unit_qty to_qty rate currency sku note valid_to",
     .extra = "sort_price valid_from as_of",
     .order = "as_of DESC, sort_price DESC, sku",
     .vanishing = true,
     .priced = true},
    {.name = "transfer_rate",
     .key = "place destination from_gb period",
     .value = "to_gb gb_bytes rate currency sku note valid_to",
     .extra = "sort_price valid_from as_of",
     .order = "as_of DESC, sort_price DESC, sku",
     .vanishing = true,
     .priced = true},
    {.name = "interruption",
     .key = "place instance_type",
     .value = "band_lo_pct band_hi_pct savings_pct",
     .extra = "as_of",
     .order = "as_of DESC, band_lo_pct DESC",
     .vanishing = true,
     .priced = false},
    {.name = "fx",
     .key = "currency date",
     .value = "per_usd",
     .extra = "as_of",
     .order = "rowid DESC",
     .vanishing = false,
     .priced = false},
};

const struct fact_table *fact_table_at(size_t i)
{
    return i < sizeof(tables) / sizeof(tables[0]) ? &tables[i] : NULL;
}

bool fact_has(const char *list, const char *column)
{
    size_t len = strlen(column);
    for (const char *p = list; (p = strstr(p, column)) != NULL; p += len) {
        if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0')) {
            return true;
        }
    }
    return false;
}

void fact_each(const char *list, void (*add)(struct buf *out, const char *column, size_t len),
               struct buf *out)
{
    for (const char *p = list; *p != '\0';) {
        size_t len = strcspn(p, " ");
        add(out, p, len);
        p += len;
        p += strspn(p, " ");
    }
}
