#include "engine/settings.h"
#include "base/log.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "grammar/grammar.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum type { SPAN, INT, BYTES, TEXT, SECRET, CIDRS, LEVEL, ZONE, ROBOTS, TYPE_COUNT };

static const char *const units[TYPE_COUNT] = {[SPAN] = "time",
        [INT] = "count",
        [BYTES] = "bytes",
        [TEXT] = "text",
        [SECRET] = "secret",
        [CIDRS] = "networks",
        [LEVEL] = "level",
        [ZONE] = "zone",
        [ROBOTS] = "pages"};

static const struct row {
    const char *name;
    enum type type;
    const char *initial;
    int64_t least, most;
    const char *why;
} rows[SETTING_COUNT] = {
#define SETTING(id, name, type, value, least, most, why) {name, type, value, least, most, why},
#include "engine/settings.def"
#undef SETTING
};

static enum err parse_cidrs(
        struct settings *s, const char *text, struct setting_value *v, struct fault *f)
{
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == ',';
    v->list = arena_array_of(s->life, most, const char *);
    v->nlist = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        struct str one = str_trim((struct str){p, n});
        if (one.len) {
            char *cidr = arena_strndup(s->life, one.ptr, one.len);
            enum err e = fetch_cidr_check(cidr, f);
            if (e != OK)
                return e;
            v->list[v->nlist++] = cidr;
        }
        p += n + (p[n] == ',');
    }
    return OK;
}

/* A zone is what a date in a definition may name. */
static enum err check_zone(
        struct settings *s, const struct row *row, const char *zone, struct fault *f)
{
    struct grammar_world world = {0};
    msec at;
    char *date = arena_printf(s->life, "01/31/2030 12:00 %s", zone);
    if (*zone && grammar_parse_instant(date, &world, NULL, &at) == OK)
        return OK;
    enum err e =
            fault_set(f, ERR_RANGE, "setting %s: there is no zone \"%s\"", row->name, zone);
    fault_hint(f, "Give UTC, an abbreviation such as CET, or a name such as Europe/Berlin.");
    return e;
}

static bool parse_bytes(const char *text, int64_t *ret)
{
    static const struct {
        const char *name;
        int64_t unit;
    } sizes[] = {{"", 1}, {"b", 1}, {"kb", 1000}, {"mb", 1000000}, {"gb", 1000000000},
            {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}};
    struct str s = str_trim(str_of(text));
    size_t n = 0;
    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    int64_t count;
    if (!str_to_int((struct str){s.ptr, n}, &count))
        return false;
    struct str unit = str_trim((struct str){s.ptr + n, s.len - n});
    for (size_t i = 0; i < countof(sizes); i++)
        if (str_equal_nocase(unit, str_of(sizes[i].name)))
            return !__builtin_mul_overflow(count, sizes[i].unit, ret);
    return false;
}

static bool parse_robots(const char *text, int64_t *ret)
{
    static const char *const words[] = {[FETCH_ROBOTS_DISCOVERED] = "discovered",
            [FETCH_ROBOTS_ALL] = "all",
            [FETCH_ROBOTS_OFF] = "off"};
    for (size_t i = 0; i < countof(words); i++)
        if (str_equal_nocase(str_trim(str_of(text)), str_of(words[i]))) {
            *ret = (int64_t)i;
            return true;
        }
    return false;
}

