/* The functions of XPath 1.0, but for those of namespaces and variables. */
#include "page/xpath_value.h"
#include <math.h>

static struct str normalized(struct str s, struct arena *life)
{
    char *text = arena_alloc(life, s.len + 1);
    size_t n = 0;

    s = str_trim(s);
    for (size_t i = 0; i < s.len; i++)
        if (!is_space(s.ptr[i]) || (n && text[n - 1] != ' '))
            text[n++] = is_space(s.ptr[i]) ? ' ' : s.ptr[i];
    text[n] = 0;
    return (struct str){text, n};
}

/* Characters from..to, counted from 1, as substring() counts them. */
static struct str characters(struct str s, double from, double to)
{
    size_t at = 0, begin = s.len, end = s.len;
    double place = 1;

    for (; at < s.len; place++) {
        size_t n = utf8_length(s.ptr + at, s.len - at);
        if (begin == s.len && place >= from && place < to)
            begin = at;
        if (begin != s.len && !(place < to)) {
            end = at;
            break;
        }
        at += n ? n : 1;
    }
    return (struct str){s.ptr + begin, end - begin};
}

static struct str translated(struct str s, struct str from, struct str to, struct arena *life)
{
    BUF(out, 4 * s.len + 64);

    for (size_t i = 0, n; i < s.len; i += n) {
        n = utf8_length(s.ptr + i, s.len - i);
        n = n ? n : 1;
        size_t place = 0, at = 0, step;
        for (; at < from.len; at += step, place++) {
            step = utf8_length(from.ptr + at, from.len - at);
            step = step ? step : 1;
            if (step == n && memcmp(from.ptr + at, s.ptr + i, n) == 0)
                break;
        }
        struct str put = {s.ptr + i, n};
        if (at < from.len)
            put = characters(to, (double)place + 1, (double)place + 2);
        buf_append(&out, put.ptr, put.len);
    }
    return (struct str){arena_strndup(life, buf_text(&out), out.len), out.len};
}

static struct value by_id(struct eval *x, struct str ids, struct arena *life)
{
    struct value v = {.type = VALUE_NODES};
    const struct page_digest *d = x->d;

    for (uint32_t i = 0; i < d->nodes && xpath_steps(x, 1); i++)
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            if (str_equal(page_attr_name(d, a), STR("id")) &&
                    str_equal(page_attr_value(d, a), str_trim(ids)))
                xpath_nodes_add(x, &v.nodes, i, life);
    return v;
}

static struct str local_part(struct str name)
{
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    return colon ? (struct str){colon + 1, name.len - (size_t)(colon + 1 - name.ptr)} : name;
}

struct value xpath_call(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    struct value v[20];
    struct str s[3] = {{"", 0}, {"", 0}, {"", 0}};
    size_t n = 0;

    for (const struct xpath_list *a = e->args; a && n < countof(v); a = a->next)
        v[n++] = xpath_evaluate(x, a->expr, c, life);
    if (n == 0) { /* what is meant is the node at hand */
        v[0] = (struct value){.type = VALUE_NODES};
        xpath_nodes_add(x, &v[0].nodes, c->node, life);
    }
    for (size_t i = 0; i < countof(s) && (i < n || i == 0); i++)
        s[i] = xpath_to_string(x, &v[i], life);
    xpath_steps(x, (s[0].len + s[1].len) / 8 + 1);
    double from, length;
    const char *found;
    switch (e->function) {
    case FN_LAST:
        return xpath_number((double)c->size);
    case FN_POSITION:
        return xpath_number((double)c->position);
    case FN_COUNT:
        return xpath_number(v[0].type == VALUE_NODES ? (double)v[0].nodes.count : NAN);
    case FN_ID:
        return by_id(x, s[0], life);
    case FN_NAME:
    case FN_LOCAL_NAME:
        if (v[0].type != VALUE_NODES || v[0].nodes.count == 0)
            return xpath_string((struct str){"", 0});
        return xpath_string(e->function == FN_NAME
                                    ? xpath_name_of(x, v[0].nodes.all[0])
                                    : local_part(xpath_name_of(x, v[0].nodes.all[0])));
    case FN_STRING:
        return xpath_string(s[0]);
    case FN_CONCAT: {
        BUF(all, PAGE_DIGEST_MAX);
        for (size_t i = 0; i < n; i++) {
            struct str part = xpath_to_string(x, &v[i], life);
            buf_append(&all, part.ptr, part.len);
        }
        xpath_steps(x, all.len / 8);
        return xpath_string(
                (struct str){arena_strndup(life, buf_text(&all), all.len), all.len});
    }
    case FN_STARTS_WITH:
        return xpath_boolean(s[0].len >= s[1].len && memcmp(s[0].ptr, s[1].ptr, s[1].len) == 0);
    case FN_CONTAINS:
        return xpath_boolean(s[1].len == 0 || memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len));
    case FN_SUBSTRING_BEFORE:
        found = memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len);
        return xpath_string((struct str){s[0].ptr, found ? (size_t)(found - s[0].ptr) : 0});
    case FN_SUBSTRING_AFTER:
        found = memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len);
        if (!found)
            return xpath_string((struct str){"", 0});
        found += s[1].len;
        return xpath_string((struct str){found, s[0].len - (size_t)(found - s[0].ptr)});
    case FN_SUBSTRING:
        from = round(xpath_to_number(x, &v[1], life));
        length = n > 2 ? from + round(xpath_to_number(x, &v[2], life)) : INFINITY;
        return xpath_string(characters(s[0], from, length));
    case FN_STRING_LENGTH: {
        size_t characters_ = 0;
        for (size_t i = 0; i < s[0].len; i++)
            characters_ += (s[0].ptr[i] & 0xC0) != 0x80;
        return xpath_number((double)characters_);
    }
    case FN_NORMALIZE_SPACE:
        return xpath_string(normalized(s[0], life));
    case FN_TRANSLATE:
        xpath_steps(x, (uint64_t)s[0].len * (s[1].len + s[2].len));
        return x->is_over ? xpath_string(s[0])
                          : xpath_string(translated(s[0], s[1], s[2], life));
    case FN_BOOLEAN:
        return xpath_boolean(xpath_to_boolean(&v[0]));
    case FN_NOT:
        return xpath_boolean(!xpath_to_boolean(&v[0]));
    case FN_TRUE:
        return xpath_boolean(true);
    case FN_FALSE:
        return xpath_boolean(false);
    case FN_NUMBER:
        return xpath_number(xpath_to_number(x, &v[0], life));
    case FN_SUM: {
        double sum = v[0].type == VALUE_NODES ? 0 : NAN;
        for (size_t i = 0; v[0].type == VALUE_NODES && i < v[0].nodes.count; i++)
            sum += xpath_text_number(xpath_text_of(x, v[0].nodes.all[i], life));
        return xpath_number(sum);
    }
    case FN_FLOOR:
        return xpath_number(floor(xpath_to_number(x, &v[0], life)));
    case FN_CEILING:
        return xpath_number(ceil(xpath_to_number(x, &v[0], life)));
    case FN_ROUND:
        return xpath_number(floor(xpath_to_number(x, &v[0], life) + 0.5));
    case FN_COUNT_OF:
        break;
    }
    return xpath_boolean(false);
}
