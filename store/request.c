/* A command's side of asking a running engine, and of hearing from it; and running one job
 * on the command's own connection. */
#include "store/store_int.h"
#include "base/crash.h"
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- listening ---- */

static const struct {
    const char *name;
    enum statement listen;
} channels[] = {{"vigil_changes", SQL_LISTEN_CHANGES}, {"vigil_answers", SQL_LISTEN_ANSWERS}};

static enum err subscribe(struct store *s, const char *channel, struct fault *f)
{
    size_t i = 0;
    while (i < countof(channels) && strcmp(channels[i].name, channel) != 0)
        i++;
    CHECK(i < countof(channels));
    enum err e = store_connect(s, f);
    if (e || s->listening & 1u << i)
        return e;
    e = conn_run(&s->conn, channels[i].listen, NULL, f, NULL);
    if (!e)
        s->listening |= 1u << i;
    return e;
}

enum err store_listen(
        struct store *s, const char *channel, msec wait, struct fault *f, bool *ret_notified)
{
    enum err e = subscribe(s, channel, f);
    if (!e)
        e = conn_wait(&s->conn, /* extra_fd= */ -1, wait, f, ret_notified);
    if (e && s->conn.trouble == CONN_LOST)
        conn_close(&s->conn); /* the next call connects and subscribes again */
    return e;
}

/* ---- asking ---- */

static void who_asks(char name[64])
{
    char space[4096];
    struct passwd pw, *found = NULL;
    if (getpwuid_r(geteuid(), &pw, space, sizeof space, &found) == 0 && found)
        snprintf(name, 64, "%s", pw.pw_name);
    else
        snprintf(name, 64, "user %u", (unsigned)geteuid());
}

static enum err put_request(struct store *s, const char *verb, const char *text,
        struct arena *scratch, struct fault *f, int64_t *ret_id)
{
    char owner[64];
    who_asks(owner);
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_text(&p, verb);
    params_text(&p, text);
    params_text(&p, owner);
    CRASH_POINT("before_request");
    enum err e = conn_run(&s->conn, SQL_REQUEST_PUT, &p, f, &r);
    CRASH_POINT("after_request");
    if (!e)
        *ret_id = result_int(r, 0, 0);
    return e;
}

static enum err look(struct store *s, const struct params *id, struct arena *life,
        struct fault *f, bool *ret_answered, int *ret_exit_code, char **ret_answer)
{
    RESULT r = NULL;
    enum err e = subscribe(s, "vigil_answers", f); /* anew after a loss */
    if (!e)
        e = conn_run(&s->conn, SQL_REQUEST_ANSWER, id, f, &r);
    if (e && s->conn.trouble == CONN_LOST)
        conn_close(&s->conn);
    if (e || PQntuples(r) == 0)
        return e;
    *ret_answered = true;
    *ret_exit_code = (int)result_int(r, 0, 0);
    *ret_answer = arena_strdup(life, result_text(r, 0, 1) ? result_text(r, 0, 1) : "");
    return OK;
}

enum err store_ask(struct store *s, const char *verb, const char *text, msec wait,
        struct arena *life, struct fault *f, int *ret_exit_code, char **ret_answer)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "ask");
    int64_t id = 0;
    msec until = clock_mono(&clock_system) + wait;
    enum err e = subscribe(s, "vigil_answers", f);
    if (!e)
        e = put_request(s, verb, text, scratch, f, &id);
    if (e)
        return e;
    PARAMS(p, scratch);
    params_int(&p, id);
    for (;;) {
        bool answered = false, notified;
        e = look(s, &p, life, f, &answered, ret_exit_code, ret_answer);
        if (!e && answered)
            return OK;
        msec left = until - clock_mono(&clock_system);
        if (left <= 0)
            break;
        if (e) /* the engine's server may be coming up again */
            pause_ms(left < 200 ? left : 200);
        else if (conn_wait(&s->conn, /* extra_fd= */ -1, left < 1000 ? left : 1000, f,
                         &notified) != OK)
            conn_close(&s->conn);
    }
    if (e)
        return e;
    /* Nobody waits for it any more, so it must not happen later. */
    e = conn_run(&s->conn, SQL_REQUEST_WITHDRAW, &p, f, NULL);
    if (e)
        return e;
    e = fault_set(f, ERR_STORE, "the engine did not answer in time; nothing was changed");
    fault_hint(f, "Look at `vigil status`, and whether the engine still runs.");
    return e;
}

/* ---- one job, now ---- */

static enum err run_once(struct store *s, struct store_job *job, struct arena *scratch,
        struct fault *f, bool *ret_committing)
{
    RESULT free_to_write = NULL;
    s->conn.trouble = CONN_FINE;
    *ret_committing = false;
    if (job->kind == STORE_JOB_LOAD) /* reading needs no transaction */
        return apply(&s->conn, job, clock_wall(s->options.clock), scratch, f);
    enum err e = conn_run(&s->conn, SQL_BEGIN, NULL, f, NULL);
    if (!e)
        e = conn_write_by_key(&s->conn, /* once= */ true, f);
    if (!e && s->options.role == STORE_COMMAND)
        e = conn_run(&s->conn, SQL_COMMAND_LOCK, NULL, f, &free_to_write);
    if (!e && free_to_write && PQgetvalue(free_to_write, 0, 0)[0] != 't') {
        s->conn.trouble = CONN_FINE;
        e = fault_set(f, ERR_BUSY, "an engine has started on this database");
        fault_hint(f, "Try again: the engine will be asked.");
    }
    if (!e)
        e = apply(&s->conn, job, clock_wall(s->options.clock), scratch, f);
    *ret_committing = !e;
    if (!e) {
        CRASH_POINT("before_command_commit");
        e = conn_run(&s->conn, SQL_COMMIT, NULL, f, NULL);
        CRASH_POINT("after_command_commit");
    } else {
        conn_roll_back(&s->conn);
    }
    return e;
}

enum err store_run(struct store *s, struct store_job *job, struct fault *f)
{
    struct fault why = {0};
    enum err e = OK;
    for (int tries = 0; tries < 5; tries++) {
        SCRATCH struct arena *scratch = arena_new(NULL, "job");
        bool committing = false;
        e = store_connect(s, &why);
        if (!e)
            e = run_once(s, job, scratch, &why, &committing);
        enum conn_trouble trouble = e ? s->conn.trouble : CONN_FINE;
        if (trouble == CONN_LOST) {
            conn_close(&s->conn);
            /* A plan without a request has no key to be found again by. */
            if (committing && job->kind == STORE_JOB_PLAN) {
                fault_prefix(&why, "the connection was lost while committing, so it may have "
                                   "been done or not: ");
                break;
            }
        }
        if (trouble != CONN_LOST && trouble != CONN_WAIT)
            break;
        pause_ms(100);
    }
    job->err = e;
    job->fault = why;
    if (e && f)
        *f = why;
    if (job->done)
        job->done(job);
    return e;
}
