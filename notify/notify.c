/* What the settings say about telling people, checked once. */
#include "notify/notify_int.h"

static const char *kept(struct arena *life, const char *text)
{
    return text && *text ? arena_strdup(life, text) : NULL;
}

static bool is_line(const char *text)
{
    return !text || !text[strcspn(text, "\r\n")];
}

/* Path and arguments, by white space; nothing else is interpreted, there is no shell. */
static enum err read_program(struct notify *n, struct fault *f)
{
    const char *text = n->o.program;
    if (!text)
        return OK;
    if (*text != '/') {
        enum err e = fault_set(
                f, ERR_RANGE, "notify.program \"%.100s\" is not an absolute path", text);
        fault_hint(f, "Write where the program is, from the root: /usr/local/bin/tell.");
        return e;
    }
    const char **argv = arena_array_of(n->life, strlen(text) + 2, const char *);
    size_t k = 0;
    while (*text) {
        size_t len = strcspn(text, " \t");
        if (len)
            argv[k++] = arena_strndup(n->life, text, len);
        text += len;
        text += strspn(text, " \t");
    }
    n->program = argv;
    return OK;
}

static enum err check_chats(const char *chats, struct fault *f)
{
    while (chats && *chats) {
        size_t len = strcspn(chats, ",");
        const char *is = memchr(chats, '=', len);
        char name[32] = "";
        if (is) {
            struct str s = str_trim((struct str){is + 1, (size_t)(chats + len - is - 1)});
            if (s.len < sizeof name)
                memcpy(name, s.ptr, s.len);
        }
        if (!chat_named(name)) {
            enum err e = fault_set(f, ERR_SYNTAX, "notify.chats: \"%.*s\" is not HOST=SERVICE",
                    (int)(len < 60 ? len : 60), chats);
            fault_hint(
                    f, "Services are slack, discord, teams, telegram, matrix, ntfy, gotify.");
            return e;
        }
        chats += len + (chats[len] == ',');
    }
    return OK;
}

enum err notify_new(struct arena *life, const struct notify_options *o, struct fault *f,
        struct notify **ret_notify)
{
    struct notify *n = arena_new_of(life, struct notify);
    n->life = life;
    n->o = *o;
    n->o.instance = arena_strdup(life, o->instance);
    n->o.host = o->host && *o->host ? arena_strdup(life, o->host) : "vigil.invalid";
    const char **texts[] = {&n->o.from, &n->o.secret, &n->o.link, &n->o.unsubscribe,
            &n->o.fax_gateway, &n->o.phone_gateway, &n->o.chats, &n->o.program,
            &n->o.user_agent};
    for (size_t i = 0; i < countof(texts); i++) {
        *texts[i] = kept(life, *texts[i]);
        if (!is_line(*texts[i]))
            return fault_set(f, ERR_SYNTAX, "a setting of notify holds a line break");
    }
    enum err e = check_chats(n->o.chats, f);
    if (!e)
        e = read_program(n, f);
    if (!e)
        *ret_notify = n;
    return e;
}

const char *notify_key(const struct notify *n, struct arena *life, int64_t id)
{
    return arena_printf(life, "%s.%lld", n->o.instance, (long long)id);
}
