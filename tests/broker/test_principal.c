#include "broker/principal.h"
#include "tests/lib/test.h"

TEST(scopes_are_read_by_name_and_unknown_ones_count_for_nothing)
{
    CHECK(scopes_of(SPAN("tools:call tasks:read")) == (SCOPE_TOOLS_CALL | SCOPE_TASKS_READ));
    CHECK(scopes_of(SPAN("  admin  ")) == SCOPE_ADMIN);
    CHECK(scopes_of(SPAN("tools:calls TOOLS:CALL tools")) == 0);
    CHECK(scopes_of(SPAN("")) == 0);
}

TEST(admin_may_everything_and_nobody_else_more_than_its_scopes)
{
    struct principal p = {.scopes = SCOPE_TASKS_READ};

    CHECK(principal_may(&p, SCOPE_NONE) && principal_may(&p, SCOPE_TASKS_READ));
    CHECK(!principal_may(&p, SCOPE_TOOLS_CALL) && !principal_may(&p, SCOPE_ADMIN));
    p.scopes = SCOPE_ADMIN;
    CHECK(principal_may(&p, SCOPE_TOOLS_CALL) && principal_may(&p, SCOPE_TASKS_READ));
}
