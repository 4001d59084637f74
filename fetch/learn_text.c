/* The learned interval as JSON text, for the store.
 *
 *     {"interval":3600000,"last_fetch":…,"last_change":…,"gaps":[…],"run":0}
 *
 * The keys may come back in any order and with spaces, since a database may keep JSON in
 * its own way.  Otherwise the reader is strict: a state that no sequence of looks could
 * have made is refused, and the page then starts learning anew.
 */
#include "fetch/learn.h"
#include "base/json.h"

/* No instant of ours is beyond the year 9999, no span longer. */
#define LATEST ((msec)253402300800000)

char *fetch_learn_write(const struct fetch_learned *l, struct arena *life)
{
    BUF(text, 1024);
    struct json j;
    json_init(&j, &text);
    json_object_begin(&j);
    json_key(&j, "interval");
    json_int(&j, l->interval);
    json_key(&j, "last_fetch");
    json_int(&j, l->last_fetch);
    json_key(&j, "last_change");
    json_int(&j, l->last_change);
    json_key(&j, "gaps");
    json_array_begin(&j);
    for (unsigned i = 0; i < l->ngaps; i++)
        json_int(&j, l->gaps[i]);
    json_array_end(&j);
    json_key(&j, "run");
    json_int(&j, l->run);
    json_object_end(&j);
    return arena_strdup(life, buf_text(&text));
}

static void skip_spaces(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/* Takes one sign, with the spaces around it. */
static bool take(const char **at, char sign)
{
    skip_spaces(at);
    if (**at != sign)
        return false;
    ++*at;
    skip_spaces(at);
    return true;
}

static bool take_number(const char **at, msec least, msec most, msec *ret)
{
    size_t len = strspn(*at, "-0123456789");
    if (!str_to_int((struct str){*at, len}, ret) || *ret < least || *ret > most)
        return false;
    *at += len;
    return true;
}

static bool take_key(const char **at, struct str *ret_key)
{
    if (!take(at, '"'))
        return false;
    *ret_key = (struct str){*at, strspn(*at, "abcdefghijklmnopqrstuvwxyz_")};
    *at += ret_key->len;
    return take(at, '"') && take(at, ':');
}

static bool take_gaps(const char **at, struct fetch_learned *l)
{
    if (!take(at, '['))
        return false;
    l->ngaps = 0;
    while (!take(at, ']')) {
        if (l->ngaps == FETCH_LEARN_GAPS || (l->ngaps > 0 && !take(at, ',')) ||
                !take_number(at, 0, LATEST, &l->gaps[l->ngaps]))
            return false;
        l->ngaps++;
    }
    return true;
}

static bool take_member(const char **at, struct fetch_learned *l, unsigned *seen)
{
    struct str key;
    msec run;
    if (!take_key(at, &key))
        return false;
    if (str_equal(key, STR("interval"))) {
        *seen |= 1;
        return take_number(at, MSEC_PER_SECOND, LATEST, &l->interval);
    }
    if (str_equal(key, STR("last_fetch"))) {
        *seen |= 2;
        return take_number(at, -LATEST, LATEST, &l->last_fetch);
    }
    if (str_equal(key, STR("last_change"))) {
        *seen |= 4;
        return take_number(at, -LATEST, LATEST, &l->last_change);
    }
    if (str_equal(key, STR("gaps"))) {
        *seen |= 8;
        return take_gaps(at, l);
    }
    *seen |= 16;
    if (!str_equal(key, STR("run")) || !take_number(at, 0, UINT32_MAX, &run))
        return false;
    l->run = (unsigned)run;
    return true;
}

static bool take_all(const char *at, struct fetch_learned *l)
{
    unsigned seen = 0;
    if (!take(&at, '{'))
        return false;
    do {
        if (!take_member(&at, l, &seen))
            return false;
    } while (take(&at, ','));
    return take(&at, '}') && *at == 0 && seen == 31;
}

enum err fetch_learn_read(const char *json, struct fault *f, struct fetch_learned *ret_learned)
{
    struct fetch_learned l = {.ngaps = 0};
    if (!take_all(json, &l))
        return fault_set(f, ERR_SYNTAX, "\"%.80s\" is not a learned interval", json);
    *ret_learned = l;
    return OK;
}
