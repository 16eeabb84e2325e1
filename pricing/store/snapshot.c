/* Loads data_dir/snapshot at the first open, and again when an upgrade ships other content. A stamp
 * of the files' sizes and times makes the usual open cost only their stat; a changed stamp with the
 * same content changes nothing. Fetched and imported rows stand in other feeds and stay. */
#include "snapshot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const file_names[SNAP_COUNT] = {
    [SNAP_SOURCES] = "sources.csv",
    [SNAP_OFFERS] = "offers.csv",
    [SNAP_TYPES] = "instance_types.csv",
    [SNAP_STORAGE] = "storage_rates.csv",
    [SNAP_TRANSFER] = "transfer_rates.csv",
    [SNAP_INTERRUPTION] = "interruption.csv",
    [SNAP_GPUS] = "gpu_models.csv",
    [SNAP_ALIASES] = "gpu_aliases.csv",
    [SNAP_MODELS] = "models.csv",
    [SNAP_ALLOWANCES] = "allowances.csv",
    [SNAP_FX] = "fx.csv",
    [SNAP_TRACES] = "traces.csv",
};

/* FNV-1a of 128 bits: tells contents apart, protects from nothing. */
__extension__ typedef unsigned __int128 fnv;
static fnv fnv_start(void)
{
    return ((fnv)0x6c62272e07bb0142ULL << 64) | 0x62b821756295c58dULL;
}

static fnv fnv_add(fnv h, const void *data, size_t len)
{
    const unsigned char *p = data;
    const fnv prime = ((fnv)0x0000000001000000ULL << 64) | 0x000000000000013BULL;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ p[i]) * prime;
    }
    return h;
}

static void fnv_text(fnv h, char out[40])
{
    (void)snprintf(out, 40, "%016llx%016llx", (unsigned long long)(h >> 64), (unsigned long long)h);
}

static char *file_path(const struct store *s, size_t i)
{
    char *path = NULL;
    return asprintf(&path, "%s/snapshot/%s", s->data_dir, file_names[i]) < 0 ? NULL : path;
}

/* Stamp of the shipped files as they lie on disk; *any false when there is none. */
static int make_stamp(const struct store *s, char stamp[40], bool *any, struct gt_error *err)
{
    fnv h = fnv_start();
    *any = false;
    for (size_t i = 0; i < SNAP_COUNT; i++) {
        char *path = file_path(s, i);
        if (path == NULL) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        struct stat info;
        int64_t part[6] = {(int64_t)i, 0, 0, 0, 0, 0};
        if (stat(path, &info) == 0) {
            *any = true;
            part[1] = info.st_size;
            part[2] = info.st_mtim.tv_sec;
            part[3] = info.st_mtim.tv_nsec;
            part[4] = info.st_ctim.tv_sec;
            part[5] = info.st_ctim.tv_nsec;
        }
        h = fnv_add(h, part, sizeof(part));
        h = fnv_add(h, path, strlen(path));
        free(path);
    }
    fnv_text(h, stamp);
    return 0;
}

static bool meta_equals(const struct store *s, const char *key, const char *value)
{
    sqlite3_stmt *q = NULL;
    bool row = false, same = false;
    if (db_prepare(&s->db, "SELECT value FROM meta WHERE key = ?1", &q, NULL) == 0) {
        bind_text(q, 1, key);
        same = db_step(&s->db, q, &row, NULL) == 0 && row && strcmp(column_str(q, 0), value) == 0;
    }
    (void)sqlite3_finalize(q);
    return same;
}

bool snapshot_loaded(const struct staging *st)
{
    return st->snapshot != NULL && meta_equals(st->store, "snapshot_hash", st->snapshot->hash);
}

static int set_meta(const struct db *d, const char *key, const char *value, struct gt_error *err)
{
    return db_execf(d, err, "INSERT OR REPLACE INTO main.meta VALUES(%Q, %Q)", key, value);
}

static void release(struct snapshot *snap)
{
    for (size_t i = 0; i < SNAP_COUNT; i++) {
        snap_csv_release(&snap->file[i]);
    }
    for (size_t i = 0; i < snap->n_sources; i++) {
        free(snap->source[i].name);
    }
    free(snap->source);
    free(snap);
}

static int read_files(const struct store *s, struct snapshot *snap, struct gt_error *err)
{
    fnv h = fnv_start();
    for (size_t i = 0; i < SNAP_COUNT; i++) {
        char *path = file_path(s, i);
        if (path == NULL) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        int rc = snap_csv_load(&snap->file[i], path, err);
        free(path);
        if (rc != 0 && rc != GT_ENOTFOUND) {
            return rc;
        }
        h = fnv_add(h, file_names[i], strlen(file_names[i]));
        h = fnv_add(h, &snap->file[i].len, sizeof(snap->file[i].len));
        h = fnv_add(h, snap->file[i].data != NULL ? snap->file[i].data : "", snap->file[i].len);
    }
    fnv_text(h, snap->hash);
    return 0;
}