/* Understands `v->text` by its row's type. */
static enum err parse_value(
        struct settings *s, const struct row *row, struct setting_value *v, struct fault *f)
{
    enum log_level level;
    bool understood = true;
    const char *example = "";
    switch (row->type) {
    case SPAN:
        understood = time_parse_span(v->text, &v->number);
        example = "a time such as 90s, 2 min or 1h";
        break;
    case INT:
        understood = str_to_int(str_trim(str_of(v->text)), &v->number);
        example = "a whole number";
        break;
    case BYTES:
        understood = parse_bytes(v->text, &v->number);
        example = "a size such as 65536, 512KiB or 8MiB";
        break;
    case LEVEL:
        understood = log_level_parse(v->text, &level);
        v->number = understood ? (int64_t)level : 0;
        example = "error, warning, info or debug";
        break;
    case ROBOTS:
        understood = parse_robots(v->text, &v->number);
        example = "discovered, all or off";
        break;
    case CIDRS:
        return parse_cidrs(s, v->text, v, f);
    case ZONE:
        return check_zone(s, row, v->text, f);
    case TEXT:
    case SECRET:
        if (strpbrk(v->text, "\r\n"))
            return fault_set(
                    f, ERR_RANGE, "setting %s: a line break is not allowed", row->name);
        return OK;
    case TYPE_COUNT:
        CHECK(false);
    }
    if (!understood) {
        enum err e = fault_set(
                f, ERR_RANGE, "setting %s: \"%s\" is not understood", row->name, v->text);
        fault_hint(f, "Give %s.", example);
        return e;
    }
    if (row->type != LEVEL && row->type != ROBOTS &&
            (v->number < row->least || v->number > row->most)) {
        char least[TIME_TEXT_SIZE], most[TIME_TEXT_SIZE];
        enum err e =
                fault_set(f, ERR_RANGE, "setting %s: %s is out of range", row->name, v->text);
        if (row->type == SPAN)
            fault_hint(f, "Give a time between %s and %s.", time_span(row->least, least),
                    time_span(row->most, most));
        else
            fault_hint(f, "Give a number between %lld and %lld.", (long long)row->least,
                    (long long)row->most);
        return e;
    }
    return OK;
}

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (str_equal_nocase(str_of(name), str_of(rows[i].name)))
            return &rows[i];
    return NULL;
}

static enum err unknown_setting(const char *name, struct fault *f)
{
    enum err e = fault_set(f, ERR_NAME, "there is no setting \"%s\"", name);
    unsigned best = 4;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        unsigned d = str_distance(str_of(name), str_of(rows[i].name), 3);
        if (d < best) {
            best = d;
            fault_hint(f, "Did you mean %s?", rows[i].name);
        }
    }
    if (best == 4)
        fault_hint(f, "`vigil settings` lists them all.");
    return e;
}

enum err settings_set(struct settings *s, const char *name, const char *value,
        const char *origin, struct fault *f)
{
    const struct row *row = find(name);
    if (!row) {
        enum err e = unknown_setting(name, f);
        fault_prefix(f, "%s: ", origin);
        return e;
    }
    struct setting_value v = {
            .text = arena_strdup(s->life, value), .origin = arena_strdup(s->life, origin)};
    enum err e = parse_value(s, row, &v, f);
    if (e != OK) {
        fault_prefix(f, "%s: ", origin);
        return e;
    }
    s->values[row - rows] = v;
    return OK;
}

bool settings_is_default(const struct settings *s, const char *name)
{
    const struct row *row = find(name);
    return row && strcmp(s->values[row - rows].origin, "default") == 0;
}

void settings_init(struct settings *s, struct arena *life)
{
    s->life = life;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct setting_value *v = &s->values[i];
        *v = (struct setting_value){.text = rows[i].initial, .origin = "default"};
        CHECK(parse_value(s, &rows[i], v, NULL) == OK);
    }
}

enum err settings_set_pair(struct settings *s, const char *pair, struct fault *f)
{
    const char *equals = strchr(pair, '=');
    if (!equals) {
        enum err e = fault_set(f, ERR_SYNTAX, "--set %s: no = in it", pair);
        fault_hint(f, "Write --set name=value, for instance --set fetch.min_interval=5s.");
        return e;
    }
    struct str name = str_trim((struct str){pair, (size_t)(equals - pair)});
    return settings_set(s, arena_strndup(s->life, name.ptr, name.len), equals + 1, "--set", f);
}

enum err settings_allow(struct settings *s, const char *cidr, struct fault *f)
{
    const char *before = s->values[SETTING_FETCH_ALLOW].text;
    char *both = arena_printf(s->life, "%s%s%s", before, *before ? "," : "", cidr);
    return settings_set(s, "fetch.allow", both, "--allow", f);
}

/* VIGIL_FETCH_MIN_INTERVAL for fetch.min_interval. */
static void environment_name(const char *setting, char *to, size_t size)
{
    snprintf(to, size, "VIGIL_%s", setting);
    for (char *p = to; *p; p++) {
        if (*p == '.')
            *p = '_';
        else if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    }
}

enum err settings_read_environment(struct settings *s, char **env, struct fault *f)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        char name[64];
        environment_name(rows[i].name, name, sizeof name);
        size_t len = strlen(name);
        for (char **p = env; *p; p++) {
            if (strncmp(*p, name, len) != 0 || (*p)[len] != '=')
                continue;
            enum err e = settings_set(s, rows[i].name, *p + len + 1, name, f);
            if (e != OK)
                return e;
        }
    }
    return OK;
}

