#include "common/sm.h"

#include <stdio.h>
#include <stdlib.h>

void sm_init(struct sm *m, const char *what, const struct sm_row *rows, unsigned first)
{
    *m = (struct sm){.rows = rows, .what = what, .state = first};
}

void sm_move(struct sm *m, unsigned to)
{
    if ((m->rows[m->state].to & SM_TO(to)) == 0) {
        (void)fprintf(stderr, "undeclared move of a %s: %s to %s\n", m->what,
                      m->rows[m->state].name, m->rows[to].name);
        abort();
    }
    m->state = to;
}
