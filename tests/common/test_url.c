#include "common/url.h"

#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    const char *described;
    const char *user;
    const char *password;
    const char *ca_file;
} good[] = {
    {"redis://127.0.0.1:6380/2", "redis://127.0.0.1:6380/2", NULL, NULL, NULL},
    {"redis://localhost", "redis://localhost:6379/0", NULL, NULL, NULL},
    {"redis://localhost/", "redis://localhost:6379/0", NULL, NULL, NULL},
    {"redis://my_redis-0.svc.local/15", "redis://my_redis-0.svc.local:6379/15", NULL, NULL, NULL},
    {"redis://[::1]", "redis://[::1]:6379/0", NULL, NULL, NULL},
    {"redis://[fe80::1:2]:7000/3", "redis://[fe80::1:2]:7000/3", NULL, NULL, NULL},
    {"redis://:secret@h", "redis://h:6379/0", NULL, "secret", NULL},
    {"redis://joe:secret@h:1/1", "redis://h:1/1", "joe", "secret", NULL},
    {"redis://j%40e:%70a%2Fss%25%3a@h", "redis://h:6379/0", "j@e", "pa/ss%:", NULL},
    {"redis://joe:a@b:c@h", "redis://h:6379/0", "joe", "a@b:c", NULL},
    {"redis://joe@h", "redis://h:6379/0", "joe", NULL, NULL},
    {"redis://joe:@h", "redis://h:6379/0", "joe", NULL, NULL},
    {"redis://@h", "redis://h:6379/0", NULL, NULL, NULL},
    {"redis://:@h", "redis://h:6379/0", NULL, NULL, NULL},
    {"redis://joe:secret@[::1]:1/1", "redis://[::1]:1/1", "joe", "secret", NULL},
    {"rediss://h", "rediss://h:6379/0", NULL, NULL, NULL},
    {"rediss://h:1/4?ca=/etc/ca%20x.pem", "rediss://h:1/4", NULL, NULL, "/etc/ca x.pem"},
    {"rediss://:p@h?ca=ca@home.pem", "rediss://h:6379/0", NULL, "p", "ca@home.pem"},
    {"redis://h?", "redis://h:6379/0", NULL, NULL, NULL},
    {"redis+sentinel://h1:1,h2,[::1]:3/my-master/4",
     "redis+sentinel://h1:1,h2:26379,[::1]:3/my-master/4", NULL, NULL, NULL},
    {"redis+sentinel://:p@h/m.1", "redis+sentinel://h:26379/m.1/0", NULL, "p", NULL},
    {"redis+sentinel://h/m/", "redis+sentinel://h:26379/m/0", NULL, NULL, NULL},
    {"rediss+sentinel://joe:p@h/m?ca=/ca", "rediss+sentinel://h:26379/m/0", "joe", "p", "/ca"},
    {"unix:///run/redis.sock", "unix:///run/redis.sock?db=0", NULL, NULL, NULL},
    {"unix:///run/r%20@1.sock?db=2", "unix:///run/r @1.sock?db=2", NULL, NULL, NULL},
    {"unix://joe:secret@/run/r?db=1", "unix:///run/r?db=1", "joe", "secret", NULL},
};

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

TEST(every_form_of_url_is_read)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct buf why;
        struct buf shown;
        struct url u;

        buf_init(&why, 1000);
        buf_init(&shown, 1000);
        CHECK(url_parse(&u, good[i].text, &why) == ERR_OK);
        CHECK(why.n == 0);
        url_describe(&shown, &u);
        CHECK(same(shown.p, good[i].described));
        if (!same(shown.p, good[i].described))
            printf("%s: %s %s\n", good[i].text, shown.p, why.p != NULL ? why.p : "");
        CHECK(same(u.user, good[i].user));
        CHECK(same(u.password, good[i].password));
        CHECK(same(u.ca_file, good[i].ca_file));
        CHECK(u.tls == (strncmp(good[i].text, "rediss", 6) == 0));
        url_fini(&u);
        CHECK(u.password == NULL && u.host == NULL);
        buf_fini(&why);
        buf_fini(&shown);
    }
}

#define LONG_25 "aaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG_125 LONG_25 LONG_25 LONG_25 LONG_25 LONG_25

