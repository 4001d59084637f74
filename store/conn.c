/* One connection, and what its errors mean.
 *
 *  (1) Nothing waits for ever: a server that has stopped answering is a lost connection, and
 *      `give_up` ends any wait within a fifth of a second.
 *  (2) Every error is of one of three kinds (enum conn_trouble), decided here and nowhere
 *      else, since what a writer may do next depends on it alone.
 */
#include "store/store_int.h"
#include "base/str.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The server cancels a statement after 10 s; when even that does not arrive it is gone. */
static const msec answer_within = 30 * MSEC_PER_SECOND;
static const msec script_within = 10 * MSEC_PER_MINUTE;
static const msec slice = 200;

static const struct {
    const char *name, *text;
} statements[] = {
#define STATEMENT(name, text) {#name, text},
#include "store/statements.def"
#undef STATEMENT
};

/* A session of ours means the same everywhere, whatever the server's defaults are. */
static const char session_settings[] = "SET client_min_messages = warning;"
                                       "SET timezone = 'UTC';"
                                       "SET datestyle = 'ISO, YMD';"
                                       "SET search_path = pg_catalog;"
                                       "SET statement_timeout = '10s';"
                                       "SET lock_timeout = '5s';"
                                       "SET idle_in_transaction_session_timeout = '60s';"
                                       "SET synchronous_commit = on;"
                                       "SET jit = off";

/* ---- errors ---- */

static enum conn_trouble kind_of(const char *sqlstate)
{
    static const char *const lost[] = {"08", "57P"};
    static const char *const wait[] = {
            "40001", "40P01", "55P03", /* serialization, deadlock, lock timeout */
            "53",                      /* disk full, out of memory, too many connections */
            "25006",                   /* read-only: a standby before its promotion */
            "57014",                   /* statement timeout */
            "58030",                   /* I/O error */
            "25P03",                   /* idle in transaction for too long */
    };
    for (size_t i = 0; i < countof(lost); i++)
        if (strncmp(sqlstate, lost[i], strlen(lost[i])) == 0)
            return CONN_LOST;
    for (size_t i = 0; i < countof(wait); i++)
        if (strncmp(sqlstate, wait[i], strlen(wait[i])) == 0)
            return CONN_WAIT;
    return CONN_REFUSED;
}

static void first_line(const char *text, char *line, size_t size)
{
    size_t len = strcspn(text, "\n");
    str_copy(line, len + 1 < size ? len + 1 : size, text);
}

static void advise(struct fault *f, const char *sqlstate)
{
    if (strcmp(sqlstate, "53100") == 0)
        fault_hint(f, "Free some space on the disk of the database.");
    else if (strcmp(sqlstate, "25006") == 0)
        fault_hint(f, "The database is read-only; name the primary server, or wait for it.");
    else if (strcmp(sqlstate, "42501") == 0)
        fault_hint(f, "Give the role in --db the rights to create and use schemas here.");
}

static enum err lost(struct conn *c, struct fault *f, const char *what)
{
    c->trouble = CONN_LOST;
    c->sqlstate[0] = 0;
    return fault_set(f, ERR_STORE, "%s", what);
}

static enum err refuse(struct conn *c, const PGresult *r, struct fault *f)
{
    char line[300];
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (!state || PQstatus(c->pg) == CONNECTION_BAD) {
        first_line(PQerrorMessage(c->pg), line, sizeof line);
        return lost(c, f, line[0] ? line : "the connection to the database was lost");
    }
    str_copy(c->sqlstate, sizeof c->sqlstate, state);
    c->trouble = kind_of(state);
    const char *said = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    first_line(said ? said : "unknown error", line, sizeof line);
    enum err e = fault_set(f, ERR_STORE, "PostgreSQL says: %s", line);
    advise(f, state);
    return e;
}

/* ---- waiting ---- */

static bool gives_up(const struct conn *c)
{
    return c->give_up && atomic_load(c->give_up);
}

/* Waits for the socket; false when time is up or nobody needs the answer any more: (1). */
static bool wait_socket(struct conn *c, short events, msec until)
{
    for (;;) {
        msec left = until - clock_mono(&clock_system);
        if (left <= 0 || gives_up(c))
            return false;
        struct pollfd p = {PQsocket(c->pg), events, 0};
        int n = poll(&p, 1, (int)(left < slice ? left : slice));
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;
    }
}

static bool flush(struct conn *c, msec until)
{
    for (;;) {
        int left = PQflush(c->pg);
        if (left <= 0)
            return left == 0;
        if (!wait_socket(c, POLLIN | POLLOUT, until) || !PQconsumeInput(c->pg))
            return false;
    }
}