/* One line of INI; `section` is carried from line to line. */
static enum err read_line(
        struct settings *s, char *line, const char *origin, char section[64], struct fault *f)
{
    struct str text = str_trim(str_of(line));
    if (text.len == 0 || text.ptr[0] == '#' || text.ptr[0] == ';')
        return OK;
    if (text.ptr[0] == '[') {
        if (text.ptr[text.len - 1] != ']' || text.len > 60)
            return fault_set(f, ERR_SYNTAX, "%s: a section is written [name]", origin);
        struct str inner = str_trim((struct str){text.ptr + 1, text.len - 2});
        snprintf(section, 64, "%.*s", (int)inner.len, inner.ptr);
        return OK;
    }
    char *equals = memchr((char *)text.ptr, '=', text.len);
    if (!equals) {
        enum err e = fault_set(f, ERR_SYNTAX, "%s: expected name = value", origin);
        fault_hint(f, "Write sections as [fetch] and settings as min_interval = 60s.");
        return e;
    }
    struct str name = str_trim((struct str){text.ptr, (size_t)(equals - text.ptr)});
    struct str value =
            str_trim((struct str){equals + 1, text.len - (size_t)(equals + 1 - text.ptr)});
    char *full = arena_printf(
            s->life, "%s%s%.*s", section, *section ? "." : "", (int)name.len, name.ptr);
    return settings_set(s, full, arena_strndup(s->life, value.ptr, value.len), origin, f);
}

enum err settings_read_file(struct settings *s, const char *path, struct fault *f)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        enum err e = fault_set(f, ERR_IO, "cannot read \"%s\": %s", path, strerror(errno));
        fault_hint(f, "Check the path given with --config.");
        return e;
    }
    char *line = NULL, section[64] = "";
    size_t cap = 0;
    enum err e = OK;
    for (int number = 1; e == OK && getline(&line, &cap, file) >= 0; number++) {
        char *origin = arena_printf(s->life, "%s:%d", path, number);
        e = read_line(s, line, origin, section, f);
    }
    if (e == OK && ferror(file))
        e = fault_set(f, ERR_IO, "cannot read \"%s\": %s", path, strerror(errno));
    free(line);
    fclose(file);
    return e;
}

int64_t settings_number(const struct settings *s, enum setting which)
{
    CHECK(rows[which].type != TEXT && rows[which].type != SECRET && rows[which].type != CIDRS &&
            rows[which].type != ZONE);
    return s->values[which].number;
}

const char *settings_text(const struct settings *s, enum setting which)
{
    return s->values[which].text;
}

enum err settings_ca(
        const struct settings *s, enum setting which, struct fault *f, const char **ret_file)
{
    const char *file = settings_text(s, which);
    *ret_file = *file ? file : NULL;
    if (!*file || access(file, R_OK) == 0)
        return OK;
    enum err e = fault_set(f, ERR_IO, "%s: cannot read the certificates in \"%.80s\": %s",
            rows[which].name, file, strerror(errno));
    fault_hint(f, "Name a file in PEM form that the user Vigil runs as can read.");
    return e;
}

/* A secret is shown as being there; the file it is in may be named. */
static const char *shown(const struct settings *s, size_t which)
{
    const char *text = s->values[which].text;
    return rows[which].type == SECRET && *text && *text != '@' ? "(hidden)" : text;
}

void settings_print(const struct settings *s, struct buf *out)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct setting_value *v = &s->values[i];
        buf_printf(out, "%s = %s\n", rows[i].name, *v->text ? shown(s, i) : "(none)");
        buf_printf(out, "    %s\n", rows[i].why);
        buf_printf(out, "    %s; default %s%s%s\n", units[rows[i].type],
                *rows[i].initial ? rows[i].initial : "(none)",
                strcmp(v->origin, "default") == 0 ? "" : "; set by ",
                strcmp(v->origin, "default") == 0 ? "" : v->origin);
    }
}

void settings_json(const struct settings *s, struct buf *out)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct json j;
        json_init(&j, out);
        json_object_begin(&j);
        json_key(&j, "name");
        json_text(&j, rows[i].name);
        json_key(&j, "value");
        json_text(&j, shown(s, i));
        json_key(&j, "unit");
        json_text(&j, units[rows[i].type]);
        json_key(&j, "default");
        json_text(&j, rows[i].initial);
        json_key(&j, "origin");
        json_text(&j, s->values[i].origin);
        json_key(&j, "why");
        json_text(&j, rows[i].why);
        json_object_end(&j);
        buf_putc(out, '\n');
    }
}
