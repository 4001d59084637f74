/* Secrets in a file of their own: lines "name = value", # begins a comment.
 *
 *  (1) A file that others can read, or that others can write, is refused: better no fetch
 *      than a password everybody knows.
 *  (2) A file that was changed is read again, so a password can be changed without a restart.
 *  (3) Nothing that could end a header line gets in: a value is one line without control
 *      characters.
 *  (4) No fault ever quotes a value.
 *  (5) "name@host = value" is for that host alone, whoever writes a definition.
 */
#include "engine/secrets.h"
#include "grammar/grammar.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct secret {
    struct secret *next;
    const char *name, *value;
    const char *host; /* the only one it is for; NULL: any */
};

struct secrets {
    const char *path;
    struct arena *life, *read; /* what was read last */
    struct secret *first;
    struct timespec changed; /* of the file when it was read */
};

struct secrets *secrets_new(struct arena *life, const char *path)
{
    struct secrets *s = arena_new_of(life, struct secrets);
    s->life = life;
    s->path = arena_strdup(life, path);
    return s;
}

/* (1) */
static enum err check_file(const char *path, const struct stat *st, struct fault *f)
{
    if (S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
            (st->st_mode & 077) == 0)
        return OK;
    enum err e =
            fault_set(f, ERR_IO, "\"%s\" is not a file that only its owner can read", path);
    fault_hint(f, "It must be yours: chown it to this user, and chmod 600 it.");
    return e;
}

static enum err take_line(struct secrets *s, struct str line, int number, struct fault *f)
{
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] == '#')
        return OK;
    const char *equals = memchr(line.ptr, '=', line.len);
    if (!equals) {
        enum err e = fault_set(f, ERR_SYNTAX, "%s:%d: expected name = value", s->path, number);
        fault_hint(f, "Write each secret on a line of its own.");
        return e;
    }
    struct str name = str_trim((struct str){line.ptr, (size_t)(equals - line.ptr)});
    struct str value =
            str_trim((struct str){equals + 1, line.len - (size_t)(equals + 1 - line.ptr)});
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < 0x20 || value.ptr[i] == 0x7f)
            return fault_set(f, ERR_SYNTAX, "%s:%d: a control character cannot be in a secret",
                    s->path, number); /* (3) */
    struct secret *secret = arena_new_of(s->read, struct secret);
    char *full = arena_strndup(s->read, name.ptr, name.len), *at = strchr(full, '@');
    if (at)
        *at = 0;
    secret->name = full;
    secret->host = at ? at + 1 : NULL;
    secret->value = arena_strndup(s->read, value.ptr, value.len);
    secret->next = s->first;
    s->first = secret;
    return OK;
}

static enum err read_lines(struct secrets *s, FILE *file, struct fault *f)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    enum err e = OK;
    for (int number = 1; e == OK && (len = getline(&line, &cap, file)) >= 0; number++)
        e = take_line(s, (struct str){line, (size_t)len}, number, f);
    if (e == OK && ferror(file))
        e = fault_set(f, ERR_IO, "cannot read \"%s\": %s", s->path, strerror(errno));
    free(line);
    return e;
}

static void forget(struct secrets *s)
{
    arena_free(s->read);
    s->read = NULL;
    s->first = NULL;
}

static enum err read_file(struct secrets *s, struct fault *f)
{
    struct stat st;
    int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file || fstat(fd, &st) != 0) {
        enum err e = fault_set(f, ERR_IO, "cannot read \"%s\": %s", s->path, strerror(errno));
        fault_hint(f, "fetch.secrets names the file that holds secrets.");
        if (file)
            fclose(file);
        else if (fd >= 0)
            close(fd);
        forget(s);
        return e;
    }
    enum err e = check_file(s->path, &st, f);
    bool is_known = s->read && st.st_mtim.tv_sec == s->changed.tv_sec &&
                    st.st_mtim.tv_nsec == s->changed.tv_nsec;
    if (e != OK || !is_known)
        forget(s); /* (2) */
    if (e == OK && !is_known) {
        s->read = arena_new(s->life, "secrets");
        s->changed = st.st_mtim;
        e = read_lines(s, file, f);
        if (e != OK)
            forget(s);
    }
    fclose(file);
    return e;
}

/* (5) */
static bool is_for(const struct secret *one, const char *url)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!one->host)
        return true;
    if (!host)
        return false;
    host += 3;
    return str_equal_nocase((struct str){host, strcspn(host, *host == '[' ? "/?#" : ":/?#")},
            str_of(one->host));
}

enum err secrets_get(struct secrets *s, struct str name, const char *url, struct fault *f,
        const char **ret_value)
{
    bool is_elsewhere = false;
    if (!*s->path) {
        enum err e = fault_set(f, ERR_NAME,
                "the secret \"%.*s\" is not known: there is no file of secrets", (int)name.len,
                name.ptr);
        fault_hint(f, "Name one with the setting fetch.secrets; its lines are name = value.");
        return e;
    }
    enum err e = read_file(s, f);
    if (e != OK)
        return e;
    for (struct secret *one = s->first; one; one = one->next)
        if (str_equal(str_of(one->name), name)) {
            is_elsewhere = true;
            if (!is_for(one, url))
                continue;
            *ret_value = one->value;
            return OK;
        }
    if (is_elsewhere)
        return fault_set(f, ERR_NAME, "the secret \"%.*s\" is for another host", (int)name.len,
                name.ptr);
    e = fault_set(
            f, ERR_NAME, "the secret \"%.*s\" is not in %s", (int)name.len, name.ptr, s->path);
    fault_hint(f, "Add a line %.*s = value to it.", (int)name.len, name.ptr);
    return e;
}

enum err secrets_fill(struct secrets *s, struct arena *life, const char *text, const char *url,
        struct fault *f, const char **ret_text, bool *ret_held)
{
    size_t at = 0, copied = 0;
    struct str whole, name;
    const char *out = "";
    while (grammar_secret_next(text, &at, &whole, &name)) {
        const char *value;
        enum err e = secrets_get(s, name, url, f, &value);
        if (e != OK)
            return e;
        size_t before = (size_t)(whole.ptr - text) - copied;
        out = arena_printf(life, "%s%.*s%s", out, (int)before, text + copied, value);
        copied = at;
    }
    if (ret_held)
        *ret_held = copied > 0;
    *ret_text = copied ? arena_printf(life, "%s%s", out, text + copied) : text;
    return OK;
}
