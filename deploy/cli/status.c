#include "deploy/cli/status.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "deploy/cli/say.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TEXT_MAX = 4096, BAR = 20, COLUMNS = 80, COLUMNS_MIN = 20 };

void status_init(struct status *s, const char *what, bool quiet)
{
    *s = (struct status){.what = what, .quiet = quiet, .permille = -1};
    s->terminal = isatty(STDERR_FILENO) == 1;
    s->begun_ms = clock_mono_ms();
    (void)snprintf(s->state, sizeof(s->state), "working");
}

static size_t columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < COLUMNS_MIN)
        return COLUMNS;
    return size.ws_col;
}

/* So much of it as fits on one line, as far as UTF-8 tells characters apart. */
static int fitting(const struct buf *text)
{
    size_t room = columns() - 1;
    size_t i = 0;

    for (; i < text->n; i++)
        if (((unsigned char)text->p[i] & 0xc0) != 0x80 && room-- == 0)
            break;
    return (int)i;
}

static void add_bar(struct buf *out, const struct status *s)
{
    buf_adds(out, " [");
    for (int i = 0; i < BAR; i++)
        buf_addc(out, i < s->permille * BAR / 1000 ? '#' : '-');
    buf_addf(out, "] %d%%", s->permille / 10);
}

static void compose(struct buf *out, const struct status *s)
{
    buf_addf(out, "%.100s: %s", s->what, s->state);
    if (s->terminal && s->permille >= 0)
        add_bar(out, s);
    if (s->progress[0] != '\0')
        buf_addf(out, ": %s", s->progress);
    if (s->message[0] != '\0')
        buf_addf(out, ": %s", s->message);
}

static void show(struct status *s)
{
    struct buf text;
    struct buf age;

    if (s->quiet || s->held)
        return;
    buf_init(&text, TEXT_MAX);
    buf_init(&age, 32);
    compose(&text, s);
    say_age(&age, clock_mono_ms() - s->begun_ms);
    if (s->terminal) {
        buf_addf(&text, " (%s)", age.p);
        (void)fprintf(stderr, "\r\033[K%.*s", fitting(&text), text.p);
        s->shown = true;
    } else if (strcmp(text.p, s->last) != 0) {
        (void)fprintf(stderr, "%s (%s)\n", text.p, age.p);
        (void)snprintf(s->last, sizeof(s->last), "%s", text.p);
    }
    (void)fflush(stderr);
    buf_fini(&text);
    buf_fini(&age);
}

static void keep_message(struct status *s, struct span message)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    say_string(&text, message, false);
    (void)snprintf(s->message, sizeof(s->message), "%s", text.n > 0 ? text.p : "");
    buf_fini(&text);
}

void status_show(struct status *s, const char *state, struct span message)
{
    (void)snprintf(s->state, sizeof(s->state), "%s", state);
    keep_message(s, message);
    show(s);
}

void status_progress(struct status *s, struct span done, struct span total, struct span message)
{
    double n = 0;
    double of = 0;

    (void)snprintf(s->progress, sizeof(s->progress), "%.*s%s%.*s", (int)done.n, done.p,
                   total.p != NULL ? "/" : "", (int)total.n, total.p != NULL ? total.p : "");
    s->permille = -1;
    if (json_number(done, &n) && json_number(total, &of) && of > 0 && n >= 0)
        s->permille = n < of ? (int)(n / of * 1000) : 1000;
    if (message.p != NULL)
        keep_message(s, message);
    show(s);
}

void status_line(struct status *s, const char *text)
{
    if (s->quiet)
        return;
    (void)fprintf(stderr, "%s%s\n", s->terminal ? "\r\033[K" : "", text);
    s->shown = false;
    if (s->terminal)
        show(s);
}

void status_hold(struct status *s, bool held)
{
    if (held)
        status_end(s);
    s->held = held;
}

void status_end(struct status *s)
{
    if (s->shown)
        (void)fputs("\r\033[K", stderr);
    s->shown = false;
}
