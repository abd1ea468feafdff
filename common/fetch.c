#include "common/fetch.h"

#include "common/clock.h"
#include "common/fetch_inside.h"
#include "common/mem.h"

#include <event2/event.h>
#include <stdlib.h>

/* A socket of curl's; curl keeps the pointer for us. */
struct ear {
    struct event *event;
};

static void settle(struct fetcher *all);

/* --- what curl waits for --- */

static void act(struct fetcher *all, curl_socket_t fd, int mask)
{
    int running;

    all->inside++;
    (void)curl_multi_socket_action(all->multi, fd, mask, &running);
    all->inside--;
    settle(all);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    act(arg, fd,
        ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
            ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void ear_free(struct ear *ear)
{
    if (ear == NULL)
        return;
    if (ear->event != NULL)
        event_free(ear->event);
    free(ear);
}

static int on_wants_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket)
{
    struct fetcher *all = arg;
    struct ear *ear = socket;
    short flags = EV_PERSIST;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        ear_free(ear);
        (void)curl_multi_assign(all->multi, fd, NULL);
        return 0;
    }
    if (ear == NULL) {
        ear = mem_zalloc(sizeof(*ear));
        (void)curl_multi_assign(all->multi, fd, ear);
    } else if (ear->event != NULL) {
        event_free(ear->event);
    }
    flags = (short)(flags | ((what & CURL_POLL_IN) != 0 ? EV_READ : 0));
    flags = (short)(flags | ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0));
    ear->event = event_new(all->base, fd, flags, on_socket, all);
    if (ear->event == NULL)
        abort();
    (void)event_add(ear->event, NULL);
    return 0;
}

static int on_wants_time(CURLM *multi, long ms, void *arg)
{
    struct fetcher *all = arg;
    struct timeval in = clock_timeval(ms > 0 ? (uint64_t)ms : 0);

    (void)multi;
    if (ms < 0)
        (void)event_del(all->timer);
    else
        (void)event_add(all->timer, &in);
    return 0;
}

/* --- beginning and ending --- */

static void add(struct fetch *f)
{
    f->is_added = true;
    if (curl_multi_add_handle(f->all->multi, f->easy) != CURLM_OK)
        abort();
}

static void take_out(struct fetch *f)
{
    if (f->is_added)
        (void)curl_multi_remove_handle(f->all->multi, f->easy);
    f->is_added = false;
}

static void end(struct fetch *f)
{
    take_out(f);
    list_del(&f->node);
    fetch_one_free(f);
}

static const char *words(const struct fetch *f, CURLcode code)
{
    if (f->too_large)
        return "its answer is too large";
    return f->error[0] != '\0' ? f->error : curl_easy_strerror(code);
}

static void finish(struct fetch *f, CURLcode code)
{
    struct fetch_answer answer = {.came = code == CURLE_OK, .status = f->status};

    if (f->is_dead)
        return; /* it stands in dead */
    if (answer.came) {
        take_out(f);
        if (fetch_one_redirected(f)) {
            add(f);
            return;
        }
        answer.body = buf_span(&f->body);
    } else {
        answer.too_large = f->too_large;
        answer.why = words(f, code);
    }
    /* Whoever cancels it from now on only says what happens anyway. */
    take_out(f);
    list_del(&f->node);
    list_add_tail(&f->all->dead, &f->node);
    f->is_dead = true;
    f->on_done(f->arg, f, &answer);
}

/* What curl says may not be done inside its callbacks is done here. */
static void settle(struct fetcher *all)
{
    const CURLMsg *m;
    int left;

    if (all->inside > 0)
        return;
    all->inside++;
    while ((m = curl_multi_info_read(all->multi, &left)) != NULL) {
        struct fetch *f = NULL;
        CURLcode code = m->data.result;

        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&f);
        if (m->msg == CURLMSG_DONE)
            finish(f, code);
    }
    LIST_EACH(&all->dead, it)
    end(LIST_OF(it, struct fetch, node));
    LIST_EACH(&all->starting, it)
    {
        list_del(it);
        list_add_tail(&all->running, it);
        add(LIST_OF(it, struct fetch, node));
    }
    all->inside--;
}

struct fetch *fetch_start(struct fetcher *all, const struct fetch_request *request)
{
    struct fetch *f = fetch_one_new(all, request);

    list_add_tail(all->inside > 0 ? &all->starting : &all->running, &f->node);
    if (all->inside == 0)
        add(f);
    return f;
}

void fetch_cancel(struct fetch *f)
{
    if (f->is_dead)
        return;
    if (f->all->inside == 0) {
        end(f);
        return;
    }
    f->is_dead = true;
    list_del(&f->node);
    list_add_tail(&f->all->dead, &f->node);
}

/* --- life --- */

struct fetcher *fetcher_new(struct event_base *base)
{
    struct fetcher *all = mem_zalloc(sizeof(*all));

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
    all->base = base;
    all->multi = curl_multi_init();
    all->timer = evtimer_new(base, on_time, all);
    if (all->multi == NULL || all->timer == NULL)
        abort();
    list_init(&all->running);
    list_init(&all->starting);
    list_init(&all->dead);
    (void)curl_multi_setopt(all->multi, CURLMOPT_SOCKETFUNCTION, on_wants_socket);
    (void)curl_multi_setopt(all->multi, CURLMOPT_SOCKETDATA, all);
    (void)curl_multi_setopt(all->multi, CURLMOPT_TIMERFUNCTION, on_wants_time);
    (void)curl_multi_setopt(all->multi, CURLMOPT_TIMERDATA, all);
    return all;
}

void fetcher_free(struct fetcher *all)
{
    if (all == NULL)
        return;
    list_splice(&all->running, &all->starting);
    list_splice(&all->running, &all->dead);
    LIST_EACH(&all->running, it)
    end(LIST_OF(it, struct fetch, node));
    (void)curl_multi_cleanup(all->multi);
    event_free(all->timer);
    curl_global_cleanup();
    free(all);
}
