#include "common/cfg_text.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static const struct cfg_row rows[] = {
    {"redis", CFG_TEXT, 0, "redis://h", 0, 0, NULL, "where Redis is"},
    {"auth", CFG_TEXT, 0, NULL, 0, 0, "none|key", "who may call a|b"},
    {"lease", CFG_TIME, 0, "10s", 1000, 3600000, NULL,
     "a text that is long enough to be broken into two lines because it does not fit into eighty"},
    {"max-body", CFG_SIZE, 0, "1m", 0, 1 << 30, NULL, "the largest body"},
    {"slots", CFG_COUNT, 0, NULL, 1, 0, NULL, "jobs"},
    {"facade", CFG_BOOL, 0, "off", 0, 0, NULL, "plain tools"},
    {"tools", CFG_LIST, 0, NULL, 0, 0, NULL, "files"},
};

static const struct cfg_page pages[] = {{"sheets", NULL}, {NULL, NULL}};

static const struct cfg table = {
    "errand-test", "shows things", rows, sizeof(rows) / sizeof(rows[0]), "WORD...", pages, NULL};

static bool has(const struct buf *b, const char *text)
{
    bool found = strstr(b->p, text) != NULL;

    if (!found)
        printf("missing: %s\n", text);
    return found;
}

TEST(help_shows_every_option_its_default_and_how_values_are_written)
{
    struct buf out;

    buf_init(&out, 100000);
    cfg_help(&out, &table);
    CHECK(strncmp(out.p, "errand-test - shows things\n\nusage: errand-test [OPTION...] WORD...\n",
                  66) == 0);
    CHECK(has(&out, "\n  --redis TEXT\n      where Redis is (default: redis://h)\n"));
    CHECK(has(&out, "\n  --auth none|key\n      who may call a|b\n"));
    CHECK(has(&out, "\n  --facade\n      plain tools (default: off)\n"));
    CHECK(has(&out, "\n  --slots NUMBER\n"));
    CHECK(has(&out, "\n  --tools A,B,...\n"));
    CHECK(has(&out, "\n  --config FILE\n"));
    CHECK(has(&out,
              "\n  --docs PAGE\n      print a page of the documentation, as Markdown, and exit: "
              "config, events,\n      metrics, sheets\n"));
    CHECK(has(&out, "\n  --help\n"));
    CHECK(has(&out, "\n  --version\n"));
    CHECK(has(&out, "500ms, 10s, 5m, 24h or 7d"));
    buf_fini(&out);
}

TEST(help_fits_into_eighty_columns)
{
    struct buf out;
    size_t width = 0;

    buf_init(&out, 100000);
    cfg_help(&out, &table);
    for (const char *p = out.p; *p != '\0'; p++) {
        width = *p == '\n' ? 0 : width + 1;
        CHECK(width <= 80);
    }
    buf_fini(&out);
}

TEST(docs_are_a_table_of_option_variable_default_and_bounds)
{
    struct buf out;

    buf_init(&out, 100000);
    cfg_docs(&out, &table);
    CHECK(strncmp(out.p, "## errand-test\n\nIt shows things.\n\n| option |", 44) == 0);
    CHECK(has(&out, "\n| `--redis TEXT` | `ERRAND_REDIS` | `redis://h` | where Redis is |\n"));
    CHECK(has(&out, "\n| `--auth none\\|key` | `ERRAND_AUTH` |  | who may call a\\|b |\n"));
    CHECK(has(&out, "| `10s` | a text that is long enough to be broken into two lines because it "
                    "does not fit into eighty; from 1s to 1h |\n"));
    CHECK(has(&out, "\n| `--max-body SIZE` | `ERRAND_MAX_BODY` | `1m` | the largest body; at most "
                    "1g |\n"));
    CHECK(has(&out, "\n| `--slots NUMBER` | `ERRAND_SLOTS` |  | jobs; at least 1 |\n"));
    CHECK(has(&out, "\n| `--facade` | `ERRAND_FACADE` | `off` | plain tools |\n"));
    CHECK(has(&out, "\n| `--config FILE` | `ERRAND_CONFIG` |  | "));
    CHECK(has(&out, "\n| `--docs PAGE` |  |  | "));
    CHECK(has(&out, "config, events, metrics, sheets |\n"));
    CHECK(has(&out, "\n| `--version` |  |  | "));
    buf_fini(&out);
}
