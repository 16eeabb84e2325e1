/* The screen of tiers over time: its figures are those of `tier --format json`, columns hold the
 * bytes' shares, product and limits are asked for as on the command line, every size and locale.
 * TUI-13, 32, 40, 41, 51. */
#include "tui_util.h"

#define HEAD                                                                                       \
    "prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k," \
    "gets_30d,bytes_read_30d\n"

static void write_file(const char *name, const char *rows)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(rows, f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    int rc = tui_setup(state);
    if (rc == 0) { /* 30 TiB that nobody reads, 10 TiB that are read all the time */
        write_file(
            "s3.csv",
            HEAD "cold/,STANDARD,true,16777216,400,400,1000000,32985348833280,32985348833280,0,0\n"
                 "hot/,STANDARD,true,16777216,400,0,1000000,10995116277760,10995116277760,"
                 "9000000,98956046499840\n");
        write_file("azure.csv",
                   HEAD "\xe6\x95\xb0\xe6\x8d\xae/,Cool,true,16777216,10,0,1000,1099511627776,"
                        "1099511627776,900000,989560464998400\n"
                        "b/,Hot,true,16777216,10,0,1000,1099511627776,1099511627776,9000,"
                        "9895604649984\n");
        write_file("gcs.csv", HEAD "a/,NEARLINE,true,16777216,10,10,1000,1099511627776,"
                                   "1099511627776,0,0\n");
    }
    return rc;
}

static void run_command(const char *args, const char *out)
{
    char command[PATH_MAX * 3];
    snprintf(command, sizeof command, "'%s' --db '%s' %s >%s 2>/dev/null", tui_binary, tui_db, args,
             out);
    assert_int_equal(system(command), 0);
}

/* Cells of the chart's column `month` (from 0) that hold `letter`. */
static int cells_with(struct vt *t, int month, char letter)
{
    int top = tui_row_of(t, "Bytes in every tier"), n = 0;
    assert_true(top > 0);
    for (int row = top + 1; row < t->rows - 4; row++) {
        n += tui_cell(t, row, 10 + month) == (uint32_t)(unsigned char)letter;
    }
    return n;
}

static void figures_are_those_of_the_command(void **state)
{
    struct vt t;
    char expect[256], line[8192], field[64] = "";
    (void)state;
    tui_start(&t, 40, 132);
    tui_keys(&t, "4os3.csv\r", "s3.csv, 36 mo, s3 in aws/us-east-1");
    tui_keys(&t, "t", "Month 1: ");
    vt_expect(&t, "Bytes in every tier", LIMIT_MS);
    tui_keys(&t, "\033[C\033[C", "Month 3: ");
    run_command("--format csv tier s3.csv --over-time", "months.csv");
    FILE *f = fopen("months.csv", "r");
    assert_non_null(f);
    double cost = 0, so_far = 0, share = 0, all = 0;
    while (fgets(line, sizeof line, f)) {
        int month;
        char tier[64];
        double bytes, rent, moves;
        if (sscanf(line, "%d,%63[^,],%lf,%lf,%lf", &month, tier, &bytes, &rent, &moves) == 5) {
            so_far += month <= 2 ? rent + moves : 0;
            cost += month == 2 ? rent + moves : 0;
            all += month == 2 ? bytes : 0;
            share += month == 2 && strcmp(tier, "s3_deep_archive") == 0 ? bytes : 0;
        }
    }
    fclose(f);
    /* amounts with thousands' commas off */
    int row = tui_row_of(&t, "Month 3: ");
    snprintf(line, sizeof line, "%s", vt_row(&t, row));
    size_t n = 0;
    const char *at = strstr(line, "so far ");
    assert_non_null(at);
    for (at += 7; *at && *at != ' ' && n < sizeof field - 1; at++) {
        if (*at != ',') {
            field[n++] = *at;
        }
    }
    snprintf(expect, sizeof expect, "%.2f", so_far);
    field[n] = '\0';
    assert_string_equal(field, expect);
    assert_non_null(strstr(line, "30.0 TiB"));
    assert_true(cost > 0 && share > 0);
    int deep = cells_with(&t, 2, 'D'), hot = cells_with(&t, 2, 'H');
    assert_true(deep > 0 && hot > 0);
    double shown = (double)deep / (deep + hot), is = share / all;
    assert_true(shown > is - 1.0 / (deep + hot) && shown < is + 1.0 / (deep + hot));
    vt_send(&t, "\033");
    tui_expect_gone(&t, "Bytes in every tier");
    tui_quit(&t);
}

