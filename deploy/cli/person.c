/* Questions are put one after the other, in the order they came. A broker that was away asks again,
 * under another id and after cancelling the first: the question then goes on where it is, and one
 * whose answer is still on its way is answered the same. */
#include "deploy/cli/person.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/mem.h"
#include "deploy/cli/note.h"
#include "deploy/cli/question.h"
#include "deploy/cli/say.h"
#include "deploy/cli/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { TEXT_MAX = 16 << 20, LINE_MAX_BYTES = 64 << 10, WITHDRAWN_MS = 2000 };

struct person {
    struct person_host host;
    struct status status;
    struct list questions; /* the first is the one that is asked */
    struct question *asked; /* it, once it has begun */
    struct buf line; /* typed so far */
    struct buf last_id; /* of the newest answer */
    struct buf last_params;
    struct buf last_result;
    unsigned stops;
    bool is_there;
    bool stands_in;
};

static void print(const struct buf *text)
{
    if (text->n > 0)
        (void)fwrite(text->p, 1, text->n, stderr);
    (void)fflush(stderr);
}

/* --- a question's end --- */

static void forget(struct person *p, struct question *q)
{
    if (q == p->asked) {
        p->asked = NULL;
        buf_reset(&p->line);
        status_hold(&p->status, false);
    }
    list_del(&q->node);
    question_free(q);
}

static void answer(struct person *p, struct question *q, struct span result)
{
    buf_reset(&p->last_id);
    buf_reset(&p->last_params);
    buf_reset(&p->last_result);
    buf_add_span(&p->last_id, buf_span(&q->id));
    buf_add_span(&p->last_params, buf_span(&q->params));
    buf_add_span(&p->last_result, result);
    p->host.answer(p->host.arg, buf_span(&q->id), "result", result);
    forget(p, q);
}

static void accept_question(struct person *p)
{
    struct buf result;

    buf_init(&result, TEXT_MAX);
    question_accept(p->asked, &result);
    answer(p, p->asked, buf_span(&result));
    buf_fini(&result);
}

static void decline(struct person *p)
{
    (void)fputs("declined\n", stderr);
    answer(p, p->asked, SPAN("{\"action\":\"decline\"}"));
}

/* --- what the broker says --- */

static void be_absent(struct person *p, struct span id, struct span params)
{
    struct buf text;

    buf_init(&text, LINE_MAX_BYTES);
    buf_adds(&text, p->stands_in ? "errand: declined, as nobody is there to be asked: "
                                 : "errand: it waits for somebody at a terminal: ");
    say_string(&text, json_get(params, "message"), false);
    status_line(&p->status, text.p);
    buf_fini(&text);
    if (p->stands_in)
        p->host.answer(p->host.arg, id, "result", SPAN("{\"action\":\"decline\"}"));
}

static size_t stem_of(struct span id)
{
    size_t n = id.n;

    while (n > 0 && id.p[n - 1] != '/')
        n--;
    return n;
}

/* The ids of one question differ behind their last slash. */
static bool is_reissue(struct span a, struct span b)
{
    size_t n = stem_of(a);

    return n > 0 && n == stem_of(b) && memcmp(a.p, b.p, n) == 0;
}

static struct question *same(struct person *p, struct span id, struct span params)
{
    LIST_EACH(&p->questions, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        if (span_equal(buf_span(&q->params), params) &&
            (q->withdrawn_ms != 0 || is_reissue(buf_span(&q->id), id)))
            return q;
    }
    return NULL;
}

static void refuse(struct person *p, struct span id, const struct buf *why)
{
    struct buf error;

    buf_init(&error, LINE_MAX_BYTES);
    buf_adds(&error, "{\"code\":-32602,\"message\":");
    buf_add_json(&error, buf_span(why));
    buf_addc(&error, '}');
    p->host.answer(p->host.arg, id, "error", buf_span(&error));
    buf_fini(&error);
}

static void take(struct person *p, struct span id, struct span params)
{
    struct question *q = same(p, id, params);
    struct buf why;

    if (q != NULL) {
        buf_reset(&q->id);
        buf_add_span(&q->id, id);
        q->withdrawn_ms = 0;
        return;
    }
    buf_init(&why, 4096);
    q = question_new(id, params, &why);
    if (q != NULL)
        list_add_tail(&p->questions, &q->node);
    else
        refuse(p, id, &why);
    buf_fini(&why);
}

bool person_asked(void *person, struct span id, struct span method, struct span params)
{
    struct person *p = person;

    if (!json_is(method, "elicitation/create"))
        return false;
    if (stop_count() > 0)
        return true; /* its task is cancelled or left: nobody answers */
    if (!p->is_there)
        be_absent(p, id, params);
    else if (p->host.is_answering(p->host.arg) && is_reissue(buf_span(&p->last_id), id) &&
             span_equal(buf_span(&p->last_params), params))
        p->host.answer(p->host.arg, id, "result", buf_span(&p->last_result));
    else
        take(p, id, params);
    return true;
}

