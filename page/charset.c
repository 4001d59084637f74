/* Labels of character sets, as the encoding standard of the web understands them.
 *
 * A label is what servers write, not what a library would call it: iso-8859-1 has meant
 * windows-1252 for thirty years, gb2312 means GB18030, shift_jis what Windows makes of it.
 */
#include "page/page_int.h"
#include "page/worker_int.h"
#include <iconv.h>

struct row {
    const char *name;
    enum charset_how how;
    const char *labels; /* in lower case, a space between them */
};

/* The labels of the encoding standard.  Sorted by use: a page asks once. */
static const struct row rows[] = {
        {"utf-8", CHARSET_UTF8,
                "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
        {"windows-1252", CHARSET_1252,
                "iso-8859-1 windows-1252 latin1 iso8859-1 us-ascii ascii ansi_x3.4-1968 cp1252 "
                "cp819 csisolatin1 ibm819 iso-ir-100 iso88591 iso_8859-1 iso_8859-1:1987 l1 "
                "x-cp1252"},
        {"utf-16le", CHARSET_UTF16LE,
                "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"},
        {"utf-16be", CHARSET_UTF16BE, "utf-16be unicodefffe"},
        {"CP1251", CHARSET_ICONV, "windows-1251 cp1251 x-cp1251"},
        {"CP932", CHARSET_ICONV,
                "shift_jis shift-jis sjis x-sjis windows-31j ms_kanji ms932 csshiftjis"},
        {"EUC-JP-MS", CHARSET_ICONV, "euc-jp x-euc-jp cseucpkdfmtjapanese"},
        {"ISO-2022-JP", CHARSET_ICONV, "iso-2022-jp csiso2022jp"},
        {"GB18030", CHARSET_ICONV,
                "gb2312 gbk gb18030 x-gbk chinese csgb2312 csiso58gb231280 gb_2312 gb_2312-80 "
                "iso-ir-58"},
        {"BIG5-HKSCS", CHARSET_ICONV, "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
        {"CP949", CHARSET_ICONV,
                "euc-kr ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 cseuckr csksc56011987 "
                "iso-ir-149 korean windows-949"},
        {"ISO-8859-2", CHARSET_ICONV,
                "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 latin2 l2 "
                "csisolatin2 iso-ir-101"},
        {"ISO-8859-3", CHARSET_ICONV,
                "iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 latin3 l3 "
                "csisolatin3 iso-ir-109"},
        {"ISO-8859-4", CHARSET_ICONV,
                "iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 latin4 l4 "
                "csisolatin4 iso-ir-110"},
        {"ISO-8859-5", CHARSET_ICONV,
                "iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 cyrillic "
                "csisolatincyrillic iso-ir-144"},
        {"ISO-8859-6", CHARSET_ICONV,
                "iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 iso-8859-6-e "
                "iso-8859-6-i arabic asmo-708 csiso88596e csiso88596i csisolatinarabic "
                "ecma-114 iso-ir-127"},
        {"ISO-8859-7", CHARSET_ICONV,
                "iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 greek greek8 "
                "csisolatingreek ecma-118 elot_928 iso-ir-126 sun_eu_greek"},
        {"ISO-8859-8", CHARSET_ICONV,
                "iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 iso-8859-8-e "
                "iso-8859-8-i hebrew visual logical csiso88598e csiso88598i csisolatinhebrew "
                "iso-ir-138"},
        {"CP1254", CHARSET_ICONV,
                "iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 latin5 l5 "
                "windows-1254 cp1254 x-cp1254 csisolatin5 iso-ir-148"},
        {"ISO-8859-10", CHARSET_ICONV,
                "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6 iso-ir-157"},
        {"CP874", CHARSET_ICONV,
                "windows-874 iso-8859-11 iso8859-11 iso885911 tis-620 dos-874"},
        {"ISO-8859-13", CHARSET_ICONV, "iso-8859-13 iso8859-13 iso885913"},
        {"ISO-8859-14", CHARSET_ICONV, "iso-8859-14 iso8859-14 iso885914"},
        {"ISO-8859-15", CHARSET_ICONV,
                "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9"},
        {"ISO-8859-16", CHARSET_ICONV, "iso-8859-16"},
        {"CP1250", CHARSET_ICONV, "windows-1250 cp1250 x-cp1250"},
        {"CP1253", CHARSET_ICONV, "windows-1253 cp1253 x-cp1253"},
        {"CP1255", CHARSET_ICONV, "windows-1255 cp1255 x-cp1255"},
        {"CP1256", CHARSET_ICONV, "windows-1256 cp1256 x-cp1256"},
        {"CP1257", CHARSET_ICONV, "windows-1257 cp1257 x-cp1257"},
        {"CP1258", CHARSET_ICONV, "windows-1258 cp1258 x-cp1258"},
        {"KOI8-R", CHARSET_ICONV, "koi8-r koi8 koi koi8_r cskoi8r"},
        {"KOI8-U", CHARSET_ICONV, "koi8-u koi8-ru"},
        {"CP866", CHARSET_ICONV, "ibm866 cp866 866 csibm866"},
        {"MACINTOSH", CHARSET_ICONV, "macintosh mac x-mac-roman csmacintosh"},
        {"MAC-CYRILLIC", CHARSET_ICONV, "x-mac-cyrillic x-mac-ukrainian"},
};

static bool has_label(const char *labels, struct str label)
{
    for (size_t n; *labels; labels += n + (labels[n] == ' ')) {
        n = strcspn(labels, " ");
        if (str_equal_nocase((struct str){labels, n}, label))
            return true;
    }
    return false;
}

bool charset_find(struct str label, struct charset *ret)
{
    label = str_trim(label);
    for (size_t i = 0; i < countof(rows); i++) {
        if (!has_label(rows[i].labels, label))
            continue;
        *ret = (struct charset){rows[i].how, rows[i].name};
        return true;
    }
    return false;
}

void charset_load_all(void)
{
    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].how == CHARSET_ICONV)
            (void)iconv_open("UTF-8", rows[i].name); /* kept open; -1: not on this machine */
}