static int load(struct store *s, struct snapshot *snap, struct gt_error *err)
{
    struct staging_options o = {.source_id = "snapshot",
                                .origin = ORIGIN_BUNDLED,
                                .fetched_at = s->now,
                                .accept_large_change = true};
    struct staging *st = NULL;
    int rc = staging_begin(s, &o, &st, err);
    if (rc != 0) {
        return rc;
    }
    rc = db_exec(&st->db, "DELETE FROM feed", err); /* rows name their own sources */
    if (rc == 0) {
        rc = snapshot_rows(snap, st, err);
    }
    if (rc != 0) {
        staging_release(st);
        return rc;
    }
    st->snapshot = snap;
    return staging_publish(st, NULL, err);
}

int snapshot_refresh(struct store *s, struct gt_error *err)
{
    if (s->data_dir == NULL) {
        return 0;
    }
    struct snapshot *snap = calloc(1, sizeof(*snap));
    if (snap == NULL) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    bool any = false;
    int rc = make_stamp(s, snap->stamp, &any, err);
    if (rc == 0 && any && !meta_equals(s, "snapshot_stamp", snap->stamp)) {
        rc = read_files(s, snap, err);
        if (rc == 0) {
            rc = meta_equals(s, "snapshot_hash", snap->hash)
                     ? set_meta(&s->db, "snapshot_stamp", snap->stamp, err)
                     : load(s, snap, err);
        }
    }
    release(snap);
    return rc;
}

/* A reference file goes into its table as it is: columns with a type letter (t text, r real, i
 * integer, d date, b boolean), bound in order. */
struct reference {
    enum snapshot_file file;
    const char *before; /* SQL run first, also when the file is missing */
    const char *columns, *insert;
};
static const struct reference references[] = {
    {SNAP_SOURCES, NULL, "source:t name:t url:t licence:t as_of:d",
     "INSERT INTO main.source(name, title, url, licence, as_of) VALUES(?,?,?,?,?)"
     " ON CONFLICT(name) DO UPDATE SET title = excluded.title, url = excluded.url,"
     " licence = excluded.licence, as_of = excluded.as_of"},
    {SNAP_GPUS, "DELETE FROM main.gpu_alias; DELETE FROM main.gpu_model",
     "model:t maker:t arch:t form:t compute_capability:r launch_year:i fp64_tflops:r fp32_tflops:r"
     " tf32_tflops:r fp16_tflops:r bf16_tflops:r fp8_tflops:r int8_tops:r mem_gb:r bandwidth_gbs:r"
     " l2_mb:r nvlink_gbs:r pcie:t tdp_w:r mig_slices:i note:t source:t",
     "INSERT INTO main.gpu_model VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {SNAP_ALIASES, NULL, "vendor:t alias:t model:t memory_gib:r",
     "INSERT INTO main.gpu_alias VALUES(coalesce(?,''),?,?,?)"},
    {SNAP_TYPES, "UPDATE main.instance_type SET bundled = 0 WHERE bundled",
     "vendor:t instance_type:t gpu:t gpu_num:i gpu_den:i gpu_memory_gib:r vcpus:r memory_gib:r"
     " local_nvme_gb:r network_gbps:r disk_mbps:r nvlink:t source:t",
     "INSERT INTO main.instance_type(vendor, name, gpu, gpu_num, gpu_den, gpu_memory_gib, vcpus,"
     " memory_gib, local_nvme_gb, network_gbps, disk_mbps, nvlink, source, bundled)"
     " VALUES(?1,?2,?3,coalesce(?4,0),coalesce(?5,1),?6,?7,?8,?9,?10,?11,?12,?13,1)"
     " ON CONFLICT(vendor, name) DO UPDATE SET gpu = coalesce(excluded.gpu, gpu),"
     " gpu_num = iif(excluded.gpu_num > 0, excluded.gpu_num, gpu_num),"
     " gpu_den = iif(excluded.gpu_num > 0, excluded.gpu_den, gpu_den),"
     " gpu_memory_gib = coalesce(excluded.gpu_memory_gib, gpu_memory_gib),"
     " vcpus = coalesce(excluded.vcpus, vcpus),"
     " memory_gib = coalesce(excluded.memory_gib, memory_gib),"
     " local_nvme_gb = coalesce(excluded.local_nvme_gb, local_nvme_gb),"
     " network_gbps = coalesce(excluded.network_gbps, network_gbps),"
     " disk_mbps = excluded.disk_mbps, nvlink = excluded.nvlink, source = excluded.source,"
     " bundled = 1"},
    {SNAP_MODELS, "DELETE FROM main.model_profile",
     "name:t family:t task:t parameters:r active_parameters:r layers:r hidden:r heads:r kv_heads:r"
     " ffn:r vocab:r seq_len:r image_px:r head_dim:r bytes_per_sample_in:r flops_per_sample_fwd:r"
     " activation_elements:r tied_embeddings:b source:t",
     "INSERT INTO main.model_profile(name, family, task, parameters, active_parameters, layers,"
     " hidden, heads, kv_heads, ffn, vocab, seq_len, image_px, head_dim, bytes_per_sample_in,"
     " flops_per_sample_fwd, activation_elements, tied_embeddings, source)"
     " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,coalesce(?,0),?)"},
    {SNAP_ALLOWANCES, "DELETE FROM main.allowance",
     "vendor:t product:t rule:t value:t unit:t valid_from:t source:t confidence:t",
     "INSERT INTO main.allowance(vendor, product, rule, value, unit, valid_from, source,"
     " confidence) VALUES(?,?,?,?,?,?,?,?)"},
    {SNAP_TRACES, "DELETE FROM main.trace",
     "name:t vendor:t region:t zone:t instance_type:t gap_s:i nodes_probed:i path:t",
     "INSERT INTO main.trace VALUES(?,?,?,?,?,?,?,?)"},
};

