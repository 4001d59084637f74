/* The demo site: alive, deterministic, honest about its versions, fetched by fetch. */
#include "tests/fetch/web.h"
#include "web/pages.h"
#include "web/site.h"
#include <libxml/HTMLparser.h>

static char *page_at(struct arena *life, const char *path, msec now)
{
    BUF(out, WEB_PAGE_BYTES_MAX);
    struct web_page page;
    if (!web_page_write(path, now, &out, &page) || out.overflowed)
        return NULL;
    return arena_strdup(life, buf_text(&out));
}

static const msec NOON = 1794830400000;

TEST(deterministic, "the same moment shows the same page, and a living page changes in time")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const struct {
        const char *path;
        msec step;
    } pages[] = {{"/news.html", 7000}, {"/prices.html", 5000}, {"/weather.html", 11000},
            {"/links.html", 9000}, {"/calm.html", 1000}};
    for (size_t i = 0; i < countof(pages); i++)
        for (int k = 0; k < 200; k++) {
            msec now = NOON - NOON % pages[i].step + k * pages[i].step;
            char *a = page_at(life, pages[i].path, now);
            REQUIRE(a);
            EXPECT_TEXT(page_at(life, pages[i].path, now + pages[i].step - 1), a);
            if (strcmp(page_at(life, pages[i].path, now + pages[i].step), a) == 0)
                test_fail(__FILE__, __LINE__, "%s does not change at %" PRId64, pages[i].path,
                        now);
        }
    EXPECT_TEXT(page_at(life, "/", NOON), page_at(life, "/", NOON + MSEC_PER_DAY));
    EXPECT(!page_at(life, "/nothing", NOON));
}

TEST(links_step, "from one step to the next exactly one link comes or goes")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    int before = -1;
    for (int k = 0; k < 50; k++) {
        int n = 0;
        for (const char *p = page_at(life, "/links.html", NOON + k * 9000);
                (p = strstr(p, "/places/")); p++)
            n++;
        EXPECT(before < 0 || n == before + 1 || n == before - 1);
        EXPECT(n > 0);
        before = n;
    }
}

TEST(articles, "an article in the news has a page, one from an hour ago has none any more")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    long long newest = NOON / 7000;
    EXPECT(page_at(life, arena_printf(life, "/article/%lld.html", newest), NOON));
    EXPECT(page_at(life, arena_printf(life, "/article/%lld.html", newest - 4), NOON));
    EXPECT(!page_at(life, arena_printf(life, "/article/%lld.html", newest - 500), NOON));
    EXPECT(!page_at(life, arena_printf(life, "/article/%lld.html", newest + 1), NOON));
    EXPECT(!page_at(life, "/article/x.html", NOON));
}

/* What a reader sees of the calm page: libxml2's text of it, scripts and comments left out. */
static char *visible(struct arena *life, const char *html)
{
    htmlDocPtr doc = htmlReadMemory(html, (int)strlen(html), NULL, "utf-8",
            HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    for (xmlNode *n = xmlDocGetRootElement(doc), *next; n; n = next) {
        next = n->children ? n->children : n->next;
        for (xmlNode *up = n; !next && (up = up->parent);)
            next = up->next;
        if (n->type == XML_COMMENT_NODE ||
                (n->name && strcmp((const char *)n->name, "script") == 0)) {
            next = n->next ? n->next : n->parent->next;
            xmlUnlinkNode(n);
            xmlFreeNode(n);
        }
    }
    xmlChar *text = xmlNodeGetContent(xmlDocGetRootElement(doc));
    char *copy = arena_strdup(life, (const char *)text), *to = copy;
    for (const char *from = copy; *from; from++) /* white space runs are one space */
        if (!strchr(" \n", *from))
            *to++ = *from;
        else if (to == copy || to[-1] != ' ')
            *to++ = ' ';
    *to = 0;
    xmlFree(text);
    xmlFreeDoc(doc);
    return copy;
}

TEST(calm, "the calm page changes every second, and nothing that a reader sees does")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    char *first = visible(life, page_at(life, "/calm.html", NOON));
    EXPECT(strstr(first, "a tree and a view. The caf\xc3\xa9 closes"));
    for (int k = 1; k < 20; k++)
        EXPECT_TEXT(visible(life, page_at(life, "/calm.html", NOON + k * 1000)), first);
}

