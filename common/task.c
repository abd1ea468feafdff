#include "common/task.h"

#include "common/sm.h"

static const struct {
    const char *name;
    const char *l_word;
    uint32_t to;
    char letter;
    bool terminal;
} states[] = {
#define X(name, letter, terminal, l_word, to) {#name, l_word, to, letter, terminal},
#include "common/task.def"
#undef X
};

static const char *const priorities[] = {"high", "normal", "low", "idle"};

const char *task_state_name(enum task_state s)
{
    return states[s].name;
}

bool task_is_terminal(enum task_state s)
{
    return states[s].terminal;
}

bool task_may_move(enum task_state from, enum task_state to)
{
    return (states[from].to & SM_TO(to)) != 0;
}

char task_letter(enum task_state s)
{
    return states[s].letter;
}

bool task_state_of(char letter, enum task_state *out)
{
    for (unsigned s = 0; s < TASK_STATE_COUNT; s++) {
        if (states[s].letter == letter) {
            *out = (enum task_state)s;
            return true;
        }
    }
    return false;
}

const char *task_l_status(const struct task *t, bool iserror_fails)
{
    if (t->state == TASK_RESULT && t->is_error && iserror_fails)
        return states[TASK_ERROR].l_word;
    return states[t->state].l_word;
}

bool task_priority_of(const char *name, enum task_priority *out)
{
    for (unsigned p = 0; p < TASK_PRIORITY_COUNT; p++) {
        if (strcmp(priorities[p], name) == 0) {
            *out = (enum task_priority)p;
            return true;
        }
    }
    return false;
}

const char *task_priority_name(enum task_priority p)
{
    return priorities[p];
}
