/* compare: what would be reported between two files, for trying an expression before it is
 * installed.
 *
 *  (1) The expression is judged by the code that judges definitions, with the same words.
 *  (2) The files are read by a page reader, the same way the engine reads pages, and compared
 *      by the same graph.
 *  (3) Every leaf is shown with its own result; what is told of the whole are the lists of the
 *      leaves that changed.  A NOT has nothing to list, and neither has what stands below it.
 */
#include "engine/commands.h"
#include "engine/question.h"
#include "base/json.h"
#include "page/worker.h"
#include <jansson.h>
#include <stdlib.h>

enum { TEXT_MAX = 4 * PAGE_BODY_MAX, OUTPUT_MAX = 1 << 30 };

static const char *const result_names[] = {[CDG_C] = "C", [CDG_N] = "N", [CDG_U] = "U"};
static const char *const lists[] = {"inserted", "deleted", "updated", "moved", "found"};
enum { LIST_UPDATED = 2, LIST_FOUND = 4 };

/* ---- the expression ---------------------------------------------------------------------- */

/* It stands on a line of its own, so that what is said about it points into that line. */
static const char in_front[] = "CREATE SENTINEL compared USING http://localhost/ MONITOR\n";

static int wrong_expression(struct cli *c, struct grammar_script *script)
{
    BUF(text, OUTPUT_MAX);
    for (struct grammar_diagnostic *d = script->diagnostics; d; d = d->next) {
        if (d->severity != GRAMMAR_ERROR)
            continue;
        BUF(line, OUTPUT_MAX);
        struct json j;
        json_init(&j, &line);
        d->pos.line -= d->pos.line > 1;
        grammar_diagnostic_print(&text, d);
        grammar_diagnostic_json(&j, d);
        if (c->json)
            puts(buf_text(&line));
    }
    fputs(buf_text(&text), stderr);
    return EXIT_WRONG;
}

static int wrong_at(struct cli *c, struct grammar_script *script, enum grammar_code code,
        struct grammar_pos pos, struct fault *f)
{
    script->diagnostics = NULL;
    (void)grammar_complain(script, code, pos, f);
    return wrong_expression(c, script);
}

/* Other clauses are fine in a definition, but this is only its MONITOR. */
static int nothing_follows(struct cli *c, struct grammar_script *script, const char *text)
{
    struct fault f = {0};
    struct grammar_change *alone;
    if (grammar_parse_change(c->life, text, &f, &alone) == OK)
        return EXIT_DONE;
    struct grammar_pos pos = {.line = (uint32_t)f.line + 1, .column = (uint32_t)f.column};
    size_t at = sizeof in_front - 1;
    for (int line = 1; line < f.line && script->text[at]; at++)
        line += script->text[at] == '\n';
    for (int column = 1; column < f.column && script->text[at]; column++)
        do
            at++;
        while ((script->text[at] & 0xC0) == 0x80);
    pos.offset = (uint32_t)at;
    fault_set(&f, ERR_SYNTAX, "only a change expression can stand here");
    fault_hint(&f, "Write what belongs behind MONITOR in a definition, and nothing else.");
    return wrong_at(c, script, GRAMMAR_E013, pos, &f);
}

/* (1) */
static int expression(
        struct cli *c, const char *text, const struct grammar_definition **ret_definition)
{
    struct grammar_script *script;
    struct fault f = {0};
    struct grammar_world world = {
            .now = clock_wall(&clock_system),
            .zone = settings_text(&c->settings, SETTING_TIME_ZONE),
            .check_selector = question_check_selector,
    };
    char *all = arena_printf(c->life, "%s%s", in_front, text);
    if (grammar_parse(c->life, "--monitor", all, strlen(all), &script) != OK)
        return wrong_expression(c, script);
    int code = nothing_follows(c, script, text);
    if (code != EXIT_DONE)
        return code;
    if (grammar_check(script, &world) != OK)
        return wrong_expression(c, script);
    const struct grammar_definition *d = script->statements->effective;
    const struct cdg_expr *expr;
    struct cdg_compare pairwise = {.kind = CDG_PAIRWISE};
    if (question_of(c->life, d->monitor, &f, &expr) != OK ||
            cdg_check(expr, pairwise, &f) != OK)
        return wrong_at(c, script, GRAMMAR_E090, d->monitor->pos, &f);
    *ret_definition = d;
    return EXIT_DONE;
}

/* ---- the files --------------------------------------------------------------------------- */

struct file {
    const char *path;
    struct page_source source;
    struct buf digest, text;
    struct fault unreadable;
    struct cdg_version version;
    struct page_source decoded;
};