TEST(served, "the site answers, with 304 for what has not changed")
{
    WEB(w, &web_options);
    struct clock_fixed clock;
    clock_fixed_init(&clock, NOON, 0);
    struct web_site *site;
    struct fault f;
    REQUIRE(web_site_start(w.life,
                    &(struct web_site_options){.clock = &clock.clock, .living = 9}, &f,
                    &site) == OK);
    const char *url = web_site_url(site);
    struct answer *a = web_get(&w, "%s/news.html", url), again;
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(a->body, page_at(w.life, "/news.html", NOON));
    EXPECT_TEXT(a->content_type, "text/html; charset=utf-8");
    EXPECT(a->etag[0] == '"');
    struct fetch_request r = {.url = a->final_url, .etag = a->etag};
    web_start(&w, &again, &r);
    web_wait(&w, &again);
    EXPECT_INT(again.outcome, FETCH_NOT_MODIFIED);
    clock.wall += 7000;
    web_start(&w, &again, &r);
    web_wait(&w, &again);
    EXPECT_INT(again.outcome, FETCH_OK);

    a = web_get(&w, "%s/prices.html", url);
    EXPECT_INT(a->last_modified_at, clock.wall - clock.wall % 5000);
    r = (struct fetch_request){.url = a->final_url, .last_modified = a->last_modified};
    web_start(&w, &again, &r);
    web_wait(&w, &again);
    EXPECT_INT(again.outcome, FETCH_NOT_MODIFIED);

    a = web_get(&w, "%s/weather.html", url);
    EXPECT(a->outcome == FETCH_OK && !a->etag[0] && !a->last_modified[0]);
    EXPECT_INT(web_get(&w, "%s/", url)->outcome, FETCH_OK);
    EXPECT(web_get(&w, "%s/article/1.html", url)->gone);

    a = web_get(&w, "%s/living/9.html", url); /* living pages too go with the clock */
    r = (struct fetch_request){.url = a->final_url, .etag = a->etag};
    web_start(&w, &again, &r);
    web_wait(&w, &again);
    EXPECT_INT(again.outcome, FETCH_NOT_MODIFIED);
    clock.wall += 4000;
    web_start(&w, &again, &r);
    web_wait(&w, &again);
    EXPECT_INT(again.outcome, FETCH_OK);
    EXPECT(web_get(&w, "%s/living/10.html", url)->gone);
    EXPECT(web_get(&w, "%s/living/0.html", url)->gone);
    web_site_stop(site);
    web_site_stop(site);
    EXPECT_INT(web_get(&w, "%s/", url)->outcome, FETCH_FAILED);
}

/* Whether the living page is another than the one the answer holds. */
static bool living_changed(struct web *w, const struct answer *had)
{
    struct answer now;
    struct fetch_request r = {.url = had->final_url,
            .etag = had->etag[0] ? had->etag : NULL,
            .last_modified = had->last_modified[0] ? had->last_modified : NULL};
    web_start(w, &now, &r);
    web_wait(w, &now);
    CHECK(now.outcome == FETCH_OK || now.outcome == FETCH_NOT_MODIFIED);
    return now.outcome == FETCH_OK && strcmp(now.body, had->body) != 0;
}

TEST(early, "who first looks at a living page sees its next turn within a second, then its "
            "usual ones")
{
    WEB(w, &web_options);
    struct clock_fixed clock;
    struct web_site *site;
    struct fault f;
    struct web_site_options o = {.clock = &clock.clock, .living = 100, .first_turn = 500};
    clock_fixed_init(&clock, NOON, 0);
    REQUIRE(web_site_start(w.life, &o, &f, &site) == OK);
    for (unsigned page = 1; page <= 100; page++) { /* at many moments of their steps */
        clock.wall += 137;
        struct answer *first = web_get(&w, "%s/living/%u.html", web_site_url(site), page);
        bool soon = living_changed(&w, first);
        EXPECT(!soon);
        clock.wall += 1000;
        EXPECT(living_changed(&w, first));
        struct answer *second = web_get(&w, "%s/living/%u.html", web_site_url(site), page);
        clock.wall += 8000; /* no turn was left out for it, and none is shown twice */
        EXPECT(living_changed(&w, second) && living_changed(&w, first));
        clock.wall -= 9000;
    }
    struct fetch_stats stats;
    fetch_stats_get(w.fetch, &stats);
    EXPECT_INT(stats.connections, 1); /* kept from one to the next */
    web_site_stop(site);
}

TEST(busy, "a port that is taken is refused with what to do")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary taken;
    struct web_site *site;
    struct fault f;
    server_canary(life, "127.0.0.1", &taken);
    struct web_site_options o = {.clock = &clock_system, .port = taken.port};
    EXPECT(web_site_start(life, &o, &f, &site) == ERR_NET);
    EXPECT(f.hint[0]);
    o.port = 70000;
    EXPECT(web_site_start(life, &o, &f, &site) == ERR_NET);
}
TEST_MAIN()
