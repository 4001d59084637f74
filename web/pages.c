/* The pages of the demo site.
 *
 * Each page counts steps of its own length since 1970; what it says is a function of that
 * number, mixed so that it looks like life.  It must hold that
 *  (1) the same moment gives the same bytes, and
 *  (2) the calm page changes only in what no reader can see: comments, scripts, the order
 *      of attributes, white space and how a letter is written.
 */
#include "web/pages.h"
#include <stdio.h>
#include <string.h>

enum {
    NEWS_STEP = 7000,
    NEWS_SHOWN = 5,
    NEWS_KEPT = 40,
    PRICE_STEP = 5000,
    WEATHER_STEP = 11000,
    LINKS_STEP = 9000,
    CALM_STEP = 1000,
};

static uint64_t mix(uint64_t n)
{
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
    return n ^ (n >> 31);
}

/* One of `count`, chosen by number `n` and a word for the purpose. */
static size_t choose(uint64_t n, uint64_t purpose, size_t count)
{
    return (size_t)(mix(n * 31 + mix(purpose)) % count);
}

static void head(struct buf *out, const char *title)
{
    buf_printf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>%s</title>\n<style>\n"
            "body { font: 17px/1.5 Georgia, serif; color: #222; background: #faf8f3;"
            " max-width: 42em; margin: 2em auto; padding: 0 1em; }\n"
            "h1 { font-size: 1.6em; border-bottom: 3px double #b9a; padding-bottom: .3em; }\n"
            "h2 { font-size: 1.15em; margin-bottom: .2em; }\n"
            "a { color: #245; } nav a { margin-right: 1em; }\n"
            "table { border-collapse: collapse; } td, th { padding: .3em 1em; text-align: left;"
            " border-bottom: 1px solid #ddd; }\n"
            "footer { margin-top: 3em; font-size: .8em; color: #888; }\n"
            "</style>\n</head>\n<body>\n"
            "<nav><a href=\"/\">Home</a><a href=\"/news.html\">News</a>"
            "<a href=\"/prices.html\">Prices</a><a href=\"/weather.html\">Weather</a>"
            "<a href=\"/links.html\">Links</a><a href=\"/calm.html\">Calm</a></nav>\n"
            "<h1>%s</h1>\n",
            title, title);
}

static void foot(struct buf *out)
{
    buf_puts(out, "<footer>A small site that changes by itself, to be watched by Vigil."
                  "</footer>\n</body>\n</html>\n");
}

static void index_page(struct buf *out)
{
    head(out, "Littlehaven");
    buf_puts(out,
            "<p>Littlehaven is a town of a few pages. Nobody lives here, yet it changes every "
            "few\n"
            "seconds, so that there is something to watch.</p>\n<ul>\n"
            "<li><a href=\"/news.html\">The Courier</a>: a new article every seven seconds, "
            "the\n"
            "oldest one goes</li>\n"
            "<li><a href=\"/prices.html\">Market prices</a>: one price changes every five\n"
            "seconds</li>\n"
            "<li><a href=\"/weather.html\">Weather</a>: one sentence changes every eleven\n"
            "seconds</li>\n"
            "<li><a href=\"/links.html\">Directory</a>: links come and go every nine "
            "seconds</li>\n"
            "<li><a href=\"/calm.html\">A calm place</a>: its source changes each second and "
            "its\n"
            "content never does; a good monitor has nothing to say about it</li>\n"
            "<li><a href=\"/living/1.html\">A long page</a>: every four seconds a link, an "
            "image,\n"
            "a word, a price or an errand</li>\n</ul>\n");
    foot(out);
}

