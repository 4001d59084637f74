#include "tests/grammar/equal.h"
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_leaf(const struct grammar_leaf *a, const struct grammar_leaf *b)
{
    if (a->n_words != b->n_words)
        return false;
    for (unsigned i = 0; i < a->n_words; i++)
        if (!same_text(a->words[i].text, b->words[i].text))
            return false;
    return a->type == b->type && same_text(a->alias, b->alias) && a->raw == b->raw &&
           a->counted == b->counted && a->all == b->all && a->on_text == b->on_text &&
           a->strict == b->strict && a->status == b->status &&
           same_text(a->containing, b->containing) && a->number == b->number &&
           a->box == b->box && a->occurrence == b->occurrence &&
           same_text(a->pattern, b->pattern) && same_text(a->element, b->element) &&
           a->region == b->region && same_text(a->region_path, b->region_path) &&
           a->threshold == b->threshold && a->threshold_ppm == b->threshold_ppm;
}

bool same_change(const struct grammar_change *a, const struct grammar_change *b)
{
    if (!a || !b)
        return a == b;
    if (a->op != b->op || a->n_kids != b->n_kids)
        return false;
    if (a->op == GRAMMAR_LEAF)
        return same_leaf(a->leaf, b->leaf);
    for (unsigned i = 0; i < a->n_kids; i++)
        if (!same_change(a->kids[i], b->kids[i]))
            return false;
    return true;
}

static bool same_time(const struct grammar_time *a, const struct grammar_time *b)
{
    const struct grammar_date *x = &a->date, *y = &b->date;
    return a->kind == b->kind && a->offset == b->offset && same_text(a->of, b->of) &&
           x->year == y->year && x->month == y->month && x->day == y->day &&
           x->hour == y->hour && x->minute == y->minute && x->second == y->second &&
           x->ms == y->ms && x->has_clock == y->has_clock && same_text(x->zone, y->zone);
}

static bool same_pages(const struct grammar_definition *a, const struct grammar_definition *b)
{
    if (a->n_pages != b->n_pages)
        return false;
    for (unsigned i = 0; i < a->n_pages; i++)
        if (!same_text(a->pages[i].url, b->pages[i].url) ||
                !same_text(a->pages[i].sentinel, b->pages[i].sentinel) ||
                !same_text(a->pages[i].alias, b->pages[i].alias))
            return false;
    return true;
}

static bool same_notify(const struct grammar_notify *a, const struct grammar_notify *b)
{
    if (a->n_methods != b->n_methods || a->best_effort != b->best_effort ||
            a->every != b->every)
        return false;
    for (unsigned i = 0; i < a->n_methods; i++)
        if (a->methods[i].kind != b->methods[i].kind ||
                !same_text(a->methods[i].target, b->methods[i].target))
            return false;
    return true;
}

static bool same_request(const struct grammar_request *a, const struct grammar_request *b)
{
    if (a->n_headers != b->n_headers)
        return false;
    for (unsigned i = 0; i < a->n_headers; i++)
        if (!same_text(a->headers[i].name, b->headers[i].name) ||
                !same_text(a->headers[i].value, b->headers[i].value))
            return false;
    return same_text(a->method, b->method) && same_text(a->body, b->body) &&
           same_text(a->user_agent, b->user_agent) && a->timeout == b->timeout &&
           a->follow == b->follow && a->cookies == b->cookies && a->render == b->render;
}

bool same_definition(const struct grammar_definition *a, const struct grammar_definition *b)
{
    return a->given == b->given && same_pages(a, b) && same_change(a->monitor, b->monitor) &&
           a->fetch_every == b->fetch_every && same_time(&a->from, &b->from) &&
           same_time(&a->to, &b->to) && same_notify(&a->notify, &b->notify) &&
           a->compare.kind == b->compare.kind && a->compare.n == b->compare.n &&
           a->changehistory == b->changehistory && a->presentation == b->presentation &&
           a->within == b->within && a->priority == b->priority &&
           same_text(a->topic, b->topic) && same_request(&a->request, &b->request);
}

