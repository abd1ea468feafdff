/* The place of an execution in its trace. */
#include "common/otlp.h"
#include "worker/slot_inside.h"

#include <stdio.h>
#include <string.h>

void slot_begin_trace(struct slot *s, struct span traceparent)
{
    if (trace_parse(&s->trace, traceparent)) {
        memcpy(s->parent, s->trace.span, sizeof(s->parent));
        trace_child(&s->trace, &s->trace);
    }
    trace_text(s->trace_text, &s->trace);
    s->job.trace = s->trace_text;
}

void slot_tell_execution(const struct slot *s, const char *outcome, uint64_t ms)
{
    char name[160];
    char attempt[16];

    (void)snprintf(name, sizeof(name), "execute %.128s", s->job.tool->name);
    (void)snprintf(attempt, sizeof(attempt), "%u", s->job.attempt);
    otlp_span(&(struct otlp_span){.trace = &s->trace,
                                  .parent = s->parent,
                                  .name = name,
                                  .kind = OTLP_CONSUMER,
                                  .took_us = ms * 1000,
                                  .is_error = strcmp(outcome, "result") != 0,
                                  .attributes = {{"errand.task", s->job.id},
                                                 {"errand.tool", s->job.tool->name},
                                                 {"errand.attempt", attempt},
                                                 {"errand.outcome", outcome}}});
}

void slot_tell_queue(const struct slot *s, uint64_t age_ms)
{
    struct trace own;
    char name[160];

    if (!otlp_is_on() || s->trace.id[0] == '\0')
        return;
    trace_child(&own, &s->trace);
    (void)snprintf(name, sizeof(name), "queue %.128s", s->job.tool->name);
    otlp_span(&(struct otlp_span){
        .trace = &own,
        .parent = s->parent,
        .name = name,
        .kind = OTLP_INTERNAL,
        .took_us = age_ms * 1000,
        .attributes = {{"errand.task", s->job.id}, {"errand.tool", s->job.tool->name}}});
}
