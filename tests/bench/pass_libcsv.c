/* A bare libcsv pass: every field of a CSV file is counted and nothing is kept. The yardstick of
 * tests/bench/import_offer.sh. */
#include <csv.h>
#include <stdio.h>

static unsigned long fields, rows;

static void on_field(void *s, size_t n, void *c)
{
    (void)s;
    (void)c;
    fields += n > 0;
}
static void on_row(int ch, void *c)
{
    (void)ch;
    (void)c;
    rows++;
}

int main(int argc, char **argv)
{
    static char chunk[256 * 1024];
    struct csv_parser p;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t n;
    if (!f || csv_init(&p, 0) != 0) {
        return 1;
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        if (csv_parse(&p, chunk, n, on_field, on_row, NULL) != n) {
            return 1;
        }
    }
    int bad = csv_fini(&p, on_field, on_row, NULL);
    printf("%lu fields, %lu rows\n", fields, rows);
    csv_free(&p);
    fclose(f);
    return bad;
}
