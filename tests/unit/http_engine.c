/* The fetch engine against real loopback HTTP with planned faults, with a store that only keeps
 * the score: what is published is exactly what the server has, once; what fails is never
 * published; nothing hangs. Servers: ../shared/tools/fake_vendor_server.py (skipped loudly
 * without it) and tests/support/odd_server.py. Run from the repository's root. */
#include "http_score.h"

static char odd_base[64], tls_base[64], odd_log[128], content_hash[BLAKE3_TEXT];
static size_t content_len;

/* A source with a key header, and one that reads a document first. */
static int keyed_fetch(struct fetch_run *run, struct gt_error *err)
{
    char line[64];
    const char *lines[] = {line, NULL};
    snprintf(line, sizeof line, "api-key: %s", fetch_key(run));
    struct fetch_request q = {.url = fetch_base(run), .scope = "", .header = lines};
    return fetch_rows(run, &q, err);
}

static int post_fetch(struct fetch_run *run, struct gt_error *err)
{
    struct fetch_request q = {.url = fetch_base(run), .scope = "p", .post = "{\"query\":1}"};
    return fetch_rows(run, &q, err);
}

static const struct source_def sources[] = {
    {.id = "one", .vendor = "v", .default_url = "http://127.0.0.1:1/", .default_on = true, PARSE},
    {.id = "two", .vendor = "v", .default_url = "http://127.0.0.1:1/", PARSE},
    {.id = "keyed",
     .vendor = "k",
     .default_url = "http://127.0.0.1:1/",
     .needs_key = true,
     .fetch = keyed_fetch,
     PARSE},
    {.id = "post", .vendor = "", .default_url = "http://127.0.0.1:1/", .fetch = post_fetch, PARSE},
    {.id = "aws-offer",
     .vendor = "aws",
     .default_url = "http://127.0.0.1:1",
     .per_region = true,
     .fetch = aws_offer_fetch,
     .expected_bytes = 1000,
     PARSE},
    {.id = "skypilot", .vendor = "", .default_url = "http://h", .fetch = skypilot_fetch, PARSE},
    {.id = "files-only", .vendor = "", PARSE},
};

const struct source_def *source_at(size_t i)
{
    return i < sizeof sources / sizeof *sources ? &sources[i] : NULL;
}

static void make_content(void)
{
    size_t cap = 3 << 20;
    char *text = malloc(cap), name[32];
    size_t n = 0;
    for (int i = 0; n + 64 < cap; i++) {
        n += (size_t)snprintf(text + n, 64, "%d,p4d.24xlarge,%d.%06d\n", i, i % 40,
                              i * 7919 % 999983);
    }
    static const char *const files[] = {
        "ok",    "trunc",   "truncraw", "badgzip", "fakegzip", "rate",  "rated",
        "flaky", "always5", "gone",     "loop",    "tofile",   "html",  "empty",
        "nolen", "toolong", "reset",    "endless", "slow",     "stall", "newetag",
        "chunk", "garbage", "bomb",     "norange", "forbid",   "never", "late",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s.csv", files[i]);
        write_text(name, text, n);
    }
    write_text("bad.csv", "! no list\n", 10);
    write_text("fakegzip.csv", "a,1\nb,2\n", 8); /* small: the server packs the others */
    struct blake3 h;
    blake3_init(&h);
    blake3_add(&h, text, n);
    (void)blake3_text(&h, content_hash);
    content_len = n;
    free(text);
}

static const char *const faults[] = {
    "*trunc.csv trunc:40% 1-2",
    "*truncraw* truncchunk:50% 1",
    "*badgzip* badgzip",
    "*fakegzip* fakegzip",
    "*rate.csv 429:2 1",
    "*rated.csv 429:date 1",
    "*flaky* 500 1",
    "*always5* 503",
    "*gone* 404",
    "*loop* redirectloop",
    "*tofile* redirect:file:///etc/passwd",
    "*html* html",
    "*empty* emptybody",
    "*nolen* nolen",
    "*toolong* badlen:1000",
    "*reset* resetbody:500000 1",
    "*endless* endless:64",
    "*slow* slow:20000",
    "*stall* stallbody:70000:30",
    "*newetag* newetag",
    "*chunk* chunked",
    "*garbage* garbage",
    "*bomb* bomb:400",
    "*norange* trunc:50% 1",
    "*norange* norange",
    "*forbid* 403",
    "*never* empty",
    "*late* stall:1 1",
};

