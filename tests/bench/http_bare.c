/* The peer of the benchmarks: evhttp with nothing around it, answering one fixed body.
 *
 *     http_bare PORT [BYTES]
 */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char body[1024 * 1024];
static size_t body_size = 250;

static void on_request(struct evhttp_request *r, void *arg)
{
    struct evbuffer *out = evhttp_request_get_output_buffer(r);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(r);

    (void)arg;
    (void)evbuffer_add(out, body, body_size);
    (void)evhttp_add_header(headers, "Content-Type", "application/json");
    (void)evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_send_reply(r, 200, "OK", NULL);
}

static void make_body(void)
{
    memset(body, 'x', body_size);
    memcpy(body, "{\"x\":\"", 6);
    memcpy(body + body_size - 2, "\"}", 2);
}

int main(int argc, char **argv)
{
    struct event_config *config = event_config_new();
    struct event_base *base;
    struct evhttp *server;
    unsigned long port = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

    if (argc > 2)
        body_size = strtoul(argv[2], NULL, 10);
    if (port == 0 || port > 65535 || body_size < 8 || body_size > sizeof(body)) {
        (void)fprintf(stderr, "usage: http_bare PORT [BYTES, 8 to 1048576]\n");
        return 2;
    }
    make_body();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    server = evhttp_new(base);
    evhttp_set_gencb(server, on_request, NULL);
    if (evhttp_bind_socket(server, "127.0.0.1", (unsigned short)port) != 0) {
        perror("http_bare: bind");
        return 1;
    }
    return event_base_dispatch(base);
}