static const struct {
    const char *text;
    const char *sentence; /* a part of it */
} bad[] = {
    {"", "is empty; write redis://HOST:PORT/DB"},
    {"localhost:6379", "must begin with redis://, rediss://, redis+sentinel:// or unix://"},
    {"http://hunter2@h", "must begin with redis://"},
    {"redis:/h", "must begin with redis://"},
    {"REDIS://h", "must begin with redis://"},
    {"x redis://h", "holds a space or a control character"},
    {"redis://h\n", "holds a space or a control character"},
    {"redis+sentinel://h1:1,h2:2", "names no primary, as its sentinels call it"},
    {"redis+sentinel://h1:1,h2:2/", "names no primary, as its sentinels call it"},
    {"redis+sentinel://h1:1/my master", "holds a space"},
    {"redis+sentinel://h1:1/my%20master", "names no primary"},
    {"redis+sentinel://h1:1//0", "names no primary"},
    {"redis+sentinel://h1:1/mymaster/x", "database in the Redis URL must be a number"},
    {"redis+sentinel:///mymaster/0", "names no host"},
    {"redis+sentinel://h1,,h2/mymaster", "names no host"},
    {"redis+sentinel://h1,/mymaster", "names no host"},
    {"redis+sentinel://h1:0/mymaster", "from 1 to 65535"},
    {"redis+sentinel://h1/mymaster?ca=/x", "has a meaning for rediss:// and"},
    {"redis+sentinel://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/m", "more than 16 sentinels"},
    {"redis://", "names no host"},
    {"redis:///0", "names no host"},
    {"redis://:hunter2@", "names no host"},
    {"redis://:hunter2@:6379", "names no host"},
    {"redis://h:", "port in the Redis URL must be a number from 1 to 65535"},
    {"redis://h:0", "from 1 to 65535"},
    {"redis://h:65536", "from 1 to 65535"},
    {"redis://h:99999999999999999999", "from 1 to 65535"},
    {"redis://h:63x9", "from 1 to 65535"},
    {"redis://h:-1", "from 1 to 65535"},
    {"redis://::1", "write an IPv6 address in brackets"},
    {"redis://::1:6379/0", "write an IPv6 address in brackets"},
    {"redis://[::1", "must be written [ADDRESS]:PORT"},
    {"redis://[::1]6379", "must be written [ADDRESS]:PORT"},
    {"redis://[localhost]", "is no IPv6 address"},
    {"redis://[]", "is no IPv6 address"},
    {"redis://ho%20st", "host in the Redis URL must be a name or an address"},
    {"redis://a,b", "host in the Redis URL must be a name or an address"},
    {"redis://" LONG_125 LONG_125 LONG_25, "host in the Redis URL must be a name"},
    {"redis://h/x", "database in the Redis URL must be a number from 0 to 65535"},
    {"redis://h/-1", "database"},
    {"redis://h/1/2", "database"},
    {"redis://h/65536", "database"},
    {"redis://h//", "database"},
    {"redis://h?db=1", "only ca=FILE (rediss://) or db=NUMBER (unix://)"},
    {"redis://h?ca=/x", "has a meaning for rediss://"},
    {"rediss://h?ca=", "must name a file"},
    {"rediss://h?ca=%zz", "must name a file"},
    {"rediss://h?ca=a&ca=b", "only ca=FILE"},
    {"rediss://h?verify=no", "only ca=FILE"},
    {"redis://h#x", "holds a #; write it %23"},
    {"redis://:hunter2%@h", "a % in the password"},
    {"redis://:hunter2%2@h", "a % in the password"},
    {"redis://:hunter2%00@h", "a % in the password"},
    {"redis://:hunter2%zz@h", "a % in the password"},
    {"redis://j%o:hunter2@h", "a % in the user"},
    {"redis://:hunter2/x@h", "must be written %2F, %3F or %23"},
    {"redis://:hunter2?x@h", "must be written %2F, %3F or %23"},
    {"redis://:hunter2#x@h", "must be written %2F, %3F or %23"},
    {"redis://joe:hunter2/@h:6379/0", "must be written %2F, %3F or %23"},
    {"redis://:hunter2@h:hunter2/0", "from 1 to 65535"},
    {"redis://:hunter2@h/hunter2", "database"},
    {"redis://:hunter2@h?hunter2", "only ca=FILE"},
    {"unix://run/redis.sock", "unix:///PATH with three slashes"},
    {"unix:///", "names no socket"},
    {"unix://", "names no socket"},
    {"unix:///run/r?db=x", "database"},
    {"unix:///run/r?db=", "database"},
    {"unix:///run/r%", "a % in the path"},
    {"unix:///run/r?ca=x", "only ca=FILE"},
    {"unix:///" LONG_125, "longer than the 107 bytes"},
};

TEST(every_mistake_has_its_sentence_and_the_password_is_never_in_it)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf why;
        struct url u;

        buf_init(&why, 1000);
        CHECK(url_parse(&u, bad[i].text, &why) == ERR_CONFIG);
        REQUIRE(why.n != 0);
        CHECK(strstr(why.p, bad[i].sentence) != NULL);
        if (strstr(why.p, bad[i].sentence) == NULL)
            printf("%s: %s\n", bad[i].text, why.p);
        CHECK(strstr(why.p, "hunter2") == NULL && strchr(why.p, '\n') == NULL);
        CHECK(u.host == NULL && u.path == NULL && u.user == NULL && u.password == NULL);
        buf_fini(&why);
    }
}

TEST(a_description_holds_neither_user_nor_password)
{
    static const char *const texts[] = {"redis://joe:hunter2@h", "unix://joe:hunter2@/run/r",
                                        "rediss://joe:hunter2@h?ca=/x"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct buf out;
        struct url u;

        buf_init(&out, 1000);
        REQUIRE(url_parse(&u, texts[i], &out) == ERR_OK);
        url_describe(&out, &u);
        CHECK(strstr(out.p, "joe") == NULL && strstr(out.p, "hunter2") == NULL);
        url_fini(&u);
        buf_fini(&out);
    }
}