static int start_servers(void **state)
{
    (void)state;
    char line[8192];
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    assert_non_null(mkdtemp(work));
    make_content();
    snprintf(odd_log, sizeof odd_log, "%s/odd.log", work);
    snprintf(fake_log, sizeof fake_log, "%s/fake.log", work);
    int n = snprintf(line, sizeof line,
                     "python3 '%s' --root %s --port-file %s/port --max-seconds 200 --log %s",
                     shared_tool(), work, work, fake_log);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        n += snprintf(line + n, sizeof line - (size_t)n, " --fault '%s'", faults[i]);
    }
    start(fake_base, "http", "port", line);
    snprintf(line, sizeof line, "python3 tests/support/odd_server.py %s/oport %s --seconds 200",
             work, odd_log);
    start(odd_base, "http", "oport", line);
    snprintf(line, sizeof line,
             "python3 '%s' --root %s --port-file %s/tport --max-seconds 200 --tls %s/tls",
             shared_tool(), work, work, work);
    char tls[64];
    snprintf(tls, sizeof tls, "%s/tls", work);
    mkdir(tls, 0700);
    start(tls_base, "https", "tport", line);
    return 0;
}

static void assert_published(const struct store *s)
{
    assert_int_equal(s->published, 1);
    assert_string_equal(fed.hash, content_hash);
    assert_int_equal(fed.bytes, content_len);
    assert_int_equal(s->recorded, 0);
}

static void good_answers_are_published_whole(void **state)
{
    static const char *const paths[] = {
        "/ok.csv",    "/trunc.csv", "/truncraw.csv", "/rate.csv",    "/rated.csv",   "/flaky.csv",
        "/nolen.csv", "/reset.csv", "/chunk.csv",    "/norange.csv", "/newetag.csv", "/late.csv",
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct store s = {0};
        int rc = fetch_file(&s, paths[i]);
        if (rc != 0) {
            print_error("%s: %s: %s\n", paths[i], error.where, error.text);
        }
        assert_int_equal(rc, 0);
        assert_published(&s);
        assert_int_equal(sum.done, 1);
        if (strstr(paths[i], "rate")) {
            assert_true(seconds >= 0.9); /* Retry-After was kept: 2 s, or a date up to 2 s away */
        }
        if (strcmp(paths[i], "/rate.csv") == 0) {
            assert_true(seconds >= 2.0);
        }
        assert_true(seconds < 15);
    }
}

