#include "common/task.h"
#include "tests/lib/test.h"

static const enum task_state all[] = {TASK_WORKING, TASK_INPUT, TASK_RESULT, TASK_ERROR,
                                      TASK_CANCELLED};

TEST(there_are_five_states)
{
    CHECK(TASK_STATE_COUNT == 5);
}

/* From the row, to the column: working, input, result, error, cancelled. */
TEST(a_task_moves_as_the_table_says_and_never_out_of_an_end)
{
    static const bool may[5][5] = {
        {false, true, true, true, true},     {true, false, true, true, true},
        {false, false, false, false, false}, {false, false, false, false, false},
        {false, false, false, false, false},
    };

    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            CHECK(task_may_move(all[a], all[b]) == may[a][b]);
}

TEST(an_end_is_a_state_without_moves)
{
    for (int a = 0; a < 5; a++) {
        bool stuck = true;

        for (int b = 0; b < 5; b++)
            stuck = stuck && !task_may_move(all[a], all[b]);
        CHECK(task_is_terminal(all[a]) == stuck);
    }
    CHECK(!task_is_terminal(TASK_INPUT));
    CHECK(task_is_terminal(TASK_RESULT));
}

TEST(each_state_has_a_letter_that_leads_back_to_it)
{
    enum task_state s;

    for (int i = 0; i < 5; i++) {
        s = TASK_STATE_COUNT;
        CHECK(task_state_of(task_letter(all[i]), &s));
        CHECK(s == all[i]);
    }
    s = TASK_ERROR;
    CHECK(!task_state_of('?', &s));
    CHECK(!task_state_of('\0', &s));
    CHECK(!task_state_of('W', &s));
    CHECK(s == TASK_ERROR);
    CHECK(strcmp(task_state_name(TASK_INPUT), "INPUT") == 0);
}

TEST(the_words_of_the_2025_11_25_dialect_are_its_own)
{
    static const char *const words[] = {"working", "input_required", "completed", "failed",
                                        "cancelled"};

    for (int i = 0; i < 5; i++) {
        struct task t = {.state = all[i]};

        CHECK(strcmp(task_l_status(&t, true), words[i]) == 0);
        CHECK(strcmp(task_l_status(&t, false), words[i]) == 0);
    }
}

TEST(T_89_a_result_that_is_an_error_has_failed_unless_told_otherwise)
{
    struct task t = {.state = TASK_RESULT, .is_error = true};

    CHECK(strcmp(task_l_status(&t, true), "failed") == 0);
    CHECK(strcmp(task_l_status(&t, false), "completed") == 0);
    t.state = TASK_WORKING; /* the flag means nothing before the end */
    CHECK(strcmp(task_l_status(&t, true), "working") == 0);
}

TEST(priorities_have_names_and_no_others)
{
    enum task_priority p;

    for (unsigned i = 0; i < TASK_PRIORITY_COUNT; i++) {
        p = TASK_PRIORITY_COUNT;
        CHECK(task_priority_of(task_priority_name((enum task_priority)i), &p));
        CHECK(p == (enum task_priority)i);
    }
    CHECK(task_priority_of("high", &p) && p == TASK_HIGH);
    CHECK(task_priority_of("idle", &p) && p == TASK_IDLE);
    CHECK(!task_priority_of("High", &p));
    CHECK(!task_priority_of("", &p));
    CHECK(!task_priority_of("urgent", &p));
}
