#include "worker/slot.h"

#include "tests/lib/hand.h"
#include "tests/lib/test.h"

#define ID "00abcdefghijklmnopqrstuv"

static struct hand h;

TEST(a_job_gets_what_was_sent_and_its_slot_is_held)
{
    struct slot *s;

    hand_open(&h, 2, "");
    s = hand_take(&h, ID, 7, 60000);
    REQUIRE(s != NULL && h.started == 1);
    CHECK(strcmp(h.jobs[0]->id, ID) == 0 && h.jobs[0]->attempt == 1);
    CHECK(span_is(h.jobs[0]->arguments, "{\"a\":1}"));
    CHECK(strcmp(h.jobs[0]->arguments.p, "{\"a\":1}") == 0);
    CHECK(strcmp(h.jobs[0]->principal, "bob") == 0);
    CHECK(span_is(trace_id_of(span_of(h.jobs[0]->trace)), "4bf92f3577b34da6a3ce929d0e0e4736"));
    CHECK(strstr(h.jobs[0]->trace, "00f067aa0ba902b7") == NULL); /* a span of its own */
    CHECK(slots_room(h.slots) == 1 && slots_busy(h.slots) == 1 && slots_count(h.slots) == 1);
    CHECK(slot_is_ours(s) && slot_held(s).fence == 7 && span_is(slot_held(s).id, ID));
    CHECK(slots_find(h.slots, SPAN(ID), 8) == NULL);
    CHECK(slots_find_id(h.slots, SPAN(ID)) == s);
    hand_end(&h, 0, "{}", false);
    hand_close(&h);
}

TEST(a_result_frees_the_place_at_once_and_the_slot_when_redis_was_told)
{
    struct slot *s;

    hand_open(&h, 1, "");
    s = hand_take(&h, ID, 7, 60000);
    CHECK(slots_room(h.slots) == 0);
    hand_end(&h, 0, "{\"content\":[]}", true);
    CHECK(h.settled == 1 && h.settling == s && h.freed == 1);
    CHECK(s->verb == SLOT_FINISH && s->is_error);
    CHECK(span_is(buf_span(&s->outcome), "{\"content\":[]}"));
    CHECK(slots_room(h.slots) == 1 && slots_count(h.slots) == 1);
    CHECK(slot_is_ours(s)); /* renewed until Redis has taken it */
    slot_settled(s);
    CHECK(slots_count(h.slots) == 0 && slots_find_id(h.slots, SPAN(ID)) == NULL);
    hand_close(&h);
}

TEST(a_passing_failure_is_a_retry_with_its_reason)
{
    struct slot *s;

    hand_open(&h, 1, "");
    s = hand_take(&h, ID, 7, 60000);
    hand_fail(&h, 0, "no upstream");
    CHECK(s->verb == SLOT_RETRY && span_is(buf_span(&s->outcome), "no upstream"));
    slot_settled(s);
    hand_close(&h);
}

TEST(a_dropped_job_is_stopped_and_its_result_counts_for_nothing)
{
    struct slot *s;

    hand_open(&h, 1, ",\"grace\":\"7s\"");
    s = hand_take(&h, ID, 7, 60000);
    slot_drop(s, RUN_UNWANTED);
    CHECK(h.stops == 1 && h.stop_grace_ms == 7000);
    CHECK(!slot_is_ours(s) && slots_room(h.slots) == 0);
    slot_drop(s, RUN_UNWANTED);
    CHECK(h.stops == 1);
    hand_end(&h, 0, "{}", false);
    CHECK(h.settled == 0 && h.freed == 1 && slots_count(h.slots) == 0);
    hand_close(&h);
}

TEST(a_timeout_is_a_result_once_the_job_is_still)
{
    struct slot *s;

    hand_open(&h, 1, ",\"timeout\":\"90s\"");
    s = hand_take(&h, ID, 7, 600000);
    slot_stop(s, SLOT_TIMED_OUT, 100);
    CHECK(h.settled == 0);
    hand_end(&h, 0, "{\"content\":[]}", false);
    CHECK(s->verb == SLOT_FINISH && s->is_error);
    CHECK(
        span_is(buf_span(&s->outcome),
                "{\"content\":[{\"type\":\"text\",\"text\":\"the tool ran longer than its timeout "
                "of 90s and was stopped\"}],\"isError\":true}"));
    slot_settled(s);
    hand_close(&h);
}

TEST(a_timeout_of_what_has_no_such_results_is_an_error)
{
    struct slot *s;

    hand_open(&h, 1, ",\"timeout\":\"90s\"");
    slots_runner(h.slots, TOOL_MCP, &h.runner);
    s = hand_take(&h, ID, 7, 600000);
    s->tool->run = TOOL_MCP; /* all of a wrapped server that is no tool */
    slot_stop(s, SLOT_TIMED_OUT, 100);
    hand_end(&h, 0, "{}", false);
    CHECK(s->is_rpc_error && !s->is_error);
    CHECK(span_is(buf_span(&s->outcome),
                  "{\"code\":-32603,\"message\":\"the tool ran longer than its timeout of 90s and "
                  "was stopped\"}"));
    slot_settled(s);
    hand_close(&h);
}

