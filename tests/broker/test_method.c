#include "broker/l/version.h"
#include "broker/m/method.h"
#include "broker/method.h"
#include "tests/lib/test.h"

#include <string.h>

TEST(methods_are_found_by_exact_name)
{
    CHECK(method_find("tasks/get") != NULL && method_find("tasks/get")->tasks);
    CHECK(method_find("Tasks/get") == NULL && method_find("") == NULL);
    CHECK(method_find("notifications/initialized")->notification);
    CHECK(m_method_find("server/discover") != NULL && m_method_find("initialize") == NULL);
    CHECK(strcmp(m_method_find("tasks/update")->name, "taskId") == 0);
}

TEST(every_method_has_a_summary_and_a_row_of_the_docs)
{
    struct buf out;

    buf_init(&out, 64 << 10);
    method_docs(&out);
    for (unsigned i = 0; method_at(i) != NULL; i++) {
        CHECK(strlen(method_at(i)->summary) > 10);
        CHECK(strstr(out.p, method_at(i)->name) != NULL);
    }
    for (unsigned i = 0; m_method_at(i) != NULL; i++)
        CHECK(strlen(m_method_at(i)->summary) > 10);
    buf_fini(&out);
}

TEST(L_11_only_the_newest_revision_has_tasks)
{
    CHECK(l_version_of(SPAN("2025-11-25")) == L_2025_11_25 && l_has_tasks(L_2025_11_25));
    CHECK(!l_has_tasks(L_2025_06_18) && !l_has_tasks(L_2025_03_26) && !l_has_tasks(L_UNKNOWN));
    CHECK(l_version_of(SPAN("2026-07-28")) == L_UNKNOWN && l_version_of(SPAN("")) == L_UNKNOWN);
}