/* The outcome of what was sent: the first error, otherwise the last result. */
static enum err collect(struct conn *c, msec until, struct fault *f, PGresult **ret_result)
{
    RESULT kept = NULL;
    if (!flush(c, until))
        return lost(c, f, "the connection to the database was lost");
    for (;;) {
        while (PQisBusy(c->pg))
            if (!wait_socket(c, POLLIN, until) || !PQconsumeInput(c->pg))
                return lost(c, f,
                        gives_up(c) ? "the database did not answer before the end"
                                    : "the database does not answer");
        PGresult *r = PQgetResult(c->pg);
        if (!r)
            break;
        if (kept && PQresultStatus(kept) == PGRES_FATAL_ERROR) {
            PQclear(r);
        } else {
            PQclear(kept);
            kept = r;
        }
    }
    if (!kept)
        return lost(c, f, "the connection to the database was lost");
    ExecStatusType status = PQresultStatus(kept);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY)
        return refuse(c, kept, f);
    if (ret_result) {
        *ret_result = kept;
        kept = NULL;
    }
    return OK;
}

/* ---- connecting ---- */

static enum err no_connection(struct conn *c, struct fault *f)
{
    char line[300];
    first_line(PQerrorMessage(c->pg), line, sizeof line);
    enum err e = fault_set(f, ERR_STORE, "cannot connect to the database: %s", line);
    fault_hint(f, "Check --db (or VIGIL_DB) and that the server runs.");
    c->trouble = CONN_LOST;
    return e;
}

static enum err connect_within(struct conn *c, msec until, struct fault *f)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    while (want != PGRES_POLLING_OK) {
        if (want == PGRES_POLLING_FAILED || PQstatus(c->pg) == CONNECTION_BAD)
            return no_connection(c, f);
        if (!wait_socket(c, want == PGRES_POLLING_READING ? POLLIN : POLLOUT, until))
            return lost(c, f, "the database does not answer");
        want = PQconnectPoll(c->pg);
    }
    return OK;
}

/* What the server remarks on the side is in its log; standard error is not ours. */
static void ignore_notice(void *arg, const PGresult *r)
{
    (void)arg, (void)r;
}

enum err conn_open(struct conn *c, const struct conn_target *t, msec wait, struct fault *f)
{
    /* Ours first: what the user says in --db comes later and wins. */
    const char *const names[] = {"application_name", "keepalives", "keepalives_idle",
            "keepalives_interval", "keepalives_count", "tcp_user_timeout", "connect_timeout",
            "dbname", "client_encoding", t->dbname ? "dbname" : NULL, NULL};
    const char *const values[] = {
            t->name, "1", "10", "5", "3", "5000", "10", t->conninfo, "UTF8", t->dbname, NULL};
    msec until = clock_mono(&clock_system) + wait;

    conn_close(c);
    c->pg = PQconnectStartParams(names, values, /* expand_dbname= */ 1);
    CHECK(c->pg);
    PQsetNoticeReceiver(c->pg, ignore_notice, NULL);
    enum err e = connect_within(c, until, f);
    if (!e && PQserverVersion(c->pg) < 130000) {
        e = fault_set(f, ERR_STORE, "the server is PostgreSQL %d; Vigil needs 13 or newer",
                PQserverVersion(c->pg) / 10000);
        c->trouble = CONN_REFUSED;
    }
    if (!e && PQsetnonblocking(c->pg, 1) != 0)
        e = lost(c, f, "the connection to the database was lost");
    if (!e)
        e = conn_script(c, session_settings, f);
    if (e) {
        conn_close(c);
        return e;
    }
    c->backend = PQbackendPID(c->pg);
    return OK;
}

void conn_close(struct conn *c)
{
    PQfinish(c->pg); /* NULL is fine */
    c->pg = NULL;
    free(c->slots);
    c->slots = NULL;
    c->sent = c->sent_cap = 0;
    c->pipelined = false;
    memset(c->prepared, 0, sizeof c->prepared);
}

/* ---- statements ---- */

static void expect_answer(struct conn *c, PGresult **slot)
{
    if (c->sent == c->sent_cap) {
        c->sent_cap = c->sent_cap ? c->sent_cap * 2 : 64;
        c->slots = realloc(c->slots, c->sent_cap * sizeof(PGresult **));
        CHECK(c->slots);
    }
    c->slots[c->sent++] = slot;
}

