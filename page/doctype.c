/* The doctype: whether a page is to be read in quirks mode, as pages of the last century are.
 *
 * For the tree that means one thing: a table does not end the paragraph it stands in.  The
 * names below are the HTML standard's.
 */
#include "page/page_int.h"

static const char *const quirky_publics[] = {
        "-/W3C/DTD HTML 4.0 Transitional/EN",
        "-//W3O//DTD W3 HTML Strict 3.0//EN//",
        "HTML",
};

static const char *const quirky_prefixes[] = {
        "+//Silmaril//dtd html Pro v0r11 19970101//",
        "-//AS//DTD HTML 3.0 asWedit + extensions//",
        "-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//",
        "-//IETF//DTD HTML 2.0 Level 1//",
        "-//IETF//DTD HTML 2.0 Level 2//",
        "-//IETF//DTD HTML 2.0 Strict Level 1//",
        "-//IETF//DTD HTML 2.0 Strict Level 2//",
        "-//IETF//DTD HTML 2.0 Strict//",
        "-//IETF//DTD HTML 2.0//",
        "-//IETF//DTD HTML 2.1E//",
        "-//IETF//DTD HTML 3.0//",
        "-//IETF//DTD HTML 3.2 Final//",
        "-//IETF//DTD HTML 3.2//",
        "-//IETF//DTD HTML 3//",
        "-//IETF//DTD HTML Level 0//",
        "-//IETF//DTD HTML Level 1//",
        "-//IETF//DTD HTML Level 2//",
        "-//IETF//DTD HTML Level 3//",
        "-//IETF//DTD HTML Strict Level 0//",
        "-//IETF//DTD HTML Strict Level 1//",
        "-//IETF//DTD HTML Strict Level 2//",
        "-//IETF//DTD HTML Strict Level 3//",
        "-//IETF//DTD HTML Strict//",
        "-//IETF//DTD HTML//",
        "-//Metrius//DTD Metrius Presentational//",
        "-//Microsoft//DTD Internet Explorer 2.0 HTML Strict//",
        "-//Microsoft//DTD Internet Explorer 2.0 HTML//",
        "-//Microsoft//DTD Internet Explorer 2.0 Tables//",
        "-//Microsoft//DTD Internet Explorer 3.0 HTML Strict//",
        "-//Microsoft//DTD Internet Explorer 3.0 HTML//",
        "-//Microsoft//DTD Internet Explorer 3.0 Tables//",
        "-//Netscape Comm. Corp.//DTD HTML//",
        "-//Netscape Comm. Corp.//DTD Strict HTML//",
        "-//O'Reilly and Associates//DTD HTML 2.0//",
        "-//O'Reilly and Associates//DTD HTML Extended 1.0//",
        "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
        "-//SQ//DTD HTML 2.0 HoTMetaL + extensions//",
        "-//SoftQuad Software//DTD HoTMetaL PRO 6.0::19990601::extensions to HTML 4.0//",
        "-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//",
        "-//Spyglass//DTD HTML 2.0 Extended//",
        "-//Sun Microsystems Corp.//DTD HotJava HTML//",
        "-//Sun Microsystems Corp.//DTD HotJava Strict HTML//",
        "-//W3C//DTD HTML 3 1995-03-24//",
        "-//W3C//DTD HTML 3.2 Draft//",
        "-//W3C//DTD HTML 3.2 Final//",
        "-//W3C//DTD HTML 3.2//",
        "-//W3C//DTD HTML 3.2S Draft//",
        "-//W3C//DTD HTML 4.0 Frameset//",
        "-//W3C//DTD HTML 4.0 Transitional//",
        "-//W3C//DTD HTML Experimental 19960712//",
        "-//W3C//DTD HTML Experimental 970421//",
        "-//W3C//DTD W3 HTML//",
        "-//W3O//DTD W3 HTML 3.0//",
        "-//WebTechs//DTD Mozilla HTML 2.0//",
        "-//WebTechs//DTD Mozilla HTML//",
};

static const char *const quirky_prefixes_without_system[] = {
        "-//W3C//DTD HTML 4.01 Frameset//",
        "-//W3C//DTD HTML 4.01 Transitional//",
};

static bool starts_with_one_of(struct str s, const char *const *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts_nocase(s, str_of(all[i])))
            return true;
    return false;
}

static struct str skip(struct str s, size_t n)
{
    return (struct str){s.ptr + n, s.len - n};
}

static struct str skip_spaces(struct str s)
{
    while (s.len && is_space(s.ptr[0]))
        s = skip(s, 1);
    return s;
}

/* Takes the quoted identifier at the beginning of *s; false: there is none, or no end. */
static bool identifier_take(struct str *s, struct str *ret)
{
    *s = skip_spaces(*s);
    if (s->len == 0 || (s->ptr[0] != '"' && s->ptr[0] != '\''))
        return false;
    const char *end = memchr(s->ptr + 1, s->ptr[0], s->len - 1);
    if (!end)
        return false;
    *ret = (struct str){s->ptr + 1, (size_t)(end - s->ptr) - 1};
    *s = skip(*s, ret->len + 2);
    return true;
}

static bool names_are_quirky(struct str public_id, struct str system_id, bool has_system)
{
    for (size_t i = 0; i < countof(quirky_publics); i++)
        if (str_equal_nocase(public_id, str_of(quirky_publics[i])))
            return true;
    return str_equal_nocase(system_id,
                   STR("http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd")) ||
           starts_with_one_of(public_id, quirky_prefixes, countof(quirky_prefixes)) ||
           (!has_system && starts_with_one_of(public_id, quirky_prefixes_without_system,
                                   countof(quirky_prefixes_without_system)));
}

bool doctype_is_quirky(struct str s)
{
    struct str public_id = STR(""), system_id = STR("");
    bool has_system = false;
    size_t name = 0;

    s = skip_spaces(s);
    while (name < s.len && !is_space(s.ptr[name]))
        name++;
    if (!str_equal_nocase((struct str){s.ptr, name}, STR("html")))
        return true;
    s = skip_spaces(skip(s, name));
    if (s.len == 0)
        return false;
    if (str_starts_nocase(s, STR("public"))) {
        s = skip(s, 6);
        if (!identifier_take(&s, &public_id))
            return true;
        s = skip_spaces(s);
        has_system = s.len > 0;
    } else if (str_starts_nocase(s, STR("system"))) {
        s = skip(s, 6);
        has_system = true;
    } else {
        return true;
    }
    if (has_system && !identifier_take(&s, &system_id))
        return true;
    return names_are_quirky(public_id, system_id, has_system);
}
