/* load - the load of the benchmarks: many MCP clients of the 2025-11-25 revision in one process.
 *
 *     load MODE PORT [-c CLIENTS] [-s SECONDS] [-w WARMUP_SECONDS] [-b BROKER_PORT] [-r RATE]
 *
 *     lifecycle   tools/call echo as a task, then a blocking tasks/result, over and over
 *     create      only the first half
 *     get         tasks/get of a task that is finished
 *     call        tools/call echo without a task
 *     plain       the request of get without a session, for a server that is no MCP server
 *     paced       lifecycles of the tool stamp, RATE a second, the results asked at BROKER_PORT
 *     hold        a blocking tasks/result each of a task that does not end; says "holding" and
 *                 stays until standard input ends
 *
 * Each client has a session and a connection of its own, and sends its next request when it has
 * the answer to the last. "started" is printed with the first answer that counts; the line printed
 * at the end is JSON, its times in microseconds.
 */
#include "load/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BODY_MAX = 1024, TASK_MAX = 64, HANDSHAKES = 64, PACE_MS = 1 };

enum mode { LIFECYCLE, CREATE, GET, CALL, PLAIN, PACED, HOLD, MODES };

static const char *const mode_names[MODES] = {"lifecycle", "create", "get", "call",
                                              "plain",     "paced",  "hold"};

enum step { GREETING, READYING, CREATING, FETCHING, GETTING, CALLING, RESTING };

struct client {
    struct wire wire;
    struct wire other; /* PACED: to the second broker */
    enum step step;
    unsigned id;
    char task[TASK_MAX];
    uint64_t began_us;
};

struct samples {
    unsigned *v;
    size_t n;
    size_t room;
};

static struct {
    enum mode mode;
    uint16_t port;
    uint16_t other_port;
    unsigned count;
    double seconds;
    double warmup;
    unsigned rate;
    struct event_base *base;
    struct client *clients;
    unsigned greeted; /* clients whose handshake has begun */
    unsigned ready;
    unsigned holding;
    uint64_t start_us; /* of the measurement; 0: not all clients are ready */
    uint64_t end_us;
    double start_cpu;
    struct samples whole; /* a lifecycle, or one request */
    struct samples started; /* PACED: create sent -> job started */
    struct samples told; /* PACED: job ended -> waiter answered */
    struct event *pace;
    uint64_t released; /* PACED */
    uint64_t late; /* PACED: there was no client to start one */
    struct client **idle;
    unsigned idle_n;
} load = {.count = 256, .seconds = 5, .warmup = 1, .rate = 1000};

/* --- samples --- */

static void sample(struct samples *s, uint64_t us)
{
    if (s->n == s->room) {
        s->room = s->room * 2 + 4096;
        s->v = realloc(s->v, s->room * sizeof(*s->v));
    }
    s->v[s->n++] = us < UINT32_MAX ? (unsigned)us : UINT32_MAX;
}

static int by_size(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a;
    unsigned y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void print_samples(const char *name, struct samples *s)
{
    if (s->n == 0)
        return;
    qsort(s->v, s->n, sizeof(*s->v), by_size);
    (void)printf(",\"%s\":{\"p50\":%u,\"p99\":%u,\"max\":%u}", name, s->v[s->n / 2],
                 s->v[s->n * 99 / 100], s->v[s->n - 1]);
}

static double cpu_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void finish(void)
{
    (void)printf("{\"n\":%zu,\"seconds\":%.3f,\"late\":%llu,\"cpu\":%.3f", load.whole.n,
                 (double)(load.end_us - load.start_us) / 1e6, (unsigned long long)load.late,
                 cpu_seconds() - load.start_cpu);
    print_samples("whole", &load.whole);
    print_samples("started", &load.started);
    print_samples("told", &load.told);
    (void)printf("}\n");
    exit(0);
}

/* --- requests --- */

static void post(struct client *c, struct wire *w, const char *method, const char *params)
{
    char body[BODY_MAX];
    int n = snprintf(body, sizeof(body),
                     "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":%s}", ++c->id,
                     method, params);

    wire_post(w, (struct span){body, (size_t)n});
}

static void greet(struct client *c)
{
    c->step = GREETING;
    post(c, &c->wire, "initialize",
         "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
         "\"clientInfo\":{\"name\":\"load\",\"version\":\"1\"}}");
}