/* One more result; NULL ends a statement's.  *ret_lost: there will be none. */
static PGresult *next_result(struct conn *c, bool *ret_lost)
{
    msec until = clock_mono(&clock_system) + answer_within;
    while (PQisBusy(c->pg))
        if (!wait_socket(c, POLLIN, until) || !PQconsumeInput(c->pg)) {
            *ret_lost = true;
            return NULL;
        }
    return PQgetResult(c->pg);
}

/* Reads the answers up to the mark that was sent behind them; the first error counts. */
static enum err read_answers(struct conn *c, struct fault *f)
{
    enum err e = OK;
    bool gone = false;
    for (size_t at = 0; !gone;) {
        PGresult *r = next_result(c, &gone);
        if (!r) {
            gone = gone || PQstatus(c->pg) == CONNECTION_BAD;
            at++;
            continue;
        }
        ExecStatusType status = PQresultStatus(r);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return e;
        }
        if (!e && status == PGRES_FATAL_ERROR)
            e = refuse(c, r, f);
        if (!e && at < c->sent && c->slots[at])
            *c->slots[at] = r;
        else
            PQclear(r);
    }
    return lost(c, f,
            gives_up(c) ? "the database did not answer before the end"
                        : "the connection to the database was lost");
}

enum err conn_settle(struct conn *c, struct fault *f)
{
    if (!c->pipelined || c->sent == 0)
        return OK;
    enum err e = OK;
    if (!PQpipelineSync(c->pg) || !flush(c, clock_mono(&clock_system) + answer_within))
        e = lost(c, f, "the connection to the database was lost");
    if (!e)
        e = read_answers(c, f);
    c->sent = 0;
    return e;
}

enum err conn_pipeline(struct conn *c, bool on, struct fault *f)
{
    if (!c->pg)
        return lost(c, f, "there is no connection to the database");
    enum err e = conn_settle(c, f);
    if (e && c->trouble == CONN_LOST)
        return e;
    if (!(on ? PQenterPipelineMode(c->pg) : PQexitPipelineMode(c->pg)))
        return lost(c, f, "the connection to the database was lost");
    c->pipelined = on;
    return e;
}

static enum err prepare(struct conn *c, enum statement st, struct fault *f)
{
    unsigned char bit = (unsigned char)(1u << (st % 8));
    if (c->prepared[st / 8] & bit)
        return OK;
    enum err e = conn_settle(c, f);
    if (e)
        return e;
    if (!PQsendPrepare(c->pg, statements[st].name, statements[st].text, 0, NULL))
        return lost(c, f, "the connection to the database was lost");
    if (c->pipelined) {
        expect_answer(c, NULL);
        e = conn_settle(c, f);
    } else {
        e = collect(c, clock_mono(&clock_system) + answer_within, f, NULL);
    }
    if (!e)
        c->prepared[st / 8] |= bit;
    return e;
}

static void clear_result(void *slot)
{
    PQclear(*(PGresult **)slot);
    *(PGresult **)slot = NULL;
}

static enum err send_it(
        struct conn *c, enum statement st, const struct params *p, struct fault *f)
{
    if (!c->pg)
        return lost(c, f, "there is no connection to the database");
    enum err e = prepare(c, st, f);
    if (e)
        return e;
    /* Bytes are asked for only in these; everything else reads better as text. */
    int binary = st == SQL_VERSION_GET || st == SQL_VERSION_GET_KEY ||
                 st == SQL_VERSION_SOURCE || st == SQL_BODY_GET;
    if (!PQsendQueryPrepared(c->pg, statements[st].name, p ? p->n : 0, p ? p->values : NULL,
                p ? p->lengths : NULL, p ? p->formats : NULL, binary))
        return lost(c, f, "the connection to the database was lost");
    return OK;
}

/* Behind what was sent before; its answer is read by whoever settles. */
static enum err send_behind(struct conn *c, PGresult **slot, struct fault *f)
{
    expect_answer(c, slot);
    return PQflush(c->pg) < 0 ? lost(c, f, "the connection to the database was lost") : OK;
}

enum err conn_send(struct conn *c, enum statement st, const struct params *p,
        struct arena *life, struct fault *f, PGresult **ret_result)
{
    *ret_result = NULL;
    if (!c->pipelined) {
        enum err e = conn_run(c, st, p, f, ret_result);
        if (!e)
            arena_defer(life, clear_result, ret_result);
        return e;
    }
    enum err e = send_it(c, st, p, f);
    if (e)
        return e;
    arena_defer(life, clear_result, ret_result);
    return send_behind(c, ret_result, f);
}

