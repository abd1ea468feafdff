/* What jobs tell and ask reaches the person at a terminal, and what is typed there the job. */
#include "deploy/cli/command.h"
#include "tests/lib/proc.h"
#include "tests/lib/site.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

static struct site site;
static struct term t;
static struct prog p;

#define WORDS(...) ((const char *const[]){"errand", __VA_ARGS__, NULL})
#define SAY(script) "say", "{\"sh\":\"" script "\"}"

static const char *const call_form[] = {
    "errand", "call",
    SAY("errand ask --message 'Which one?' --field name:string --field 'n?:integer' --field "
        "'c:red|green=green' --field sure:boolean=true"),
    NULL};

static void answer_form(void)
{
    REQUIRE(term_says(&t, "Which one?"));
    REQUIRE(term_says(&t, "name (text): "));
    term_type(&t, "\r");
    REQUIRE(term_says(&t, "must be answered"));
    REQUIRE(term_says(&t, "name (text): "));
    term_type(&t, "Ann\r");
    REQUIRE(term_says(&t, "n (whole number, may be left empty): "));
    term_type(&t, "many\r");
    REQUIRE(term_says(&t, "is no number"));
    term_type(&t, "\r");
    REQUIRE(term_says(&t, "1) red"));
    REQUIRE(term_says(&t, "[green]: "));
    term_type(&t, "1\r");
    REQUIRE(term_says(&t, "sure (y or n) [y]: "));
    term_type(&t, "\r");
}

static void expect_form(void)
{
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK);
    CHECK(t.out != NULL && t.out[0] == '{' && strstr(t.out, "\"name\":\"Ann\"") != NULL);
    CHECK(t.out != NULL && strstr(t.out, "\"c\":\"red\"") != NULL &&
          strstr(t.out, "\"sure\":true") != NULL && strstr(t.out, "\"n\"") == NULL);
    term_fini(&t);
}

TEST(a_form_is_filled_in_at_the_terminal)
{
    site_start(&site, "none");
    site_terminal_start(&site, &t, call_form);
    answer_form();
    expect_form();
    site_terminal_start(&site, &t,
                        WORDS("call", SAY("errand ask --message m --field it:string"), "--plain"));
    REQUIRE(term_says(&t, "it (text): "));
    term_type(&t, "plain\r");
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK && strstr(t.out, "plain") != NULL);
    term_fini(&t);
    site_stop(&site);
}

TEST(a_task_that_was_left_is_answered_later)
{
    char id[25];

    site_start(&site, "none");
    ERRAND(&site, &p, "call", call_form[2], call_form[3], "--detach");
    CHECK(p.status == EXIT_OK);
    (void)snprintf(id, sizeof(id), "%.24s", p.out);
    prog_fini(&p);
    site_terminal_start(&site, &t, WORDS("result", id));
    answer_form();
    expect_form();
    site_stop(&site);
}

TEST(ctrl_d_declines)
{
    site_start(&site, "none");
    site_terminal_start(
        &site, &t,
        WORDS("call", SAY("errand ask --message m --field it:string || echo \\\"status $?\\\"")));
    REQUIRE(term_says(&t, "it (text): "));
    term_type(&t, "\4");
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK && strcmp(t.out, "status 3\n") == 0);
    term_fini(&t);
    site_stop(&site);
}

TEST(an_address_is_shown_until_enter)
{
    site_start(&site, "none");
    site_terminal_start(&site, &t,
                        WORDS("call", SAY("errand ask --message Pay --url https://a.b/c; "
                                          "echo \\\"status $?\\\"")));
    REQUIRE(term_says(&t, "Pay"));
    REQUIRE(term_says(&t, "https://a.b/c"));
    REQUIRE(term_says(&t, "Ctrl-D declines"));
    term_type(&t, "\r");
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK && strstr(t.out, "status 0") != NULL);
    term_fini(&t);
    site_stop(&site);
}