static void headline(uint64_t n, char *text, size_t size)
{
    static const char *const who[] = {"The mayor", "A fisherman", "The school choir",
            "The night watch", "A retired clockmaker", "The ferry company", "The baker's guild",
            "A group of pupils", "The lighthouse keeper", "The town council", "A visiting poet",
            "The volunteer fire brigade"};
    static const char *const does[] = {"opens", "repairs", "paints", "discovers", "defends",
            "celebrates", "rebuilds", "measures", "photographs", "gives away"};
    static const char *const what[] = {"the old harbour bridge", "a forgotten cellar",
            "the market fountain", "three hundred lanterns", "the town clock",
            "a new footpath to the dunes", "the largest pumpkin so far", "the reading room",
            "a map from 1782", "the winter timetable", "an unusually tidy boat"};
    snprintf(text, size, "%s %s %s", who[choose(n, 1, countof(who))],
            does[choose(n, 2, countof(does))], what[choose(n, 3, countof(what))]);
}

static const char *teaser(uint64_t n)
{
    static const char *const texts[] = {
            "The work took longer than planned, and everybody agrees that it was worth it.",
            "Neighbours came with tea and good advice, most of it contradictory.",
            "A second part is to follow as soon as the paint has dried.",
            "There was applause, then rain, then more applause.",
            "The archive holds a letter that mentions the very same thing in 1911.",
            "Asked about the cost, those responsible pointed at the sea.",
            "Children under twelve may have a look on Thursday afternoon."};
    return texts[n * 3 % countof(texts)]; /* so that those shown at once differ */
}

static void news_page(uint64_t step, struct buf *out)
{
    head(out, "The Littlehaven Courier");
    for (uint64_t n = step; n > step - NEWS_SHOWN; n--) {
        char title[200];
        headline(n, title, sizeof(title));
        buf_printf(out,
                "<article>\n<h2><a href=\"/article/%llu.html\">%s</a></h2>\n<p>%s</p>\n"
                "</article>\n",
                (unsigned long long)n, title, teaser(n));
    }
    foot(out);
}

/* Articles that are still kept have a page of their own; older ones are gone. */
static bool article_page(const char *path, uint64_t newest, struct buf *out)
{
    unsigned long long n;
    char title[200];
    int end = -1;
    if (sscanf(path, "/article/%llu.html%n", &n, &end) != 1 || end < 0 || path[end] ||
            n > newest || n + NEWS_KEPT <= newest)
        return false;
    headline(n, title, sizeof(title));
    head(out, title);
    buf_printf(out, "<p>%s</p>\n<p>%s</p>\n<p><a href=\"/news.html\">All news</a></p>\n",
            teaser(n), teaser(n + 1));
    foot(out);
    return true;
}

/* Every step one good has a new price: the one whose turn it is. */
static void prices_page(uint64_t step, struct buf *out)
{
    static const struct {
        const char *name, *unit;
        unsigned cents;
    } goods[] = {{"herring", "per kilo", 640}, {"brown bread", "per loaf", 385},
            {"apples", "per kilo", 290}, {"goat cheese", "per wheel", 720},
            {"honey", "per jar", 590}, {"candles", "per dozen", 450}};
    head(out, "Market prices");
    buf_puts(out, "<table>\n<tr><th>Today</th><th>Unit</th></tr>\n");
    for (size_t i = 0; i < countof(goods); i++) {
        uint64_t turn = (step + countof(goods) - i) / countof(goods);
        unsigned cents = goods[i].cents + (unsigned)choose(turn, 10 + i, 24) * 5 +
                         (turn % 2 ? 2 : 0); /* two turns running never agree */
        /* Name and price in one cell: a report then says whose price it is. */
        buf_printf(out, "<tr><td>%s at %u.%02u</td><td>%s</td></tr>\n", goods[i].name,
                cents / 100, cents % 100, goods[i].unit);
    }
    buf_puts(out, "</table>\n");
    foot(out);
}

static void weather_page(uint64_t step, struct buf *out)
{
    static const char *const sky[] = {"Clear sky", "High clouds", "Light rain from the west",
            "Fog over the harbour", "Sunshine between showers", "A stiff breeze",
            "Thunder in the distance"};
    unsigned degrees = 8 + (unsigned)choose(step, 21, 12);
    head(out, "Weather");
    buf_puts(out,
            "<p>The weather station stands behind the town hall and is read by hand.</p>\n");
    buf_printf(out, "<p id=\"now\">%s, %u degrees, reading number %llu.</p>\n",
            sky[choose(step, 20, countof(sky))], degrees, (unsigned long long)step % 100000);
    buf_puts(out, "<h2>Tides</h2>\n<ul>\n<li>High water in the morning</li>\n"
                  "<li>Low water after lunch</li>\n</ul>\n");
    foot(out);
}