enum err conn_run(struct conn *c, enum statement st, const struct params *p, struct fault *f,
        PGresult **ret_result)
{
    enum err e = send_it(c, st, p, f);
    if (e)
        return e;
    if (!c->pipelined) {
        msec within = c->patience ? c->patience : answer_within;
        return collect(c, clock_mono(&clock_system) + within, f, ret_result);
    }
    if (!ret_result)
        return send_behind(c, NULL, f);
    PGresult *answer = NULL;
    expect_answer(c, &answer);
    e = conn_settle(c, f);
    if (e)
        PQclear(answer);
    else
        *ret_result = answer;
    return e;
}

enum err conn_write_by_key(struct conn *c, bool once, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "session");
    PARAMS(p, scratch);
    params_bool(&p, once);
    return conn_run(c, SQL_WRITE_BY_KEY, &p, f, NULL);
}

enum err conn_stream(
        struct conn *c, enum statement st, conn_row_fn *each, void *arg, struct fault *f)
{
    enum err e = c->pg ? prepare(c, st, f) : lost(c, f, "there is no connection");
    if (e)
        return e;
    if (!PQsendQueryPrepared(
                c->pg, statements[st].name, 0, NULL, NULL, NULL, /* binary= */ 1) ||
            !PQsetSingleRowMode(c->pg) || !flush(c, clock_mono(&clock_system) + answer_within))
        return lost(c, f, "the connection to the database was lost");
    bool gone = false;
    for (PGresult *r; (r = next_result(c, &gone)); PQclear(r)) {
        ExecStatusType status = PQresultStatus(r);
        if (status == PGRES_SINGLE_TUPLE)
            each(r, arg);
        else if (status != PGRES_TUPLES_OK && !e)
            e = refuse(c, r, f);
    }
    return gone && !e ? lost(c, f, "the database does not answer") : e;
}

enum err conn_script(struct conn *c, const char *sql, struct fault *f)
{
    if (!PQsendQuery(c->pg, sql))
        return lost(c, f, "the connection to the database was lost");
    return collect(c, clock_mono(&clock_system) + script_within, f, NULL);
}

void conn_roll_back(struct conn *c)
{
    enum conn_trouble trouble = c->trouble;
    char sqlstate[sizeof c->sqlstate];
    memcpy(sqlstate, c->sqlstate, sizeof sqlstate);
    struct fault known;
    if (trouble == CONN_LOST)
        return; /* the transaction ends with the connection */
    if (c->pipelined && conn_pipeline(c, false, &known) != OK && c->trouble == CONN_LOST)
        return;
    if (conn_run(c, SQL_ROLLBACK, NULL, NULL, NULL) != OK)
        return;
    c->trouble = trouble;
    memcpy(c->sqlstate, sqlstate, sizeof sqlstate);
}

enum err conn_wait(struct conn *c, int extra_fd, msec wait, struct fault *f, bool *ret_notified)
{
    if (!c->pg)
        return lost(c, f, "there is no connection to the database");
    msec until = wait == MSEC_NEVER ? MSEC_NEVER : clock_mono(&clock_system) + wait;
    for (;;) {
        bool notified = false;
        for (PGnotify *n; (n = PQnotifies(c->pg)); PQfreemem(n))
            notified = true;
        msec left = until - clock_mono(&clock_system);
        if (notified || left <= 0) {
            *ret_notified = notified;
            return OK;
        }
        struct pollfd p[2] = {{PQsocket(c->pg), POLLIN, 0}, {extra_fd, POLLIN, 0}};
        int n = poll(p, extra_fd >= 0 ? 2 : 1, (int)(left < 60000 ? left : 60000));
        if (n > 0 && (p[1].revents || gives_up(c))) {
            *ret_notified = false;
            return OK;
        }
        if (n > 0 && (!PQconsumeInput(c->pg) || PQstatus(c->pg) == CONNECTION_BAD))
            return lost(c, f, "the connection to the database was lost");
    }
}

/* ---- results ---- */

void result_freep(PGresult **r)
{
    PQclear(*r);
}

const char *result_text(const PGresult *r, int row, int column)
{
    return PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
}

int64_t result_int(const PGresult *r, int row, int column)
{
    const char *text = result_text(r, row, column);
    int64_t n = 0;
    return text && str_to_int(str_of(text), &n) ? n : 0;
}

msec result_time(const PGresult *r, int row, int column)
{
    return PQgetisnull(r, row, column) ? MSEC_NEVER : result_int(r, row, column);
}

int64_t result_affected(PGresult *r)
{
    int64_t n = 0;
    return str_to_int(str_of(PQcmdTuples(r)), &n) ? n : 0;
}