static void create(struct client *c)
{
    c->step = CREATING;
    c->began_us = wire_now_us();
    if (load.mode == PACED)
        post(c, &c->wire, "tools/call",
             "{\"name\":\"stamp\",\"arguments\":{\"ms\":20},\"task\":{}}");
    else if (load.mode == HOLD)
        post(c, &c->wire, "tools/call",
             "{\"name\":\"sleep\",\"arguments\":{\"ms\":3600000},\"task\":{}}");
    else
        post(c, &c->wire, "tools/call",
             "{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"},\"task\":{}}");
}

static void call(struct client *c)
{
    c->step = CALLING;
    c->began_us = wire_now_us();
    post(c, &c->wire, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}");
}

static void with_task(struct client *c, struct wire *w, const char *method)
{
    char params[TASK_MAX + 16];

    (void)snprintf(params, sizeof(params), "{\"taskId\":\"%s\"}", c->task);
    post(c, w, method, params);
}

static void fetch(struct client *c)
{
    c->step = FETCHING;
    if (load.mode == PACED)
        memcpy(c->other.session, c->wire.session, sizeof(c->wire.session));
    with_task(c, load.mode == PACED ? &c->other : &c->wire, "tasks/result");
    if (load.mode == HOLD && ++load.holding == load.count) {
        (void)printf("holding\n");
        (void)fflush(stdout);
    }
}

static void get(struct client *c)
{
    c->step = GETTING;
    c->began_us = wire_now_us();
    with_task(c, &c->wire, "tasks/get");
}

static void next(struct client *c)
{
    switch (load.mode) {
    case GET:
        if (c->task[0] != '\0')
            get(c);
        else
            create(c);
        break;
    case CALL:
        call(c);
        break;
    case PLAIN:
        (void)snprintf(c->task, sizeof(c->task), "%024d", 0);
        get(c);
        break;
    case PACED:
        c->step = RESTING;
        load.idle[load.idle_n++] = c;
        break;
    case LIFECYCLE:
    case CREATE:
    case HOLD:
    case MODES:
        create(c);
        break;
    }
}

/* --- answers --- */

static void is_ready(struct client *c)
{
    if (load.greeted < load.count)
        greet(&load.clients[load.greeted++]);
    c->step = RESTING;
    if (++load.ready < load.count)
        return;
    load.start_us = wire_now_us() + (uint64_t)(load.warmup * 1e6);
    load.end_us = load.start_us + (uint64_t)(load.seconds * 1e6);
    for (unsigned i = 0; i < load.count; i++)
        next(&load.clients[i]);
}

static void note_task(struct client *c, struct span body)
{
    const char *id = memmem(body.p, body.n, "\"taskId\":\"", 10);
    const char *end = id != NULL ? strchr(id + 10, '"') : NULL;

    if (end == NULL || end - id - 10 >= TASK_MAX)
        wire_die("an answer without a task", body);
    memcpy(c->task, id + 10, (size_t)(end - id - 10));
    c->task[end - id - 10] = '\0';
}

/* Is this answer counted? */
static bool counts(uint64_t now)
{
    if (now < load.start_us)
        return false;
    if (load.whole.n == 0) {
        load.start_cpu = cpu_seconds();
        (void)printf("started\n");
        (void)fflush(stdout);
    }
    return true;
}

static void done(struct client *c, uint64_t now)
{
    if (counts(now))
        sample(&load.whole, now - c->began_us);
    next(c);
}

/* The tool stamp answers with its two times. */
static void note_stamps(struct client *c, struct span body, uint64_t now)
{
    const char *text = memmem(body.p, body.n, "\"text\":\"", 8);
    unsigned long long from = 0;
    unsigned long long to = 0;

    if (text == NULL || sscanf(text + 8, "%llu %llu", &from, &to) != 2)
        wire_die("a result without stamps", body);
    if (now < load.start_us)
        return;
    sample(&load.started, from - c->began_us);
    sample(&load.told, now - to);
}

static void fetched(struct client *c, struct span body, uint64_t now)
{
    if (load.mode == GET) {
        get(c);
        return;
    }
    if (load.mode == PACED)
        note_stamps(c, body, now);
    done(c, now);
}