TEST(without_a_terminal_it_is_declined_at_once)
{
    const char *const words[] = {"errand", "call",
                                 SAY("errand ask --message Well? --field it:string; echo $?"),
                                 "--no-input", NULL};

    site_start(&site, "none");
    ERRAND(&site, &p, "call", words[2], words[3]);
    CHECK(p.status == EXIT_OK && strcmp(p.out, "3\n") == 0);
    CHECK(strstr(p.err, "nobody is there to be asked: Well?") != NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", words[2], words[3], "--plain", "--json");
    CHECK(p.status == EXIT_OK && p.out[0] == '{' && p.err[0] == '\0');
    prog_fini(&p);
    site_terminal_start(&site, &t, words);
    CHECK(term_end(&t, 20000) && t.status == EXIT_OK && strcmp(t.out, "3\n") == 0);
    term_fini(&t);
    site_stop(&site);
}

TEST(a_question_outlives_its_broker_and_is_put_once)
{
    site_start(&site, "none");
    site_terminal_start(
        &site, &t,
        WORDS("call", SAY("errand ask --message Once? --field a:string --field b:string")));
    REQUIRE(term_says(&t, "a (text): "));
    term_type(&t, "first\r");
    REQUIRE(term_says(&t, "b (text): "));
    site_kill_broker(&site);
    term_type(&t, "second\r"); /* said while nobody is there to hear it */
    site_start_broker(&site);
    CHECK(term_end(&t, 30000) && t.status == EXIT_OK);
    CHECK(strstr(t.out, "\"a\":\"first\"") != NULL && strstr(t.out, "\"b\":\"second\"") != NULL);
    CHECK(strstr(strstr(t.seen, "Once?") + 1, "Once?") == NULL);
    term_fini(&t);
    site_stop(&site);
}

/* The job says what stands in a file, as soon as there is one, again and again: who sees it hears
 * the job. */
static const char *const *ask_with_a_signal(char script[600], char file[160])
{
    static const char *words[] = {"errand", "call", "say", NULL, NULL};

    (void)snprintf(file, 160, "%s/back", site.dir);
    (void)snprintf(script, 600,
                   "{\"sh\":\"(while sleep 0.1; do [ -e %s ] && cat %s >&3; done) & "
                   "errand ask --message Once? --field a:string --field b:string\"}",
                   file, file);
    words[3] = script;
    return words;
}

TEST(a_question_goes_on_where_it_is_when_its_broker_is_back)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
                               "\"params\":{\"level\":\"info\",\"data\":\"back\"}}\n";
    char script[600];
    char file[160];
    FILE *f;

    site_start(&site, "none");
    site_terminal_start(&site, &t, ask_with_a_signal(script, file));
    REQUIRE(term_says(&t, "a (text): "));
    term_type(&t, "first\r");
    REQUIRE(term_says(&t, "b (text): "));
    site_kill_broker(&site);
    REQUIRE((f = fopen(file, "w")) != NULL && fputs(line, f) >= 0 && fclose(f) == 0);
    site_start_broker(&site);
    REQUIRE(term_says(&t, "back\r\n"));
    REQUIRE(term_says(&t, "b (text): "));
    term_type(&t, "second\r");
    CHECK(term_end(&t, 30000) && t.status == EXIT_OK);
    CHECK(strstr(t.out, "\"a\":\"first\"") != NULL && strstr(t.out, "\"b\":\"second\"") != NULL);
    CHECK(strstr(strstr(t.seen, "Once?") + 1, "Once?") == NULL);
    term_fini(&t);
    site_stop(&site);
}

TEST(ctrl_c_at_a_question_cancels_the_task)
{
    site_start(&site, "none");
    site_terminal_start(&site, &t,
                        WORDS("call", SAY("errand ask --message m --field it:string; sleep 60")));
    REQUIRE(term_says(&t, "it (text): "));
    term_type(&t, "\3");
    CHECK(term_end(&t, 20000) && t.status == EXIT_STOPPED);
    CHECK(strstr(t.seen, "errand: cancelled") != NULL && t.out[0] == '\0');
    term_fini(&t);
    ERRAND(&site, &p, "queue", "--json");
    CHECK(strstr(p.out, "\"cancelled\":1") != NULL);
    prog_fini(&p);
    site_stop(&site);
}

#define TELL \
    "errand progress 1 4 fetching; errand log warning careful; sleep 1.2; " \
    "errand progress 3 4; sleep 1.2; echo end"

TEST(progress_is_a_bar_at_a_terminal_and_lines_elsewhere)
{
    site_start(&site, "none");
    site_terminal_start(&site, &t, WORDS("call", SAY(TELL)));
    CHECK(term_says(&t, "[#####---------------] 25%: 1/4: fetching"));
    CHECK(term_says(&t, "WARNING"));
    CHECK(term_says(&t, "careful\r\n"));
    CHECK(term_says(&t, "[###############-----] 75%: 3/4"));
    CHECK(term_end(&t, 20000) && strcmp(t.out, "end\n") == 0);
    term_fini(&t);
    ERRAND(&site, &p, "call", SAY(TELL));
    CHECK(p.status == EXIT_OK && strcmp(p.out, "end\n") == 0);
    CHECK(strstr(p.err, "say: working: 1/4: fetching") != NULL);
    CHECK(strstr(p.err, "WARNING") != NULL && strstr(p.err, "3/4") != NULL);
    CHECK(strchr(p.err, '\033') == NULL);
    prog_fini(&p);
    ERRAND(&site, &p, "call", SAY(TELL), "--plain");
    CHECK(strstr(p.err, "1/4: fetching") != NULL && strstr(p.err, "careful\n") != NULL);
    prog_fini(&p);
    site_stop(&site);
}
