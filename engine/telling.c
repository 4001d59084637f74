/* From a definition and the settings to whom, how and when.
 *
 * What cannot be delivered with these settings is refused when it is asked for, not when it is
 * due; what the operator wants told of everything is added to what each definition says. */
#include "engine/telling.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *method_of(enum grammar_method_kind kind)
{
    return kind == GRAMMAR_BULLETIN ? "bulletin" : grammar_method_name(kind);
}

/* The database is the receiver, unless a bulletin is also a file. */
static bool is_at_commit(const struct settings *s, enum grammar_method_kind kind)
{
    if (kind == GRAMMAR_BULLETIN)
        return !*settings_text(s, SETTING_NOTIFY_FEEDS);
    return kind == GRAMMAR_DASHBOARD || kind == GRAMMAR_INTERACTIVE;
}

static const char *look_of(enum grammar_presentation p)
{
    switch (p) {
    case GRAMMAR_DUAL_FRAME:
        return notify_look_name(NOTIFY_SIDE);
    case GRAMMAR_MERGED:
        return notify_look_name(NOTIFY_MERGED);
    case GRAMMAR_ONLY_CHANGE:
    case GRAMMAR_PRESENT_BY_TYPE:
        break;
    }
    return notify_look_name(NOTIFY_ONLY);
}

bool telling_is_combined(const struct settings *s)
{
    return strcmp(settings_text(s, SETTING_NOTIFY_COMBINE), "user") == 0;
}

size_t telling_always(const struct settings *s, struct store_tell tells[2])
{
    size_t n = 0;
    if (*settings_text(s, SETTING_NOTIFY_PROGRAM))
        tells[n++] =
                (struct store_tell){.method = "program", .target = "", .of_operator = true};
    if (*settings_text(s, SETTING_NOTIFY_CHANNEL))
        tells[n++] = (struct store_tell){.method = "channel",
                .target = settings_text(s, SETTING_NOTIFY_CHANNEL),
                .of_operator = true};
    return n;
}

void telling_fill(struct arena *life, const struct settings *s,
        const struct grammar_definition *d, struct store_step *step)
{
    struct store_tell always[2];
    size_t n = 0, nalways = telling_always(s, always);
    struct store_tell *tells =
            arena_array_of(life, d->notify.n_methods + nalways + 1, struct store_tell);
    bool combined = telling_is_combined(s);
    for (unsigned i = 0; i < d->notify.n_methods; i++) {
        const struct grammar_method *m = &d->notify.methods[i];
        tells[n++] = (struct store_tell){
                .method = method_of(m->kind),
                .target = m->target ? arena_strdup(life, m->target) : "",
                .at_commit = is_at_commit(s, m->kind),
                .combined = combined || m->kind == GRAMMAR_BULLETIN,
        };
    }
    if (n == 0)
        tells[n++] =
                (struct store_tell){.method = "dashboard", .target = "", .at_commit = true};
    for (size_t i = 0; i < nalways; i++)
        tells[n++] = always[i];
    step->tells = tells;
    step->ntells = n;
    step->tell_every = d->notify.every;
    step->topic = d->topic ? arena_strdup(life, d->topic) : NULL;
    step->priority = d->priority;
    step->presentation = look_of(d->presentation);
}

enum err telling_check(
        const struct settings *s, const struct grammar_notify *n, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "telling");
    struct notify *notify;
    enum err e = telling_notify(scratch, s, "", NULL, f, &notify);
    for (unsigned i = 0; !e && i < n->n_methods; i++)
        if (n->methods[i].kind < GRAMMAR_DASHBOARD)
            e = notify_can(notify, method_of(n->methods[i].kind), n->methods[i].target, f);
    return e;
}

enum err telling_secret(struct arena *life, const struct settings *s, enum setting which,
        struct fault *f, const char **ret_value)
{
    enum { SECRET_BYTES = 4096 };
    const char *text = settings_text(s, which);
    char line[SECRET_BYTES + 1];
    if (*text != '@') {
        *ret_value = text;
        return OK;
    }
    int fd = open(text + 1, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, SECRET_BYTES);
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        enum err e = fault_set(
                f, ERR_IO, "cannot read the secret in \"%s\": %s", text + 1, strerror(why));
        fault_hint(f, "Let the user Vigil runs as read this file, and nobody else.");
        return e;
    }
    line[n] = 0;
    line[strcspn(line, "\r\n")] = 0;
    *ret_value = arena_strdup(life, line);
    return OK;
}

/* The domain we write from. */
static const char *host_of(struct arena *life, const char *from)
{
    const char *at = strrchr(from, '@');
    return at ? arena_strndup(life, at + 1, strcspn(at + 1, "> \t")) : NULL;
}

enum err telling_notify(struct arena *life, const struct settings *s, const char *instance,
        const struct notify_carrier *carrier, struct fault *f, struct notify **ret_notify)
{
    struct notify_options o = {
            .instance = instance,
            .from = settings_text(s, SETTING_NOTIFY_FROM),
            .host = host_of(life, settings_text(s, SETTING_NOTIFY_FROM)),
            .link = settings_text(s, SETTING_NOTIFY_LINK),
            .unsubscribe = settings_text(s, SETTING_NOTIFY_UNSUBSCRIBE),
            .fax_gateway = settings_text(s, SETTING_NOTIFY_FAX_GATEWAY),
            .phone_gateway = settings_text(s, SETTING_NOTIFY_PHONE_GATEWAY),
            .chats = settings_text(s, SETTING_NOTIFY_CHATS),
            .program = settings_text(s, SETTING_NOTIFY_PROGRAM),
            .has_mail = *settings_text(s, SETTING_NOTIFY_SMTP) != 0,
    };
    if (carrier) {
        o.carrier = *carrier;
        enum err e = telling_secret(life, s, SETTING_NOTIFY_SECRET, f, &o.secret);
        if (e)
            return e;
    }
    return notify_new(life, &o, f, ret_notify);
}