/* Of twelve places, the turn of the step decides which ones are listed; from one step to
 * the next exactly one comes or goes. */
static void links_page(uint64_t step, struct buf *out)
{
    static const struct {
        const char *path, *name;
    } places[] = {{"boatyard", "Boatyard"}, {"library", "Library"}, {"bakery", "Bakery"},
            {"museum", "Museum of Knots"}, {"school", "School"}, {"inn", "The Anchor Inn"},
            {"choir", "Choir"}, {"ferry", "Ferry timetable"}, {"dunes", "Dune walks"},
            {"observatory", "Observatory"}, {"market", "Market"}, {"press", "Printing press"}};
    head(out, "Directory");
    buf_puts(out, "<ul>\n");
    for (size_t i = 0; i < countof(places); i++) {
        uint64_t flips = (step + countof(places) - i) / countof(places);
        if ((flips + i) % 2)
            buf_printf(out, "<li><a href=\"/places/%s.html\">%s</a></li>\n", places[i].path,
                    places[i].name);
    }
    buf_puts(out, "</ul>\n");
    foot(out);
}

/* (2) */
static void calm_page(uint64_t step, struct buf *out)
{
    bool odd = step % 2;
    head(out, "A calm place");
    buf_printf(out, "<!-- rendered as number %llu -->\n", (unsigned long long)step);
    buf_printf(out, "<script nonce=\"%016llx\">window.rendered = %llu;</script>\n",
            (unsigned long long)mix(step), (unsigned long long)step);
    buf_printf(out, "<p %s>Here is a bench, a tree and%sa view. The caf%s closes at six.</p>\n",
            odd ? "id=\"view\" class=\"quiet\"" : "class=\"quiet\" id=\"view\"",
            odd ? "\n    " : " ", odd ? "&eacute;" : "\xc3\xa9");
    buf_puts(out, "<p>Nothing ever happens.</p>\n");
    foot(out);
}

static bool place_page(const char *path, struct buf *out)
{
    if (strncmp(path, "/places/", 8) != 0 ||
            strspn(path + 8, "abcdefghijklmnopqrstuvwxyz") + 13 != strlen(path) ||
            strcmp(path + strlen(path) - 5, ".html") != 0)
        return false;
    head(out, "A place in Littlehaven");
    buf_puts(out, "<p>Open when the door is open.</p>\n");
    foot(out);
    return true;
}

struct kind {
    const char *path;
    msec step; /* 0: it never changes */
    enum web_validator validator;
    void (*write)(uint64_t step, struct buf *out);
};

static const struct kind kinds[] = {
        {"/news.html", NEWS_STEP, WEB_ETAG, news_page},
        {"/prices.html", PRICE_STEP, WEB_LAST_MODIFIED, prices_page},
        {"/weather.html", WEATHER_STEP, WEB_PLAIN, weather_page},
        {"/links.html", LINKS_STEP, WEB_ETAG, links_page},
        {"/calm.html", CALM_STEP, WEB_PLAIN, calm_page},
};

bool web_page_write(const char *path, msec now, struct buf *out, struct web_page *ret_page)
{
    if (now < 0)
        now = 0;
    for (size_t i = 0; i < countof(kinds); i++) {
        if (strcmp(path, kinds[i].path) != 0)
            continue;
        kinds[i].write((uint64_t)(now / kinds[i].step), out);
        *ret_page = (struct web_page){kinds[i].validator, now - now % kinds[i].step};
        return true;
    }
    *ret_page = (struct web_page){WEB_ETAG, 0};
    if (strcmp(path, "/") == 0 || strcmp(path, "/index.html") == 0) {
        index_page(out);
        return true;
    }
    return article_page(path, (uint64_t)(now / NEWS_STEP), out) || place_page(path, out);
}