TEST(a_job_that_is_handed_back_is_released_whatever_it_said)
{
    struct slot *s;

    hand_open(&h, 2, "");
    s = hand_take(&h, ID, 7, 60000);
    slot_stop(s, SLOT_HANDED_BACK, 100);
    slot_stop(s, SLOT_TIMED_OUT, 50); /* decided is decided; but the grace may shrink */
    CHECK(h.stops == 2 && h.stop_grace_ms == 50);
    hand_end(&h, 0, "{}", false);
    CHECK(s->verb == SLOT_RELEASE);
    slot_settled(s);
    s = hand_take(&h, ID, 8, 60000);
    slot_stop(s, SLOT_HANDED_BACK, 100);
    slot_drop(s, RUN_UNWANTED); /* but that the task is gone overrides */
    hand_end(&h, 1, "{}", false);
    CHECK(h.settled == 1 && slots_count(h.slots) == 0);
    hand_close(&h);
}

TEST(a_handler_that_does_not_stop_keeps_its_place_until_it_returns)
{
    struct slot *s;

    hand_open(&h, 1, ",\"timeout\":\"1s\"");
    s = hand_take(&h, ID, 7, 60000);
    slot_is_late(s); /* it was not told to stop */
    CHECK(!s->is_deaf);
    slot_stop(s, SLOT_TIMED_OUT, 10);
    slot_is_late(s);
    CHECK(h.settled == 1 && s->verb == SLOT_FINISH && s->is_error);
    slot_is_late(s);
    CHECK(h.settled == 1);
    slot_settled(s);
    CHECK(slots_room(h.slots) == 0 && slots_count(h.slots) == 1);
    hand_end(&h, 0, "{}", false);
    CHECK(slots_room(h.slots) == 1 && slots_count(h.slots) == 0 && h.settled == 1);
    hand_close(&h);
}

TEST(what_a_stopped_job_says_goes_nowhere)
{
    struct slot *s;

    hand_open(&h, 1, "");
    s = hand_take(&h, ID, 7, 60000);
    slots_sink.said(h.jobs[0], SPAN("a"), SPAN("{}"));
    CHECK(h.said == 1);
    slot_drop(s, RUN_UNWANTED);
    slots_sink.said(h.jobs[0], SPAN("b"), SPAN("{}"));
    CHECK(h.said == 1);
    hand_end(&h, 0, "{}", false);
    hand_close(&h);
}

TEST(two_attempts_of_one_task_may_be_in_hand)
{
    struct slot *old;
    struct slot *new;

    hand_open(&h, 2, "");
    old = hand_take(&h, ID, 7, 60000);
    slot_drop(old, RUN_UNWANTED);
    new = hand_take(&h, ID, 8, 60000);
    CHECK(slots_find(h.slots, SPAN(ID), 7) == old && slots_find(h.slots, SPAN(ID), 8) == new);
    CHECK(slots_find_id(h.slots, SPAN(ID)) == new);
    hand_end(&h, 0, "{}", false);
    CHECK(slots_find(h.slots, SPAN(ID), 8) == new &&slot_is_ours(new));
    hand_end(&h, 1, "{}", false);
    slot_settled(new);
    hand_close(&h);
}

TEST(a_tool_that_is_not_served_here_goes_back_as_it_came)
{
    const struct store_job job = {.id = SPAN(ID), .fence = 1, .attempt = 1, .tool = SPAN("other")};

    hand_open(&h, 1, "");
    slots_take(h.slots, &job, 0, 0);
    CHECK(h.started == 0 && h.settled == 1 && h.settling->verb == SLOT_RELEASE);
    CHECK(span_is(h.settling->job.arguments, "{}")); /* without params */
    CHECK(h.settling->job.principal[0] == '\0');
    slot_settled(h.settling);
    hand_close(&h);
}

TEST(of_two_attempts_of_a_task_the_one_that_is_held_is_found)
{
    struct slot *s[2];

    for (unsigned held = 0; held < 2; held++) {
        hand_open(&h, 2, "");
        for (unsigned i = 0; i < 2; i++)
            s[i] = hand_take(&h, ID, 7 + i, 60000);
        hand_end(&h, 1 - held, "{}", false); /* Redis is being told of the other */
        CHECK(slots_find_id(h.slots, SPAN(ID)) == s[held]);
        hand_end(&h, held, "{}", false);
        hand_close(&h);
    }
}
