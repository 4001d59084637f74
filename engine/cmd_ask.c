/* Commands that ask for something.  A running engine is asked through the database, and its
 * settings decide; without one the same code plans and stores the request right here. */
#include "engine/commands.h"
#include "engine/directory.h"
#include "engine/request.h"
#include "base/str.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REQUEST_MAX = 768 << 20, ANSWER_WAIT = 30 * 1000, BYTES_PER_MSEC = 64 };

static int plan_here(struct cli *c, struct store *s, const char *verb, const char *text,
        msec now, char **ret_answer)
{
    struct directory directory;
    struct fault f = {0};
    directory_init(&directory, c->life);
    if (directory_load(&directory, s, &f) != OK)
        return cli_fail(&f);
    struct request_context context = {
            .directory = &directory,
            .settings = &c->settings,
            .now = now,
            .owner = cli_owner(),
    };
    struct request_plan *plan = request_plan_make(c->life, &context, verb, text);
    int code = plan->exit_code;
    if (code == EXIT_DONE && plan->nsteps) {
        struct store_plan_job job = {
                .job.kind = STORE_JOB_PLAN, .steps = plan->steps, .nsteps = plan->nsteps};
        if (store_run(s, &job.job, &f) != OK)
            code = cli_fail(&f);
    }
    request_plan_abandon(plan);
    *ret_answer = plan->answer;
    directory_done(&directory);
    return code;
}

static int print_answer(int code, const char *answer)
{
    fputs(answer ? answer : "", code == EXIT_DONE ? stdout : stderr);
    return code;
}

/* A million definitions take their time. */
static msec patience(const char *text)
{
    return ANSWER_WAIT + (msec)strlen(text) / BYTES_PER_MSEC;
}

static int ask(struct cli *c, const char *verb, const char *text)
{
    int code = EXIT_CANNOT;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    char *answer = NULL;
    struct fault f = {0};
    if (!store_engine_is_running(s))
        code = plan_here(c, s, verb, text, clock_wall(&clock_system), &answer);
    else if (store_ask(s, verb, text, patience(text), c->life, &f, &code, &answer) != OK)
        code = cli_fail(&f);
    store_close(s);
    /* Wrong input is told on stderr, but as data where data was asked for. */
    if (c->json && code == EXIT_WRONG) {
        fputs(answer ? answer : "", stdout);
        return code;
    }
    return print_answer(code, answer);
}

static void print_diagnostics(struct cli *c, const struct grammar_script *script)
{
    BUF(out, REQUEST_MAX);
    for (struct grammar_diagnostic *d = script->diagnostics; d; d = d->next) {
        struct json j;
        json_init(&j, &out);
        if (c->json)
            grammar_diagnostic_json(&j, d);
        else
            grammar_diagnostic_print(&out, d);
        if (c->json)
            buf_putc(&out, '\n');
    }
    fputs(buf_text(&out), c->json ? stdout : stderr);
}

/* The database could not carry such bytes to an engine: the grammar says here what is wrong. */
static void not_utf8(struct cli *c, const char *name, const char *bytes, size_t len)
{
    struct grammar_script *script;
    if (grammar_parse(c->life, name, bytes, len, &script) != OK)
        print_diagnostics(c, script);
}

bool cli_gather_files(struct cli *c, struct buf *text)
{
    request_begin(text, c->json);
    for (int i = 0; i < c->nargs; i++) {
        struct fault f = {0};
        char *bytes;
        size_t len;
        if (cli_read_file(c->life, c->args[i], &f, &bytes, &len) != OK) {
            cli_fail(&f);
            return false;
        }
        /* PostgreSQL's text cannot carry a NUL; the grammar would refuse it anyway. */
        char *nul = memchr(bytes, 0, len);
        if (nul) {
            fprintf(stderr, "vigil: %s: byte %zu is NUL; this is not a text file\n", c->args[i],
                    (size_t)(nul - bytes) + 1);
            return false;
        }
        const char *name = strcmp(c->args[i], "-") == 0 ? "(stdin)" : c->args[i];
        if (!utf8_is_valid(bytes, len)) {
            not_utf8(c, name, bytes, len);
            return false;
        }
        request_add_file(text, name, bytes, len);
    }
    if (text->overflowed) {
        fputs("vigil: these files are too large together; add them one by one\n", stderr);
        return false;
    }
    return true;
}