static void files_done(struct file (*files)[2])
{
    for (int i = 0; i < 2; i++) {
        buf_done(&(*files)[i].digest);
        buf_done(&(*files)[i].text);
    }
}

static bool looks_like_json(struct str s)
{
    s = str_trim(s);
    return s.len >= 2 && ((s.ptr[0] == '{' && s.ptr[s.len - 1] == '}') ||
                                 (s.ptr[0] == '[' && s.ptr[s.len - 1] == ']'));
}

/* What a web server would say of a file of this name; NULL: look at the bytes. */
static const char *content_type(const char *path, struct str bytes)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html"}, {".htm", "text/html"},
            {".xhtml", "application/xhtml+xml"}, {".xml", "application/xml"},
            {".rss", "application/xml"}, {".atom", "application/xml"},
            {".svg", "application/xml"}, {".rdf", "application/xml"},
            {".json", "application/json"}, {".txt", "text/plain"}, {".text", "text/plain"},
            {".md", "text/plain"}, {".csv", "text/plain"}, {".log", "text/plain"},
            {".pdf", "application/pdf"}, {".png", "image/png"}, {".gif", "image/gif"},
            {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".webp", "image/webp"},
            {".zip", "application/zip"}, {".gz", "application/gzip"}};
    struct str name = str_of(path);
    for (size_t i = 0; i < countof(types); i++) {
        struct str ending = str_of(types[i].ending);
        if (name.len > ending.len &&
                str_equal_nocase(
                        (struct str){name.ptr + name.len - ending.len, ending.len}, ending))
            return types[i].type;
    }
    return looks_like_json(bytes) ? "application/json" : NULL;
}

static int file_load(struct cli *c, const char *path, struct file *to)
{
    struct fault f = {0};
    char *bytes;
    size_t len;
    if (cli_read_file(c->life, path, &f, &bytes, &len) != OK) {
        fault_hint(&f, "Give two files with the page before and after; one may be - for "
                       "standard input.");
        return cli_fail(&f);
    }
    to->path = path;
    to->source = (struct page_source){
            bytes, len, content_type(path, (struct str){bytes, len}), NULL};
    buf_init(&to->digest, PAGE_DIGEST_MAX);
    buf_init(&to->text, TEXT_MAX);
    return EXIT_DONE;
}

/* Both versions are of one page, so references in both are seen from one place: the one that
 * was named, else where the file is. */
static const char *base_url(struct cli *c)
{
    for (int i = 1; i >= 0 && !c->base; i--) {
        char *path = strcmp(c->args[i], "-") != 0 ? realpath(c->args[i], NULL) : NULL;
        if (path)
            c->base = arena_printf(c->life, "file://%s", path);
        free(path);
    }
    return c->base ? c->base : "file:///";
}

static bool check_base(struct cli *c, int *ret_code)
{
    BUF(resolved, 1 << 16);
    if (!c->base || (page_url_resolve(str_of(c->base), STR(""), &resolved) &&
                            strstr(buf_text(&resolved), "://")))
        return true;
    fprintf(stderr,
            "vigil: --base %s: this is no URL that links can be seen from\n"
            "Write it like http://example.org/dir/page.html.\n",
            c->base);
    *ret_code = EXIT_WRONG;
    return false;
}

static void see(struct cli *c, struct file *f, int64_t number)
{
    struct page_digest *digest = NULL;
    f->version = (struct cdg_version){
            .number = number, .body = hash128_of(f->source.bytes, f->source.len)};
    if (f->unreadable.code == OK && page_digest_open(c->life, f->digest.data, f->digest.len,
                                            &f->unreadable, &digest) == OK) {
        f->decoded = (struct page_source){
                f->text.data, f->text.len, "text/plain; charset=utf-8", NULL};
        f->version.digest = digest;
        f->version.source = &f->decoded;
    } else {
        f->version.no_digest = arena_printf(c->life, "%s: %s", f->path, f->unreadable.message);
    }
}

/* (2) */
static int read_files(struct cli *c, struct file files[2])
{
    struct page_worker *w = NULL;
    msec deadline = settings_number(&c->settings, SETTING_PAGE_DEADLINE);
    for (int i = 0; i < 2; i++) {
        struct file *at = &files[i];
        struct fault f = {0};
        bool alive = false;
        at->source.url = base_url(c);
        struct page_wish wish = {at->source, &at->digest, &at->text};
        if (!w && page_worker_start(NULL, &f, &w) != OK)
            return cli_fail(&f);
        if (page_worker_read(w, &wish, deadline, &at->unreadable, &alive) == ERR_IO) {
            page_worker_free(w);
            return cli_fail(&at->unreadable); /* there is no reader to be had */
        }
        if (!alive) {
            page_worker_free(w);
            w = NULL;
        }
        see(c, at, i + 1);
    }
    page_worker_free(w);
    return EXIT_DONE;
}

