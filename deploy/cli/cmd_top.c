/* errand top: the installation as it is now, every second, until q. At a terminal it takes the
 * whole screen and gives it back; elsewhere, or with --once, it looks once. */
#include "common/clock.h"
#include "deploy/cli/command.h"
#include "deploy/cli/conf.h"
#include "deploy/cli/say.h"
#include "deploy/cli/stop.h"
#include "deploy/cli/top.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20, EVERY_MS = 1000, TURN_MS = 50 };

struct screen {
    struct termios before;
    bool changed;
};

static void screen_begin(struct screen *s)
{
    struct termios t;

    if (tcgetattr(STDIN_FILENO, &s->before) == 0) {
        t = s->before;
        t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        t.c_cc[VMIN] = 0;
        t.c_cc[VTIME] = 0;
        s->changed = tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0;
    }
    (void)fputs("\033[?1049h\033[?25l", stdout);
}

static void screen_end(const struct screen *s)
{
    (void)fputs("\033[?25h\033[?1049l", stdout);
    (void)fflush(stdout);
    if (s->changed)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

/* How many bytes of a line fit into so many columns; a character counts as one. */
static size_t fitting(const char *line, size_t n, size_t columns)
{
    size_t seen = 0;

    for (size_t i = 0; i < n; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80 && ++seen > columns)
            return i;
    return n;
}

/* As much as the window holds now: its size is asked for each time. */
static void draw(const struct buf *text)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    const char *at = text->p;

    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    (void)fputs("\033[H", stdout);
    for (unsigned row = 0; row + 1 < size.ws_row && at != NULL && *at != '\0'; row++) {
        size_t n = strcspn(at, "\n");

        (void)fwrite(at, 1, fitting(at, n, size.ws_col), stdout);
        (void)fputs("\033[K\n", stdout);
        at += n + (at[n] == '\n');
    }
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
}

/* False: q was typed, or Ctrl-C. */
static bool wait_a_second(struct ops *o)
{
    uint64_t until = clock_mono_ms() + EVERY_MS;

    while (clock_mono_ms() < until && stop_count() == 0) {
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        char typed = '\0';

        ops_turn(o);
        if (poll(&in, 1, 0) <= 0)
            continue;
        if (read(STDIN_FILENO, &typed, 1) != 1 || typed == 'q' || typed == 'Q' || typed == 4)
            return false;
    }
    return stop_count() == 0;
}

static int look(struct ops *o, bool json, struct buf *out)
{
    struct top t = {.queue_count = 0};
    int status = top_read(&t, o);

    buf_reset(out);
    if (status == EXIT_OK && json)
        top_json(out, &t);
    else if (status == EXIT_OK)
        top_show(out, &t);
    top_fini(&t);
    return status;
}

static void add_head(struct buf *out, const struct conf *c)
{
    buf_addf(out, "errand top  prefix %s  ", c->prefix);
    url_describe(out, &c->redis_url);
    buf_adds(out, "  ");
    buf_add_time(out, clock_wall_ms());
    buf_adds(out, "  q quits\n");
}

static int watch(struct ops *o, const struct conf *c)
{
    struct screen s = {.changed = false};
    struct buf text;
    struct buf frame;

    buf_init(&text, TEXT_MAX);
    buf_init(&frame, TEXT_MAX + 1024);
    screen_begin(&s);
    do {
        buf_reset(&frame);
        add_head(&frame, c);
        if (!store_is_ready(o->store))
            buf_addf(&frame, "Redis cannot be used: %s\n", o->why);
        else if (look(o, false, &text) == EXIT_OK)
            buf_add_span(&frame, buf_span(&text));
        draw(&frame);
    } while (wait_a_second(o));
    screen_end(&s);
    buf_fini(&frame);
    buf_fini(&text);
    return stop_count() > 0 ? EXIT_STOPPED : EXIT_OK;
}

int cmd_top(const struct conf *c, char **args, size_t count)
{
    struct buf out;
    struct ops o;
    int status;

    (void)args;
    (void)count;
    if (!ops_open(&o, c, false))
        return EXIT_FAILED;
    if (!c->json && !c->once && isatty(STDOUT_FILENO) == 1) {
        status = watch(&o, c);
    } else {
        buf_init(&out, TEXT_MAX);
        status = look(&o, c->json, &out);
        if (status == EXIT_OK)
            say_out(&out);
        buf_fini(&out);
    }
    ops_close(&o);
    return status;
}