static bool same_cond(const struct grammar_cond *a, const struct grammar_cond *b)
{
    return a->kind == b->kind && same_text(a->text, b->text) && a->number == b->number &&
           a->cmp == b->cmp && same_time(&a->when, &b->when) && a->status == b->status &&
           same_text(a->element, b->element) && a->variable == b->variable &&
           a->strict == b->strict;
}

static bool same_monitoring(
        const struct grammar_monitoring *a, const struct grammar_monitoring *b)
{
    if (a->n_attributes != b->n_attributes || a->n_binds != b->n_binds ||
            a->n_conds != b->n_conds)
        return false;
    for (unsigned i = 0; i < a->n_attributes; i++)
        if (!same_text(a->attributes[i].name, b->attributes[i].name) ||
                !same_text(a->attributes[i].value, b->attributes[i].value) ||
                a->attributes[i].is_text != b->attributes[i].is_text)
            return false;
    for (unsigned i = 0; i < a->n_binds; i++)
        if (a->binds[i].any_depth != b->binds[i].any_depth ||
                !same_text(a->binds[i].element, b->binds[i].element) ||
                !same_text(a->binds[i].variable, b->binds[i].variable))
            return false;
    for (unsigned i = 0; i < a->n_conds; i++)
        if (!same_cond(&a->conds[i], &b->conds[i]))
            return false;
    return same_text(a->name, b->name) && same_text(a->variable, b->variable) &&
           same_text(a->element, b->element);
}

static bool same_report(const struct grammar_report *a, const struct grammar_report *b)
{
    if (!a || !b)
        return a == b;
    if (a->n_events != b->n_events)
        return false;
    for (unsigned i = 0; i < a->n_events; i++) {
        const struct grammar_revent *x = &a->events[i], *y = &b->events[i];
        if (x->kind != y->kind || x->freq != y->freq || x->weekday != y->weekday ||
                x->month != y->month || x->day != y->day || !same_text(x->name, y->name) ||
                x->at_least != y->at_least || x->count != y->count)
            return false;
    }
    return same_text(a->query, b->query) && a->atmost_count == b->atmost_count &&
           a->atmost_freq == b->atmost_freq && a->archive == b->archive;
}

static bool same_subscription(
        const struct grammar_subscription *a, const struct grammar_subscription *b)
{
    if (a->n_monitoring != b->n_monitoring || a->n_continuous != b->n_continuous ||
            a->n_refresh != b->n_refresh || a->n_virtuals != b->n_virtuals)
        return false;
    for (unsigned i = 0; i < a->n_monitoring; i++)
        if (!same_monitoring(&a->monitoring[i], &b->monitoring[i]))
            return false;
    for (unsigned i = 0; i < a->n_continuous; i++) {
        const struct grammar_continuous *x = &a->continuous[i], *y = &b->continuous[i];
        if (!same_text(x->name, y->name) || x->delta != y->delta ||
                !same_text(x->query, y->query) || x->freq != y->freq ||
                !same_text(x->when_subscription, y->when_subscription) ||
                !same_text(x->when_query, y->when_query))
            return false;
    }
    for (unsigned i = 0; i < a->n_refresh; i++)
        if (!same_text(a->refresh[i].url, b->refresh[i].url) ||
                a->refresh[i].freq != b->refresh[i].freq)
            return false;
    for (unsigned i = 0; i < a->n_virtuals; i++)
        if (!same_text(a->virtuals[i].subscription, b->virtuals[i].subscription) ||
                !same_text(a->virtuals[i].query, b->virtuals[i].query))
            return false;
    return same_report(a->report, b->report);
}

bool same_statement(const struct grammar_statement *a, const struct grammar_statement *b)
{
    if (a->verb != b->verb || !same_text(a->name, b->name) || a->or_replace != b->or_replace ||
            a->cascade != b->cascade || !a->definition != !b->definition ||
            !a->subscription != !b->subscription)
        return false;
    return (!a->definition || same_definition(a->definition, b->definition)) &&
           (!a->subscription || same_subscription(a->subscription, b->subscription));
}
