/* Pages that a browser builds: with a program that behaves as the test says instead of one. */
#include "tests/fetch/web.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A "browser" whose last argument is the URL; its behaviour is the URL's path. */
static const char script[] =
        "#!/bin/sh\n"
        "for url; do :; done\n"
        "case $url in\n"
        "*/good/dom) echo \"<p>built from $url</p>\" ;;\n"
        "*/good/profile) for a; do case $a in --user-data-dir=*) d=${a#*=};; esac; done;"
        " touch \"$d/x\"; echo \"$d $HOME $VIGIL_TEST_LEAK\" ;;\n"
        "*/good/flags) echo \"$@\" ;;\n"
        "*/good/nothing) ;;\n"
        "*/good/fails) echo half; exit 3 ;;\n"
        "*/good/complains) printf 'first\\nno \\033[1msandbox\\n\\n' >&2; exit 1 ;;\n"
        "*/good/complains-for-ever) yes 'it is dark' >&2; exit 4 ;;\n"
        "*/good/error-page) echo '<div id=\"main-frame-error\"></div>' ;;\n"
        "*/good/endless) while :; do echo 0123456789012345678901234567890123456789; done ;;\n"
        "*/good/hangs) sleep 100 & sleep 100 ;;\n"
        "*/good/orphan) sleep 100 & echo '<p>done</p>' ;;\n"
        "esac\n";

static char dir[] = "/tmp/vigil-browser-XXXXXX";
static bool is_made;

static void clean_up(void)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/browser", dir);
    unlink(path);
    rmdir(dir);
}

static char *browser(struct arena *life)
{
    if (!is_made) {
        CHECK(mkdtemp(dir));
        setenv("TMPDIR", dir, 1);
        atexit(clean_up);
    }
    is_made = true;
    char *path = arena_printf(life, "%s/browser", dir);
    server_write(dir, "browser", script);
    CHECK(chmod(path, 0755) == 0);
    return path;
}

static unsigned profiles(void)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        n += strncmp(e->d_name, "vigil-render-", 13) == 0;
    if (d)
        closedir(d);
    return n;
}

static struct answer *render(struct web *w, unsigned port, const char *path)
{
    struct answer *a = arena_new_of(w->life, struct answer);
    web_start(w, a,
            &(struct fetch_request){.render = true,
                    .etag = "\"x\"",
                    .url = arena_printf(w->life, "http://127.0.0.1:%u/%s", port, path)});
    web_wait(w, a);
    return a;
}

TEST(dom, "what the browser gives back is the page")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_options o = web_options;
    o.renderer = arena_printf(life, "%s --mine", browser(life));
    WEB(w, &o);
    unsigned port = server_hostile(life, "127.0.0.1"), before = profiles();
    setenv("VIGIL_TEST_LEAK", "leaked", 1);
    struct answer *a = render(&w, port, "good/dom");
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(a->body,
            arena_printf(life, "<p>built from http://127.0.0.1:%u/good/dom</p>\n", port));
    EXPECT_TEXT(a->content_type, "text/html; charset=utf-8");
    EXPECT_TEXT(a->etag, "");
    a = render(&w, port, "good/flags");
    EXPECT(strncmp(a->body, "--mine --headless ", 18) == 0 && strstr(a->body, "--dump-dom"));
    a = render(&w, port, "good/profile");
    EXPECT(strstr(a->body, "/vigil-render-"));
    EXPECT(!strstr(a->body, "leaked"));
    /* A redirect is ours to follow and judge; the browser gets where it led. */
    a = render(&w, port, "redirect/302//good/dom");
    EXPECT(strstr(a->body, "/good/dom</p>"));
    EXPECT_INT(profiles(), before);
}

TEST(guarded, "the browser is asked only for a page that could be fetched")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_options o = web_options;
    o.renderer = browser(life);
    WEB(w, &o);
    unsigned port = server_hostile(life, "127.0.0.1");
    EXPECT(render(&w, port, "status/404")->gone);
    EXPECT(strstr(
            render(&w, port, "redirect/302/http://10.0.0.1/good/dom")->reason, "10.0.0.1"));
    o.renderer = NULL;
    WEB(none, &o);
    EXPECT_TEXT(render(&none, port, "good/dom")->reason,
            "no renderer is configured (fetch.renderer)");
}