static void withdraw(struct person *p, struct span id)
{
    LIST_EACH(&p->questions, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        if (span_equal(buf_span(&q->id), id))
            q->withdrawn_ms = clock_mono_ms();
    }
}

static void ask_again(struct person *p)
{
    struct buf text;

    if (p->asked == NULL)
        return;
    buf_init(&text, LINE_MAX_BYTES);
    question_again(p->asked, &text);
    print(&text);
    buf_fini(&text);
}

void person_note(void *person, struct span method, struct span params)
{
    struct person *p = person;

    if (json_is(method, "notifications/cancelled"))
        withdraw(p, json_get(params, "requestId"));
    else if (note_show(&p->status, method, params))
        ask_again(p);
}

/* --- what the person says --- */

static void read_line(struct person *p, struct span line)
{
    struct buf out;
    bool all;

    buf_init(&out, TEXT_MAX);
    all = question_line(p->asked, line, &out);
    print(&out);
    buf_fini(&out);
    if (all)
        accept_question(p);
}

static void read_terminal(struct person *p)
{
    struct pollfd poll_fd = {.fd = STDIN_FILENO, .events = POLLIN};
    char piece[4096];
    char *end;
    ssize_t n;

    if (poll(&poll_fd, 1, 0) <= 0)
        return;
    n = read(STDIN_FILENO, piece, sizeof(piece));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0 && p->line.n > 0)
        return; /* Ctrl-D in a line only passes on what it has */
    if (n <= 0) {
        decline(p);
        return;
    }
    buf_add(&p->line, piece, (size_t)n);
    end = memchr(p->line.p, '\n', p->line.n);
    if (end == NULL)
        return;
    *end = '\0';
    n = end - p->line.p;
    char *line = buf_take(&p->line);
    buf_init(&p->line, LINE_MAX_BYTES);
    read_line(p, (struct span){line, (size_t)n});
    free(line);
}

static void begin_next(struct person *p)
{
    struct buf out;
    bool all;

    if (p->asked != NULL || list_empty(&p->questions))
        return;
    p->asked = LIST_OF(p->questions.next, struct question, node);
    status_hold(&p->status, true);
    (void)tcflush(STDIN_FILENO, TCIFLUSH); /* nobody answers what they have not read */
    buf_init(&out, TEXT_MAX);
    all = question_begin(p->asked, &out);
    print(&out);
    buf_fini(&out);
    if (all)
        accept_question(p);
}

static void drop_all(struct person *p)
{
    if (p->asked != NULL)
        (void)fputc('\n', stderr);
    LIST_EACH(&p->questions, it)
    {
        forget(p, LIST_OF(it, struct question, node));
    }
}

static void drop_withdrawn(struct person *p)
{
    LIST_EACH(&p->questions, it)
    {
        struct question *q = LIST_OF(it, struct question, node);

        if (q->withdrawn_ms == 0 || clock_mono_ms() - q->withdrawn_ms < WITHDRAWN_MS)
            continue;
        if (q == p->asked)
            (void)fputs("\nerrand: this is not asked any more\n", stderr);
        forget(p, q);
    }
}

void person_turn(void *person)
{
    struct person *p = person;

    if (stop_count() != p->stops) {
        p->stops = stop_count();
        drop_all(p);
    }
    drop_withdrawn(p);
    if (p->asked != NULL)
        read_terminal(p);
    begin_next(p);
    p->host.listen(p->host.arg, p->asked != NULL ? STDIN_FILENO : -1);
}

/* --- there and gone --- */

struct person *person_new(const struct person_host *host, const struct conf *c, const char *what,
                          bool stands_in)
{
    struct person *p = mem_zalloc(sizeof(*p));

    p->host = *host;
    p->stands_in = stands_in;
    p->is_there = !c->no_input && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    list_init(&p->questions);
    buf_init(&p->line, LINE_MAX_BYTES);
    buf_init(&p->last_id, TEXT_MAX);
    buf_init(&p->last_params, TEXT_MAX);
    buf_init(&p->last_result, TEXT_MAX);
    status_init(&p->status, what, c->json && isatty(STDERR_FILENO) != 1);
    return p;
}

void person_free(struct person *p)
{
    if (p == NULL)
        return;
    drop_all(p);
    status_end(&p->status);
    p->host.listen(p->host.arg, -1);
    p->host.gone(p->host.arg);
    buf_fini(&p->line);
    buf_fini(&p->last_id);
    buf_fini(&p->last_params);
    buf_fini(&p->last_result);
    free(p);
}

bool person_answers(const struct person *p)
{
    return p->is_there || p->stands_in;
}

struct status *person_status(struct person *p)
{
    return &p->status;
}