static void the_data_name_their_product(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 110);
    tui_keys(&t, "4oazure.csv\r", "azure.csv, 36 mo, azure_blob_lrs in azure/");
    vt_expect(&t, "H hot", LIMIT_MS);
    tui_keys(&t, "ogcs.csv\r", "gcs.csv, 36 mo, gcs in gcp/");
    tui_keys(&t, "P--region gcp/europe-west4\r", "gcs in gcp/europe-west4");
    tui_keys(&t, "u", "gcs in gcp/us-");
    tui_quit(&t);
}

static void limits_are_options_of_the_command(void **state)
{
    struct vt t;
    (void)state;
    tui_start(&t, 30, 110);
    tui_keys(&t, "4os3.csv\r", "s3.csv, 36 mo");
    vt_expect(&t, "DDDDDDDDDDDDDDDDDD", LIMIT_MS);
    tui_keys(&t, "P--max-wait 1h\r", "I instant");
    tui_expect_gone(&t, "DDDDDDDDDDDDDDDDDD");
    tui_keys(&t, "H12mo\r", "s3.csv, 12 mo");
    tui_keys(&t, "P\025--nonsense\r", "! unknown option '--nonsense'");
    vt_expect(&t, "s3.csv, 12 mo", LIMIT_MS); /* the last answer stays */
    tui_keys(&t, "P\025--db x.db\r", "! --db is none of tier's options");
    tui_keys(&t, "P\025gcs\r", "! found 'gcs'");
    tui_keys(&t, "P\025\r", "s3.csv, 12 mo");
    vt_expect(&t, "DDDDDDDDDDDD", LIMIT_MS);
    tui_quit(&t);
}

/* Each size twice, there and back; nothing beside the chart may run into the rows below. */
static void every_size(void **state)
{
    static const int size[][2] = {{10, 40}, {12, 40}, {20, 40},  {24, 80},
                                  {16, 71}, {30, 72}, {43, 132}, {100, 300}};
    struct vt t;
    (void)state;
    tui_start(&t, 24, 80);
    tui_keys(&t, "4os3.csv\r", "s3.csv, 36 mo");
    tui_keys(&t, "t", "Bytes in every tier");
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        vt_resize(&t, size[i][0], size[i][1]);
        vt_expect(&t, "Bytes in every tier", LIMIT_MS);
        vt_expect(&t, "Month", LIMIT_MS);
        if (size[i][1] >= 72) {
            vt_expect(&t, "as it is now", LIMIT_MS);
            vt_expect(&t, "rent", LIMIT_MS);
        }
        assert_true(cells_with(&t, 0, 'D') > 0);
    }
    tui_keys(&t, "H1200mo\r", "s3.csv, 1200 mo");
    vt_expect(&t, "Months 1-", LIMIT_MS);
    tui_keys(&t, "H1mo\r", "s3.csv, 1 mo");
    vt_expect(&t, "Month 1:", LIMIT_MS);
    tui_quit(&t);
}

/* Without colours and in plain ASCII the letters and signs still tell all. */
static void without_colours_and_in_ascii(void **state)
{
    static const char *const env[] = {"NO_COLOR=1", "LC_ALL=C", NULL};
    struct vt t;
    (void)state;
    tui_launch(&t, 24, 80, env);
    vt_expect(&t, "VENDOR", LIMIT_MS);
    tui_keys(&t, "4os3.csv\r", "s3.csv, 36 mo");
    tui_keys(&t, "t", "# rent + moves - as it is");
    assert_true(cells_with(&t, 0, 'D') > 0 && cells_with(&t, 0, 'H') > 0);
    for (size_t i = 0; i < t.raw_len; i++) {
        assert_true((unsigned char)t.raw[i] < 128);
    }
    for (int row = 0; row < t.rows; row++) {
        for (int col = 0; col < t.cols; col++) {
            VTermScreenCell cell;
            VTermPos pos = {.row = row, .col = col};
            assert_true(vterm_screen_get_cell(t.screen, pos, &cell));
            assert_true(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
        }
    }
    tui_quit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_command),
        cmocka_unit_test(the_data_name_their_product),
        cmocka_unit_test(limits_are_options_of_the_command),
        cmocka_unit_test(every_size),
        cmocka_unit_test(without_colours_and_in_ascii),
    };
    return cmocka_run_group_tests_name("tui tiers", tests, setup, tui_teardown);
}