TEST(broken, "a browser that fails, says nothing, too much or never ends is an error")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_options o = web_options;
    o.renderer = browser(life);
    o.total_timeout = 1500;
    o.max_body_bytes = 1 << 20;
    WEB(w, &o);
    unsigned port = server_hostile(life, "127.0.0.1"), before = profiles();
    EXPECT_TEXT(render(&w, port, "good/nothing")->reason, "the renderer gave nothing back");
    EXPECT_TEXT(render(&w, port, "good/fails")->reason, "the renderer ended with 3");
    EXPECT_TEXT(render(&w, port, "good/complains")->reason,
            "the renderer ended with 1: no ?[1msandbox");
    EXPECT(strstr(render(&w, port, "good/complains-for-ever")->reason,
            "the renderer ended with 4: it"));
    EXPECT_TEXT(render(&w, port, "good/error-page")->reason,
            "the renderer could not load the page");
    EXPECT_TEXT(render(&w, port, "good/endless")->reason, "the page is larger than 1 MiB");
    EXPECT_INT(render(&w, port, "good/orphan")->outcome, FETCH_OK);
    EXPECT(strncmp(render(&w, port, "good/hangs")->reason, "timed out after 1.5 s", 21) == 0);
    EXPECT_INT(profiles(), before);
}

TEST(several, "two browsers at once, the others in turn; ending ends them all")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_options o = web_options;
    o.renderer = browser(life);
    unsigned port = server_hostile(life, "127.0.0.1"), before = profiles();
    struct answer all[6], left[4];
    {
        WEB(w, &o);
        struct fetch_request r = {.render = true};
        r.url = arena_printf(life, "http://127.0.0.1:%u/good/dom", port);
        for (size_t i = 0; i < countof(all); i++)
            web_start(&w, &all[i], &r);
        for (size_t i = 0; i < countof(all); i++)
            web_wait(&w, &all[i]);
        EXPECT_INT(all[5].outcome, FETCH_OK);
        r.url = arena_printf(life, "http://127.0.0.1:%u/good/hangs", port);
        for (size_t i = 0; i < countof(left); i++)
            web_start(&w, &left[i], &r);
        for (int i = 0; i < 200 && profiles() < before + 2; i++)
            loop_run_once(w.loop);
        EXPECT_INT(profiles(), before + 2);
    }
    EXPECT_INT(profiles(), before);
}

TEST(service, "a service is asked with the page's address, wherever the service stands")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const ours[] = {"127.0.0.3"};
    unsigned site = server_hostile(life, "127.0.0.3"), port = server_hostile(life, "127.0.0.1");
    struct fetch_options o = web_options;
    o.allow = ours; /* the service's address is not among them */
    o.nallow = 1;
    o.renderer = arena_printf(life, "http://127.0.0.1:%u/echo/{url}/x", port);
    WEB(w, &o);
    struct answer *a = arena_new_of(life, struct answer);
    struct fetch_request r = {
            .render = true, .url = arena_printf(life, "http://127.0.0.3:%u/good?a=b", site)};
    r.url = arena_printf(life, "http://127.0.0.3:%u/good/?a=b", site);
    web_start(&w, a, &r);
    web_wait(&w, a);
    EXPECT_INT(a->outcome, FETCH_OK);
    char *asked = arena_printf(
            life, "GET /echo/http%%3A%%2F%%2F127.0.0.3%%3A%u%%2Fgood%%2F%%3Fa%%3Db/x ", site);
    EXPECT(strncmp(a->body, asked, strlen(asked)) == 0);
    EXPECT_TEXT(a->final_url, r.url);
    /* What is allowed to the renderer is not allowed to pages. */
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/good", port)->outcome, FETCH_FAILED);
    o.renderer = arena_printf(
            life, "http://127.0.0.1:%u/redirect/302/http://127.0.0.1:%u/good?x", port, port);
    WEB(bad, &o);
    web_start(&bad, a, &r);
    web_wait(&bad, a);
    EXPECT_TEXT(a->reason, "the server answered 302 Found");
}

TEST(wrong, "a renderer that cannot be run is refused when the fetch is made")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const wrong[] = {"chromium", "/nowhere/chromium --x", "/etc/passwd"};
    struct loop *loop = loop_new();
    for (size_t i = 0; i < countof(wrong); i++) {
        struct fetch_options o = {.renderer = wrong[i]};
        struct fetch *fe;
        struct fault f;
        EXPECT(fetch_new(life, loop, &o, &f, &fe) == ERR_SYNTAX);
        EXPECT(strstr(f.hint, "/usr/bin/chromium"));
    }
    loop_free(loop);
}
TEST_MAIN()