/* ---- results ----------------------------------------------------------------------------- */

struct leaf {
    struct leaf *next;
    const char *monitor; /* as the language writes it */
    bool below_not;
    const struct cdg_finding *finding;
    json_t *detail; /* its lists; NULL unless it is C */
};

struct comparison {
    struct cli *c;
    const char *monitor;
    struct file *files;
    const struct cdg_finding *whole;
    struct leaf *leaves, **last;
};

static const struct cdg_finding *find(struct comparison *all, const struct grammar_change *of)
{
    const struct cdg_expr *expr;
    const struct cdg_finding *found;
    struct fault f = {0};
    CHECK(question_of(all->c->life, of, &f, &expr) == OK); /* it was checked */
    CHECK(cdg_compare_once(expr, &all->files[0].version, &all->files[1].version, all->c->life,
                  &f, &found) == OK);
    return found;
}

static void release_json(void *arg)
{
    json_decref(arg);
}

/* (3) */
static void find_leaves(struct comparison *all, const struct grammar_change *of, bool below_not)
{
    for (unsigned i = 0; i < of->n_kids; i++)
        find_leaves(all, of->kids[i], below_not || of->op == GRAMMAR_NOT);
    if (of->op != GRAMMAR_LEAF)
        return;
    BUF(text, OUTPUT_MAX);
    grammar_print_leaf(&text, of->leaf);
    struct leaf *leaf = arena_new_of(all->c->life, struct leaf);
    leaf->monitor = arena_strdup(all->c->life, buf_text(&text));
    leaf->below_not = below_not;
    leaf->finding = find(all, of);
    json_t *detail = leaf->finding->detail ? json_loads(leaf->finding->detail, 0, NULL) : NULL;
    if (detail) {
        arena_defer(all->c->life, release_json, detail);
        leaf->detail = json_array_get(json_object_get(detail, "leaves"), 0);
    }
    *all->last = leaf;
    all->last = &leaf->next;
}

/* Why it is U, or what the lists alone do not say; NULL: nothing. */
static const char *reason_of(
        struct arena *life, const struct cdg_finding *f, const json_t *detail)
{
    BUF(text, OUTPUT_MAX);
    if (f->result == CDG_U)
        return f->summary;
    const char *remark = json_string_value(json_object_get(detail, "remark"));
    json_int_t left_out = json_integer_value(json_object_get(detail, "left_out"));
    if (remark)
        buf_puts(&text, remark);
    if (left_out)
        buf_printf(&text, "%s%" JSON_INTEGER_FORMAT " more are counted and not listed",
                text.len ? "; " : "", left_out);
    if (json_is_true(json_object_get(detail, "coarse")))
        buf_printf(&text, "%sthere may be shorter lists", text.len ? "; " : "");
    return text.len ? arena_strdup(life, buf_text(&text)) : NULL;
}

/* ---- as JSON ----------------------------------------------------------------------------- */

static const char *item_text(const json_t *item, const char *key)
{
    const char *s = json_is_string(item) ? json_string_value(item)
                                         : json_string_value(json_object_get(item, key));
    return s ? s : "";
}

static json_t *plain_item(const json_t *item, size_t list)
{
    if (list != LIST_UPDATED)
        return json_string(item_text(item, "text"));
    return json_pack("[ss]", item_text(item, "old"), item_text(item, "new"));
}

static size_t how_often(const json_t *in, const json_t *what)
{
    size_t i, n = 0;
    json_t *item;
    json_array_foreach(in, i, item) n += (size_t)json_equal(item, what);
    return n;
}

/* Appends what is not there yet.  What came twice in one leaf is there twice, what two leaves
 * tell of is there once. */
static void add_items(json_t *to, const json_t *detail, size_t list)
{
    size_t i;
    json_t *item, *seen = json_array();
    json_array_foreach(json_object_get(detail, lists[list]), i, item)
    {
        json_t *plain = plain_item(item, list);
        json_array_append(seen, plain);
        if (how_often(seen, plain) > how_often(to, plain))
            json_array_append(to, plain);
        json_decref(plain);
    }
    json_decref(seen);
}

static json_t *object_of(const struct cdg_finding *f, const char *reason)
{
    return json_pack("{ss, ss?}", "result", result_names[f->result], "reason", reason);
}

