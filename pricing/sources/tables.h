/* The shapes of tables that prices-csv takes beside the own list. */
#ifndef GPUTIER_TABLES_H
#define GPUTIER_TABLES_H
#include "table.h"

extern const struct table_shape table_storage_prices; /* table_storage.c */
extern const struct table_shape table_transfer;       /* table_transfer.c */
extern const struct table_shape table_price_history;  /* table_history.c */

#endif
