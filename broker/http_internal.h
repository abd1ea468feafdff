/* http_internal.h - what the files of the HTTP edge share; includes nothing of evhttp itself.
 *
 *     http_listen   the socket, and what happens when descriptors run out
 *     http_scan     the bytes of a request's head, before evhttp sees them
 *     http_valid    the parsed head
 *     http_read     what a handler may ask of a request
 *     http_reply    answers, and requests that are answered later
 *     http_conn     a connection from accept to close
 *     http_linger   sockets of refused clients that are still sending
 *     http_sweep    the deadlines of all connections
 *     http_server   the whole
 *
 * A connection carries one request at a time (evhttp serves pipelined ones in turn), so request
 * and stream live inside the connection and cost no allocation.
 */
#pragma once

#include "broker/http.h"
#include "common/list.h"
#include "common/sm.h"

#include <time.h>

struct bufferevent;
struct evbuffer_cb_entry;
struct evconnlistener;
struct event;
struct evhttp;
struct evhttp_bound_socket;
struct evhttp_connection;
struct evhttp_request;

enum {
    HTTP_HEAD_MAX = 16 * 1024, /* request line and headers */
    HTTP_BODY_SLACK = 64 * 1024, /* a body this much too large is still read, and refused kindly */
    HTTP_HELD_MAX = 64 * 1024, /* pipelined bytes kept behind a held request */
    HTTP_STREAM_IN_MAX = 4 * 1024, /* bytes a client may send while it reads a stream */
};

/* What is wrong with the bytes of a head, in a way that does not survive parsing. */
enum http_flaw {
    HTTP_FLAW_NUL = 1,
    HTTP_FLAW_CONTROL = 2,
    HTTP_FLAW_BARE_LF = 4,
    HTTP_FLAW_BARE_CR = 8,
    HTTP_FLAW_FOLD = 16,
    HTTP_FLAW_VERSION = 32,
    HTTP_FLAW_METHOD = 64,
};

struct http_scan {
    uint64_t last; /* the last eight bytes */
    uint32_t column; /* in the line */
    bool first; /* in the request line */
    bool method; /* in its first word */
    bool body; /* the head is over: nothing to see until the next request */
    uint8_t flaws;
};

void http_scan_start(struct http_scan *s);
void http_scan_bytes(struct http_scan *s, const char *p, size_t n);
const char *http_scan_text(unsigned flaws); /* one sentence */
bool http_is_token_char(unsigned char c);

enum conn_state {
    CONN_IDLE, /* between requests */
    CONN_READING, /* from a request's first byte to its last */
    CONN_ASKED, /* in the handler */
    CONN_HELD, /* to be answered later */
    CONN_STREAMING, /* an event stream */
    CONN_WRITING, /* answered; the client is still to take some of it */
    CONN_CLOSED
};

struct http_req {
    struct evhttp_request *ev;
    char *query;
    http_gone_fn *on_gone;
    void *arg;
    struct list bound; /* in a list of the handler's, until it is answered */
};

struct sse {
    struct conn *c;
    size_t before; /* bytes that waited when the frame in hand was begun */
    bool fallen; /* too far behind: closed on a later turn */
};

struct conn {
    struct http *h;
    struct bufferevent *bev;
    struct evhttp_connection *evcon;
    struct evbuffer_cb_entry *tap; /* sees the input before evhttp does */
    struct list link; /* fresh, idle, reading, quiet or written: by state */
    struct list unsent; /* there are bytes the client has not taken */
    struct list doomed; /* to be closed on the next turn of the loop */
    uint64_t since_ms; /* when it joined link's list */
    uint64_t looked_ms; /* when unsent was last looked at */
    uint64_t queued; /* bytes given to the socket, while unsent */
    uint64_t taken; /* of these, taken by the last look */
    unsigned idle_looks; /* looks without progress */
    int fd;
    bool linger; /* refused: the client may still be sending */
    bool cut; /* we close it: nobody is owed a lingering close */
    struct http_scan scan;
    struct sm sm;
    struct http_req req;
    struct sse sse;
};

struct http {
    struct event_base *base;
    struct evhttp *ev;
    struct evhttp_bound_socket *bound; /* NULL: not listening */
    bool leaving; /* connections are closed with their next answer */
    struct http_conf conf; /* defaults filled in */
    http_fn *fn;
    void *arg;
    uint16_t port;
    int descriptors; /* of this number and above are not for clients */
    struct event *knock; /* somebody is at the door, who is not let in */
    int spare_fd; /* given up to refuse a client when there is no other */
    uint64_t listen_again_ms; /* accepting is paused until then; 0: it is not */
    struct event *sweep;
    struct event *turn;
    struct conn **by_fd;
    size_t by_fd_count;
    struct list fresh, idle, reading, quiet, written, unsent, doomed, lingering;
    struct list all; /* edges of this process: see http_listen.c */
    struct http_stats stats;
    time_t date_s; /* of date */
    char date[32];
};

static inline struct conn *conn_of(struct http_req *r)
{
    return LIST_OF(r, struct conn, req);
}

/* http_conn */
struct bufferevent *conn_new(struct event_base *base, void *h);
struct conn *conn_find(struct http *h, struct evhttp_request *ev);
void conn_move(struct conn *c, enum conn_state to);
/* The request is complete: what was wrong with its head's bytes. */
unsigned conn_asked(struct conn *c, struct evhttp_request *ev);
void conn_answered(struct conn *c); /* the answer is queued: watch it leave */
/* The whole answer was written: evhttp is told on the next turn, for it may close the connection.
 */
void conn_written(struct conn *c);
void conn_sent(struct evhttp_request *ev, void *c);
/* n more bytes wait for the client. */
void conn_queued(struct conn *c, size_t n);
void conn_quiet(struct conn *c); /* a stream was written to: its next comment is due later */
void conn_doom(struct conn *c); /* closed on the next turn of the loop, never now */
void conn_close(struct conn *c); /* now; on_gone is told */
void conn_adopt(struct http *h);
void conn_turn(int fd, short what, void *h);
void conn_cut_all(struct http *h); /* before evhttp closes them all */

/* http_sweep */
void sweep_run(int fd, short what, void *h);
void sweep_in(struct http *h, uint64_t ms);

/* http_linger */
void linger_start(struct conn *c); /* takes the socket from c, which is about to be closed */
void linger_sweep(struct http *h, uint64_t now_ms);
void linger_end_all(struct http *h);

/* http_listen */
bool listen_open(struct http *h, struct buf *why);
void listen_shut(struct http *h);
void listen_close(struct http *h);
void listen_pause(struct http *h);
void listen_resume(struct http *h);
void listen_accepted(struct http *h); /* a connection was: may there be another? */
void listen_again(struct http *h, uint64_t now_ms);

/* http_valid: NULL, or why the request is refused, with its status. */
const char *valid_request(struct evhttp_request *ev, unsigned flaws, int *status);

/* http_reply */
void reply_refuse(struct http_req *r, int status, const char *why);
void reply_header(struct http_req *r, const char *name, const char *value);
void reply_common(struct http_req *r, const char *type);
/* The client's bytes and its going away are seen from now on, without evhttp's help. */
void reply_watch(struct conn *c, size_t input_max);

/* sse: a quiet stream's time has come. */
void sse_comment(struct conn *c);