static int bind_cell(const struct snap_csv *f, int column, char type, sqlite3_stmt *in, int i,
                     struct gt_error *err)
{
    const char *s = snap_csv_text(f, column);
    if (s[0] == '\0' || type == 't') {
        bind_text(in, i, s);
        return 0;
    }
    double real = 0;
    int64_t whole = 0;
    int rc = 0;
    switch (type) {
    case 'r':
        rc = snap_csv_real(f, column, &real, err);
        (void)sqlite3_bind_double(in, i, real);
        break;
    case 'd':
        rc = snap_csv_time(f, column, &whole, err);
        (void)sqlite3_bind_int64(in, i, whole);
        break;
    case 'i':
        rc = snap_csv_int(f, column, 0, &whole, err);
        (void)sqlite3_bind_int64(in, i, whole);
        break;
    default:
        whole = s[0] == '1' || s[0] == 'y' || s[0] == 't' || s[0] == 'Y' || s[0] == 'T';
        if (!whole && strchr("0nNfF", s[0]) == NULL) {
            rc = snap_csv_fail(f, column, err, GT_EPARSE, "\"%.20s\" is neither yes nor no", s);
        }
        (void)sqlite3_bind_int64(in, i, whole);
    }
    return rc;
}

static int copy_rows(const struct db *d, const struct reference *ref, struct snap_csv *f,
                     struct gt_error *err)
{
    int column[SNAP_CSV_COLUMNS];
    char type[SNAP_CSV_COLUMNS];
    int n = 0;
    for (const char *p = ref->columns; *p != '\0'; n++) {
        size_t len = strcspn(p, ":");
        char name[64];
        (void)snprintf(name, sizeof(name), "%.*s", (int)len, p);
        type[n] = p[len + 1];
        int rc = snap_csv_column(f, name, true, &column[n], err);
        if (rc != 0) {
            return rc;
        }
        p += len + 2;
        p += *p == ' ';
    }
    sqlite3_stmt *in = NULL;
    int rc = db_prepare(d, ref->insert, &in, err);
    bool row = false;
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        for (int i = 0; rc == 0 && i < n; i++) {
            rc = bind_cell(f, column[i], type[i], in, i + 1, err);
        }
        struct gt_error why = {0};
        if (rc == 0 && (rc = db_run(d, in, &why)) != 0) {
            (void)snap_csv_fail(f, -1, err, rc, "%s", why.text);
        }
    }
    (void)sqlite3_finalize(in);
    return rc;
}

int snapshot_reference(struct staging *st, struct gt_error *err)
{
    struct snapshot *snap = st->snapshot;
    const struct db *d = &st->store->db;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(references) / sizeof(references[0]); i++) {
        const struct reference *ref = &references[i];
        struct snap_csv *f = &snap->file[ref->file];
        if (ref->before != NULL) {
            rc = db_exec(d, ref->before, err);
        }
        if (rc == 0 && f->data != NULL) {
            rc = snap_csv_header(f, err);
            if (rc == 0) {
                rc = copy_rows(d, ref, f, err);
            }
        }
    }
    if (rc == 0) {
        rc = set_meta(d, "snapshot_stamp", snap->stamp, err);
    }
    return rc == 0 ? set_meta(d, "snapshot_hash", snap->hash, err) : rc;
}
