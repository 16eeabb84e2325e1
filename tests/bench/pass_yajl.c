/* A bare yajl pass: every event of a JSON file is counted and nothing is kept. The yardstick of
 * tests/bench/import_offer.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

static unsigned long events;

static int on_null(void *c)
{
    (void)c;
    events++;
    return 1;
}
static int on_bool(void *c, int v)
{
    (void)c;
    (void)v;
    events++;
    return 1;
}
static int on_text(void *c, const unsigned char *s, size_t n)
{
    (void)c;
    (void)s;
    events += n > 0;
    return 1;
}
static int on_number(void *c, const char *s, size_t n)
{
    (void)c;
    (void)s;
    events += n > 0;
    return 1;
}

int main(int argc, char **argv)
{
    static unsigned char chunk[256 * 1024];
    static const yajl_callbacks callbacks = {
        on_null, on_bool, NULL,    NULL,    on_number, on_text,
        on_null, on_text, on_null, on_null, on_null,
    };
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    yajl_handle h = yajl_alloc(&callbacks, NULL, NULL);
    size_t n;
    if (!f || !h) {
        return 1;
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        if (yajl_parse(h, chunk, n) != yajl_status_ok) {
            return 1;
        }
    }
    int bad = yajl_complete_parse(h) != yajl_status_ok;
    printf("%lu events\n", events);
    yajl_free(h);
    fclose(f);
    return bad;
}
