/* The bench document, schema gputier/bench/1 (product.md section 10). */
#include "gputier/bench.h"
#include "gputier/jsonw.h"
#include <math.h>

void bench_conditions_init(struct bench_conditions *c)
{
    c->known = false;
#define X(name, what, least, most) c->name = (double)NAN;
    BENCH_CONDITIONS(X)
#undef X
}

void bench_note(struct bench_report *r, const char *note)
{
    if (note && r->n_notes < sizeof r->note / sizeof *r->note) {
        r->note[r->n_notes++] = note;
    }
}

static void write_conditions(struct jsonw *w, const struct bench_conditions *c)
{
    jsonw_key(w, "conditions");
    if (!c->known) {
        jsonw_null(w);
        return;
    }
    jsonw_object(w);
#define X(name, what, least, most) jsonw_kdouble(w, #name, c->name);
    BENCH_CONDITIONS(X)
#undef X
    jsonw_end_object(w);
}

int bench_write_json(const struct bench_report *r, struct buf *out)
{
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/bench/1");
    jsonw_key(&w, "device");
    jsonw_object(&w);
    jsonw_kstring(&w, "name", r->device.name);
    jsonw_kstring(&w, "class", r->device.is_gpu ? "gpu" : "cpu-fallback");
    jsonw_kstring(&w, "backend", r->device.backend);
    jsonw_kstring(&w, "driver", r->device.driver);
    jsonw_kstring(&w, "vendor", r->device.vendor);
    jsonw_kdouble(&w, "memory_gib", r->device.memory_gib);
    jsonw_end_object(&w);
    jsonw_ktime(&w, "measured_at", r->measured_at);
    jsonw_key(&w, "origin");
    jsonw_string_or_null(&w, r->origin);
    write_conditions(&w, &r->conditions);
    jsonw_key(&w, "results");
    jsonw_array(&w);
    for (size_t i = 0; i < r->n; i++) {
        const struct bench_result *b = &r->result[i];
        jsonw_object(&w);
        jsonw_kstring(&w, "metric", b->metric);
        jsonw_kdouble(&w, "value", b->value);
        jsonw_kstring(&w, "unit", b->unit);
        jsonw_kdouble(&w, "median", b->median);
        jsonw_kdouble(&w, "min", b->min);
        jsonw_kdouble(&w, "p95", b->p95);
        jsonw_kdouble(&w, "spread", b->spread);
        jsonw_kbool(&w, "checked", b->checked);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_kstrings(&w, "notes", r->note, r->n_notes);
    jsonw_end_object(&w);
    return jsonw_finish(&w);
}