static void on_answer(void *arg, int status, struct span body)
{
    struct client *c = arg;
    uint64_t now = wire_now_us();

    if (load.start_us != 0 && now >= load.end_us && load.mode != HOLD)
        finish();
    if (load.mode != PLAIN && (status >= 300 || memmem(body.p, body.n, "\"error\":{", 9) != NULL))
        wire_die("refused", body);
    switch (c->step) {
    case GREETING:
        c->step = READYING;
        wire_post(&c->wire, SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
        break;
    case READYING:
        is_ready(c);
        break;
    case CREATING:
        note_task(c, body);
        if (load.mode == CREATE)
            done(c, now);
        else
            fetch(c);
        break;
    case FETCHING:
        fetched(c, body, now);
        break;
    case GETTING:
    case CALLING:
        done(c, now);
        break;
    case RESTING:
        wire_die("an answer that nobody asked for", body);
    }
}

/* --- pace --- */

static void on_pace(evutil_socket_t fd, short what, void *arg)
{
    uint64_t now = wire_now_us();
    uint64_t from = load.start_us - (uint64_t)(load.warmup * 1e6);
    uint64_t due;

    (void)fd;
    (void)what;
    (void)arg;
    if (load.start_us == 0)
        return;
    if (now >= load.end_us + 1000000)
        finish(); /* the last answers do not come */
    due = (now - from) * load.rate / 1000000;
    for (; load.released < due; load.released++) {
        if (load.idle_n == 0)
            load.late++;
        else
            create(load.idle[--load.idle_n]);
    }
}

static void set_pace(void)
{
    struct timeval t = {.tv_usec = PACE_MS * 1000};

    load.idle = calloc(load.count, sizeof(struct client *));
    load.pace = event_new(load.base, -1, EV_PERSIST, on_pace, NULL);
    (void)event_add(load.pace, &t);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    char byte;

    (void)what;
    (void)arg;
    if (read((int)fd, &byte, 1) <= 0)
        exit(0);
}

/* --- the whole --- */

static void open_clients(void)
{
    load.clients = calloc(load.count, sizeof(struct client));
    for (unsigned i = 0; i < load.count; i++) {
        struct client *c = &load.clients[i];

        wire_open(&c->wire, load.base, load.port, on_answer, c);
        if (load.mode == PACED)
            wire_open(&c->other, load.base, load.other_port, on_answer, c);
    }
}

static void begin(void)
{
    if (load.mode == PLAIN) {
        load.greeted = load.count;
        for (unsigned i = 0; i < load.count; i++)
            is_ready(&load.clients[i]);
        return;
    }
    while (load.greeted < load.count && load.greeted < HANDSHAKES)
        greet(&load.clients[load.greeted++]);
}

static void allow_many_files(void)
{
    struct rlimit r;

    (void)getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &r);
}

static bool read_arguments(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "c:s:w:b:r:")) != -1) {
        if (option == 'c')
            load.count = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            load.seconds = strtod(optarg, NULL);
        else if (option == 'w')
            load.warmup = strtod(optarg, NULL);
        else if (option == 'b')
            load.other_port = (uint16_t)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            load.rate = (unsigned)strtoul(optarg, NULL, 10);
        else
            return false;
    }
    if (argc - optind != 2 || load.count == 0)
        return false;
    while (load.mode < MODES && strcmp(argv[optind], mode_names[load.mode]) != 0)
        load.mode++;
    load.port = (uint16_t)strtoul(argv[optind + 1], NULL, 10);
    return load.mode < MODES && load.port != 0 && (load.mode != PACED || load.other_port != 0);
}

int main(int argc, char **argv)
{
    struct event *input;

    if (!read_arguments(argc, argv)) {
        (void)fprintf(stderr, "usage: load MODE PORT [-c CLIENTS] [-s SECONDS] [-w SECONDS] "
                              "[-b BROKER_PORT] [-r RATE]\n");
        return 2;
    }
    allow_many_files();
    load.base = event_base_new();
    open_clients();
    if (load.mode == PACED)
        set_pace();
    input = event_new(load.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, NULL);
    if (load.mode == HOLD)
        (void)event_add(input, NULL);
    begin();
    return event_base_dispatch(load.base);
}