int cmd_add(struct cli *c)
{
    BUF(text, REQUEST_MAX);
    return cli_gather_files(c, &text) ? ask(c, "add", buf_text(&text)) : EXIT_WRONG;
}

bool cli_has_database(const struct cli *c)
{
    struct stat st;
    /* What we may not even look at is not nothing: opening it will say why. */
    return c->db || stat(arena_printf(c->life, "%s/pg/PG_VERSION", c->data), &st) == 0 ||
           (errno != ENOENT);
}

int cmd_check(struct cli *c)
{
    BUF(text, REQUEST_MAX);
    msec now = clock_wall(&clock_system);
    if (c->now && !time_parse_iso(c->now, &now)) {
        fprintf(stderr, "vigil: --now %s: not a time; write 2026-11-16T12:00:00Z\n", c->now);
        return EXIT_WRONG;
    }
    if (!cli_gather_files(c, &text))
        return EXIT_WRONG;
    if (cli_has_database(c) && !c->now)
        return ask(c, "check", buf_text(&text));

    int code = EXIT_DONE;
    char *answer = NULL;
    if (cli_has_database(c)) {
        struct store *s = cli_store(c, STORE_COMMAND, &code);
        if (!s)
            return code;
        code = plan_here(c, s, "check", buf_text(&text), now, &answer);
        store_close(s);
    } else {
        struct directory empty;
        directory_init(&empty, c->life);
        struct request_context context = {
                .directory = &empty, .settings = &c->settings, .now = now, .owner = ""};
        struct request_plan *plan =
                request_plan_make(c->life, &context, "check", buf_text(&text));
        code = plan->exit_code;
        answer = plan->answer;
        directory_done(&empty);
    }
    if (c->json) {
        fputs(answer, stdout);
        return code;
    }
    return print_answer(code, answer);
}

int cmd_fmt(struct cli *c)
{
    int code = EXIT_DONE;
    for (int i = 0; i < c->nargs; i++) {
        struct fault f = {0};
        char *bytes;
        size_t len;
        if (cli_read_file(c->life, c->args[i], &f, &bytes, &len) != OK) {
            cli_fail(&f);
            code = EXIT_WRONG;
            continue;
        }
        BUF(out, REQUEST_MAX);
        struct grammar_script *script;
        const char *name = strcmp(c->args[i], "-") == 0 ? "(stdin)" : c->args[i];
        if (grammar_fmt(c->life, name, bytes, len, &out, &script) == OK) {
            fputs(buf_text(&out), stdout);
            continue;
        }
        code = EXIT_WRONG;
        print_diagnostics(c, script);
    }
    return code;
}

static int ask_about_names(struct cli *c, const char *verb)
{
    BUF(text, REQUEST_MAX);
    request_begin(&text, c->json);
    if (c->cascade)
        buf_puts(&text, "CASCADE\n");
    for (int i = 0; i < c->nargs; i++) {
        if (strpbrk(c->args[i], "\r\n")) {
            fputs("vigil: a name has no line break\n", stderr);
            return EXIT_WRONG;
        }
        buf_printf(&text, "%s\n", c->args[i]);
    }
    return ask(c, verb, buf_text(&text));
}

int cmd_enable(struct cli *c)
{
    return ask_about_names(c, "enable");
}

int cmd_disable(struct cli *c)
{
    return ask_about_names(c, "disable");
}

int cmd_stop(struct cli *c)
{
    return ask_about_names(c, "stop");
}

int cmd_drop(struct cli *c)
{
    return ask_about_names(c, "drop");
}