/* The lists of one leaf, or the union over all of them (3). */
static void set_lists(json_t *object, const struct leaf *leaves, bool one)
{
    for (size_t list = 0; list < countof(lists); list++) {
        json_t *items = json_array();
        for (const struct leaf *l = leaves; l; l = one ? NULL : l->next)
            if (one || !l->below_not)
                add_items(items, l->detail, list);
        if (list != LIST_FOUND || json_array_size(items)) /* only elements are found */
            json_object_set(object, lists[list], items);
        json_decref(items);
    }
}

static void print_json(const struct comparison *all)
{
    struct arena *life = all->c->life;
    bool alone = !all->leaves->next && !all->leaves->below_not;
    const struct leaf *only = alone ? all->leaves : NULL;
    json_t *object = object_of(all->whole, all->whole->result == CDG_U ? all->whole->summary
                                           : only ? reason_of(life, all->whole, only->detail)
                                                  : NULL);
    json_t *leaves = json_array();
    set_lists(object, all->leaves, /* one= */ false);
    for (const struct leaf *l = all->leaves; l; l = l->next) {
        json_t *one = object_of(l->finding, reason_of(life, l->finding, l->detail));
        json_object_set_new(one, "monitor", json_string(l->monitor));
        set_lists(one, l, /* one= */ true);
        if (l->detail && json_object_get(l->detail, "places"))
            json_object_set(one, "places", json_object_get(l->detail, "places"));
        json_array_append_new(leaves, one);
    }
    json_object_set_new(object, "leaves", leaves);
    char *text = json_dumps(object, JSON_COMPACT);
    CHECK(text);
    puts(text);
    free(text);
    json_decref(object);
}

/* ---- for people -------------------------------------------------------------------------- */

static void print_leaf(struct arena *life, const struct leaf *l, bool alone)
{
    static const char *const words[] = {
            [CDG_C] = "changed", [CDG_N] = "no change", [CDG_U] = "could not be looked at"};
    const char *reason = reason_of(life, l->finding, l->detail);
    if (!alone)
        printf("  %s%s: %s%s%s\n", l->monitor, l->below_not ? ", below NOT" : "",
                words[l->finding->result], reason ? ", " : "", reason ? reason : "");
    if (l->finding->result == CDG_C && !l->below_not)
        cli_print_lists(l->finding->detail, stdout);
}

static void print_text(const struct comparison *all)
{
    static const char *const heads[] = {
            [CDG_C] = "changed", [CDG_N] = "no change", [CDG_U] = "could not be compared"};
    static const char *const colours[] = {
            [CDG_C] = "\033[1;32m", [CDG_N] = "\033[1m", [CDG_U] = "\033[1;31m"};
    bool colour = cli_colour(stdout), alone = !all->leaves->next && !all->leaves->below_not;
    const struct cdg_finding *f = all->whole;
    const char *reason = f->result == CDG_U ? f->summary
                         : alone            ? reason_of(all->c->life, f, all->leaves->detail)
                                            : NULL;
    printf("%s%s%s: %s%s%s\n", colour ? colours[f->result] : "", heads[f->result],
            colour ? "\033[0m" : "", all->monitor, reason ? "\n    " : "",
            reason ? reason : "");
    for (const struct leaf *l = all->leaves; l; l = l->next)
        print_leaf(all->c->life, l, alone);
}

int cmd_compare(struct cli *c)
{
    CLEANUP(files_done) struct file files[2] = {0};
    const struct grammar_definition *d = NULL;
    struct comparison all = {.c = c};
    int code;

    if (strcmp(c->args[0], "-") == 0 && strcmp(c->args[1], "-") == 0) {
        fputs("vigil: standard input can be one of the two pages, not both\n", stderr);
        return EXIT_WRONG;
    }
    if ((code = expression(c, c->monitor ? c->monitor : "any change", &d)) != EXIT_DONE ||
            !check_base(c, &code) ||
            (code = file_load(c, c->args[0], &files[0])) != EXIT_DONE ||
            (code = file_load(c, c->args[1], &files[1])) != EXIT_DONE ||
            (code = read_files(c, files)) != EXIT_DONE)
        return code;

    BUF(text, OUTPUT_MAX);
    grammar_print_change(&text, d->monitor);
    all.monitor = buf_text(&text);
    all.files = files;
    all.last = &all.leaves;
    all.whole = find(&all, d->monitor);
    find_leaves(&all, d->monitor, /* below_not= */ false);
    if (c->json)
        print_json(&all);
    else
        print_text(&all);
    return all.whole->result == CDG_C   ? EXIT_CHANGES
           : all.whole->result == CDG_N ? EXIT_DONE
                                        : EXIT_WRONG;
}