static void bad_answers_are_never_published(void **state)
{
    static const struct {
        const char *path, *says;
        int code;
    } c[] = {
        {"/badgzip.csv", "gzip", GT_EPARSE},
        {"/fakegzip.csv", "gzip", GT_EPARSE},
        {"/always5.csv", "HTTP 503, after 2 tries", GT_EHTTP},
        {"/gone.csv", "HTTP 404", GT_EHTTP},
        {"/forbid.csv", "HTTP 403", GT_EHTTP},
        {"/absent-file.csv", "HTTP 404", GT_EHTTP},
        {"/loop.csv", "more than 5 redirects", GT_EHTTP},
        {"/tofile.csv", "redirect to file:///etc/passwd refused", GT_EHTTP},
        {"/html.csv", "HTML page", GT_EPARSE},
        {"/empty.csv", "an empty answer", GT_EPARSE},
        {"/toolong.csv", "after 2 tries", GT_ENET},
        {"/endless.csv", "limit", GT_ELIMIT},
        {"/bomb.csv", "limit", GT_ELIMIT},
        {"/never.csv", "after 2 tries", GT_ENET},
        {"/garbage.csv", "", GT_ENET},
        {"/stall.csv", "after 2 tries", GT_ENET},
        {"/slow.csv", "time allowed", GT_ENET},
        {"/bad.csv", "expected a row", GT_EPARSE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct store s = {0};
        struct fetch_options o = {.tries = 2,
                                  .stall_s = strstr(c[i].path, "stall") ? 1 : 0,
                                  .max_bytes = 16 << 20,
                                  .max_time_s = strstr(c[i].path, "slow") ? 3 : 20};
        int rc = fetch_with(&s, &o, "one", fake_base, c[i].path);
        if (rc != c[i].code || !strstr(error.text, c[i].says)) {
            print_error("%s: %d %s: %s\n", c[i].path, rc, error.where, error.text);
        }
        assert_int_equal(rc, c[i].code);
        assert_non_null(strstr(error.text, c[i].says));
        assert_int_equal(s.published, 0);
        assert_int_equal(s.recorded, 1);
        assert_int_equal(sum.failed, 1);
        assert_true(strlen(error.where) > 0);
        assert_true(seconds < 20);
    }
}

static void too_large_is_refused_by_its_length_and_by_its_bytes(void **state)
{
    (void)state;
    static const char *const paths[] = {"/ok.csv", "/nolen.csv", "/chunk.csv", "/bomb.csv"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct store s = {0};
        struct fetch_options o = {.max_bytes = i == 3 ? 8 << 20 : 100000};
        assert_int_equal(fetch_with(&s, &o, "one", fake_base, paths[i]), GT_ELIMIT);
        assert_non_null(strstr(error.text, "limit"));
        assert_int_equal(s.published, 0);
        if (i == 0) { /* by its length: nothing of it was taken */
            assert_int_equal(sum.bytes, 0);
        }
    }
}

static void resumes_where_it_stopped(void **state)
{
    (void)state;
    struct store s = {0};
    char *log = read_text(fake_log);
    size_t before = strlen(log);
    free(log);
    assert_int_equal(fetch_file(&s, "/reset.csv?again"), 0);
    assert_published(&s);
    log = read_text(fake_log);
    assert_non_null(strstr(log + before, "/reset.csv?again"));
    free(log);
    static const struct {
        const char *path;
        int code;
        uint64_t bytes;
    } c[] = {
        {"/moving", 0, 140},
        {"/resume", 0, 40000 * 17},
        {"/wrong-range", 0, 40000 * 17},
        {"/shrunk", GT_ENET, 0},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct store t = {0};
        struct fetch_options o = {.tries = 4};
        assert_int_equal(fetch_with(&t, &o, "one", odd_base, c[i].path), c[i].code);
        assert_int_equal(t.published, c[i].code == 0);
        assert_int_equal(fed.bytes, c[i].bytes);
        if (strcmp(c[i].path, "/resume") == 0) {
            assert_int_equal(fed.open, 1); /* what was fed stays fed */
            assert_string_equal(fed.hash, t.hash);
            assert_int_equal(sum.bytes, 40000 * 17);
        }
    }
    log = read_text(odd_log);
    assert_non_null(strstr(log, "\"Range\": \"bytes=340000-\""));
    assert_non_null(strstr(log, "\"If-Range\": \"\\\"v1\\\"\""));
    free(log);
}

struct rows {
    int n;
    const char *price;
};

/* The hash of the rows of odd_server.py's files, one after the other. */
static void rows_hash(const struct rows *files, size_t n_files, char hash[BLAKE3_TEXT])
{
    struct blake3 h;
    char row[32];
    blake3_init(&h);
    for (size_t f = 0; f < n_files; f++) {
        for (int i = 0; i < files[f].n; i++) {
            blake3_add(&h, row,
                       (size_t)snprintf(row, sizeof row, "row-%07d,%s\n", i, files[f].price));
        }
    }
    (void)blake3_text(&h, hash);
}

/* What a server sends of another file, of less than was asked, or unasked, is never taken for the
 * rest, and is not asked for without end. */
static void parts_that_do_not_fit(void **state)
{
    static const struct {
        const char *path;
        int code, most; /* requests */
        struct rows files[2];
    } c[] = {
        {"/same-date", 0, 2, {{40000, "1.25"}}},
        {"/short-range", 0, 4, {{40000, "1.25"}}},
        {"/modified", 0, 3, {{35000, "7.50"}}},
        {"/grown", 0, 3, {{40000, "1.25"}, {35000, "7.50"}}},
        {"/unasked-range", GT_EHTTP, 1, {{0}}},
        {"/never-whole", GT_EHTTP, 4, {{0}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct store s = {0};
        struct fetch_options o = {.tries = 3, .max_time_s = 20};
        char hash[BLAKE3_TEXT], line[64];
        int requests = 0;
        int rc = fetch_with(&s, &o, "one", odd_base, c[i].path);
        char *log = read_text(odd_log);
        snprintf(line, sizeof line, "\"path\": \"%s\"", c[i].path);
        for (char *p = log; (p = strstr(p, line)) != NULL; p++) {
            requests++;
        }
        free(log);
        rows_hash(c[i].files, 2, hash);
        if (rc != c[i].code || requests > c[i].most) {
            print_error("%s: %d %s: %s, %d requests\n", c[i].path, rc, error.where, error.text,
                        requests);
        }
        assert_int_equal(rc, c[i].code);
        assert_in_range(requests, 1, c[i].most);
        assert_int_equal(s.published, rc == 0);
        if (rc == 0) {
            assert_string_equal(fed.hash, hash);
        }
    }
}

static void checksums_redirects_and_refusals(void **state)
{
    static const struct {
        const char *path, *says;
        int code;
    } c[] = {
        {"/digest-good", "", 0},
        {"/digest-bad", "wrong checksum", GT_EPARSE},
        {"/hops", "", 0},
        {"/here", "", 0},
        {"/to-ftp", "refused", GT_EHTTP},
        {"/to-user", "refused", GT_EHTTP},
        {"/br", "content coding \"br\"", GT_EUNSUPPORTED},
        {"/304", "HTTP 304", GT_EHTTP},
        {"/wait-long", "asks to wait 86400 s", GT_EHTTP},
        {"/401", "HTTP 401", GT_EHTTP},
    };
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct store s = {0};
        struct fetch_options o = {.tries = 3};
        int rc = fetch_with(&s, &o, "one", odd_base, c[i].path);
        if (rc != c[i].code || !strstr(error.text, c[i].says)) {
            print_error("%s: %d %s: %s\n", c[i].path, rc, error.where, error.text);
        }
        assert_int_equal(rc, c[i].code);
        assert_non_null(strstr(error.text, c[i].says));
        assert_null(strstr(error.text, "SECRET"));
        assert_int_equal(s.published, rc == 0);
        assert_true(seconds < 5);
    }
}

static void keys_stay_with_their_host(void **state)
{
    (void)state;
    struct store s = {0};
    struct fetch_options o = {.ctx = (void *)(uintptr_t) "SECRET-KEY"};
    assert_int_equal(fetch_with(&s, &o, "keyed", odd_base, "/away"), 0);
    assert_int_equal(s.published, 1);
    char *log = read_text(odd_log), *line = strstr(log, "\"/away\"");
    assert_non_null(line);
    char *next = strchr(line, '\n');
    *next = '\0';
    assert_non_null(strstr(line, "SECRET-KEY"));
    assert_non_null(strstr(next + 1, "/body"));
    assert_null(strstr(next + 1, "SECRET-KEY"));
    assert_null(strstr(s.url, "SECRET"));
    free(log);
    struct fetch_options none = {0};
    assert_int_equal(fetch_with(&s, &none, "keyed", odd_base, "/body"), GT_EUSAGE);
    assert_non_null(strstr(error.text, "GPUTIER_KEY_KEYED"));
    struct fetch_options post = {0};
    assert_int_equal(fetch_with(&s, &post, "post", odd_base, "/q"), 0);
    assert_int_equal(fed.bytes, strlen("posted {\"query\":1}\n"));
    /* what is posted (a client's secret for a token) goes to no other host */
    struct store away = {0};
    assert_int_equal(fetch_with(&away, &post, "post", odd_base, "/post-away"), GT_EHTTP);
    assert_non_null(strstr(error.text, "redirect of a POST to another host"));
    assert_int_equal(away.published, 0);
    assert_int_equal(fetch_with(&s, &post, "post", odd_base, "/post-here"), 0);
    assert_int_equal(fed.bytes, strlen("posted {\"query\":1}\n"));
    assert_int_equal(fetch_with(&s, &post, "post", odd_base, "/post-see"), 0);
    assert_int_equal(fed.bytes, 40000 * 17); /* asked for with a GET */
}

static void conditional_requests(void **state)
{
    (void)state;
    struct store s = {0};
    assert_int_equal(fetch_file(&s, "/ok.csv"), 0);
    char etag[64];
    snprintf(etag, sizeof etag, "%s", s.etag);
    assert_true(etag[0] == '"');
    struct store known = {.state_etag = etag};
    assert_int_equal(fetch_file(&known, "/ok.csv"), 0);
    assert_int_equal(known.published, 0);
    assert_int_equal(known.begun, 0);
    assert_int_equal(known.touched, 1);
    assert_int_equal(sum.unchanged, 1);
    struct store other = {.state_etag = "\"older\""};
    assert_int_equal(fetch_file(&other, "/ok.csv"), 0);
    assert_published(&other);
    struct fetch_options force = {.accept_large_change = true};
    struct store forced = {.state_etag = etag};
    assert_int_equal(fetch_with(&forced, &force, "one", fake_base, "/ok.csv"), 0);
    assert_int_equal(forced.published, 1);
}

static void a_failing_source_harms_no_other(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two"};
    struct store s = {0};
    struct fetch_options o = {.sources = names, .n_sources = 2, .tries = 2};
    snprintf(url_two, sizeof url_two, "%s/ok.csv", fake_base);
    assert_int_equal(fetch_with(&s, &o, NULL, fake_base, "/always5.csv"), GT_EHTTP);
    assert_int_equal(s.published, 1);
    assert_int_equal(s.recorded, 1);
    assert_int_equal(sum.done, 1);
    assert_int_equal(sum.failed, 1);
    struct store q = {.publish_code = GT_EQUARANTINE};
    assert_int_equal(fetch_file(&q, "/ok.csv"), GT_EQUARANTINE);
    assert_int_equal(sum.quarantined, 1);
    assert_int_equal(q.recorded, 0); /* the store has recorded it itself */
}

static void certificates_are_checked(void **state)
{
    (void)state;
    struct store s = {0};
    struct fetch_options o = {0};
    char ca[256];
    unsetenv("SSL_CERT_FILE");
    unsetenv("CURL_CA_BUNDLE");
    assert_int_equal(fetch_with(&s, &o, "one", tls_base, "/ok.csv"), GT_ENET);
    assert_non_null(strstr(error.text, "not trusted"));
    assert_int_equal(s.published, 0);
    assert_true(seconds < 5); /* not tried again */
    snprintf(ca, sizeof ca, "%s/tls/cert.pem", work);
    setenv("SSL_CERT_FILE", ca, 1);
    struct store trusted = {0};
    struct fetch_options p = {0};
    int rc = fetch_with(&trusted, &p, "one", tls_base, "/ok.csv");
    unsetenv("SSL_CERT_FILE");
    assert_int_equal(rc, 0);
    assert_published(&trusted);
}

static void proxies_are_honoured(void **state)
{
    (void)state;
    struct store s = {0};
    struct fetch_options o = {0};
    setenv("http_proxy", odd_base, 1);
    int rc = fetch_with(&s, &o, "one", "http://prices.invalid", "/body");
    unsetenv("http_proxy");
    assert_int_equal(rc, 0);
    assert_int_equal(s.published, 1);
}

static struct timespec pressed;

static void on_progress(void *ctx, const struct fetch_progress *p)
{
    (void)ctx;
    if (p->bytes > 10000 && !cancel) {
        cancel = SIGINT;
        clock_gettime(CLOCK_MONOTONIC, &pressed);
    }
}

static void ctrl_c_stops_at_once(void **state)
{
    (void)state;
    struct store s = {0};
    struct fetch_options o = {.progress = on_progress, .max_time_s = 60};
    int rc = fetch_with(&s, &o, "one", fake_base, "/slow.csv");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    cancel = 0;
    /* 200 ms are promised; a loaded test machine gets some more. */
    assert_true((now.tv_sec - pressed.tv_sec) * 1000 + (now.tv_nsec - pressed.tv_nsec) / 1000000 <
                500);
    assert_int_equal(rc, GT_ECANCELLED);
    assert_int_equal(gt_exit_status(rc), 130);
    assert_int_equal(s.published, 0);
    assert_int_equal(s.recorded, 0);
    assert_int_equal(s.discarded, 1);
    assert_true(seconds < 5);
    /* Already asked to stop before it began: no request at all. */
    cancel = 1;
    rc = fetch_file(&s, "/ok.csv");
    cancel = 0;
    assert_int_equal(rc, GT_ECANCELLED);
    assert_true(seconds < 0.5);
}

static void ipv6_is_spoken(void **state)
{
    (void)state;
    char *addresses = read_text("/proc/net/if_inet6"), line[512], base[64] = "";
    bool here = strstr(addresses, "00000000000000000000000000000001") != NULL;
    free(addresses);
    if (!here) {
        skip(); /* this machine has no ::1 */
    }
    snprintf(line, sizeof line,
             "python3 tests/support/odd_server.py %s/port6 %s --ipv6 --seconds 60", work, odd_log);
    start(base, "http", "port6", line);
    memmove(base + strlen("http://[::1]"), base + strlen("http://127.0.0.1"),
            strlen(base) - strlen("http://127.0.0.1") + 1);
    memcpy(base, "http://[::1]", strlen("http://[::1]"));
    struct store s = {0};
    struct fetch_options o = {0};
    assert_int_equal(fetch_with(&s, &o, "one", base, "/body"), 0);
    assert_int_equal(s.published, 1);
}

static void what_cannot_be_asked(void **state)
{
    (void)state;
    struct store s = {0};
    struct fetch_options off = {.offline = true};
    assert_int_equal(fetch_with(&s, &off, "one", fake_base, "/ok.csv"), GT_EUSAGE);
    assert_non_null(strstr(error.text, "--offline"));
    struct fetch_options o = {0};
    assert_int_equal(fetch_with(&s, &o, "aws-ofer", fake_base, "/ok.csv"), GT_EUSAGE);
    assert_non_null(strstr(error.text, "nearest: aws-offer"));
    struct fetch_options f = {0};
    assert_int_equal(fetch_with(&s, &f, "files-only", fake_base, ""), GT_EUSAGE);
    assert_non_null(strstr(error.text, "import files-only"));
    struct fetch_options u = {0};
    assert_int_equal(fetch_with(&s, &u, "one", "http://u:SECRET@127.0.0.1/", ""), GT_EHTTP);
    assert_null(strstr(error.text, "SECRET"));
    assert_null(strstr(error.where, "SECRET"));
    struct fetch_options n = {0};
    assert_int_equal(fetch_with(&s, &n, "aws-offer", fake_base, ""), GT_EUSAGE);
    assert_non_null(strstr(error.text, "--region"));
    assert_int_equal(s.published, 0);
}

static void expected_sizes(void **state)
{
    (void)state;
    static const char *const names[] = {"aws"};
    static const char *const regions[] = {"aws/us-east-1", "eu-west-1", "azure/eastus"};
    struct fetch_options o = {.sources = names, .n_sources = 1, .regions = regions, .n_regions = 3};
    uint64_t bytes = 0;
    assert_int_equal(fetch_expected(&o, &bytes, NULL), 0);
    assert_int_equal(bytes, 2000);
    o.all_regions = true;
    assert_int_equal(fetch_expected(&o, &bytes, NULL), 0);
    assert_true(bytes >= 30000);
}

int main(void)
{
    if (access(shared_tool(), R_OK) != 0) {
        fprintf(stderr, "SKIPPED: %s is missing, the fetch engine was not tested\n", shared_tool());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers_are_published_whole),
        cmocka_unit_test(bad_answers_are_never_published),
        cmocka_unit_test(too_large_is_refused_by_its_length_and_by_its_bytes),
        cmocka_unit_test(resumes_where_it_stopped),
        cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(checksums_redirects_and_refusals),
        cmocka_unit_test(keys_stay_with_their_host),
        cmocka_unit_test(conditional_requests),
        cmocka_unit_test(a_failing_source_harms_no_other),
        cmocka_unit_test(certificates_are_checked),
        cmocka_unit_test(proxies_are_honoured),
        cmocka_unit_test(ctrl_c_stops_at_once),
        cmocka_unit_test(ipv6_is_spoken),
        cmocka_unit_test(what_cannot_be_asked),
        cmocka_unit_test(expected_sizes),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
