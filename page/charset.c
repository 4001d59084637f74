/* Labels of character sets, as the encoding standard of the web understands them.
 *
 * A label is what servers write, not what a library would call it: iso-8859-1 has meant
 * windows-1252 for thirty years, gb2312 means GB18030, shift_jis what Windows makes of it.
 */
#include "page/page_int.h"
#include "page/worker_int.h"
#include <iconv.h>

struct label {
    const char *label, *name;
    enum charset_how how;
};

/* Sorted by use, not by name: there are few and a page asks once. */
static const struct label labels[] = {
        {"utf-8", "utf-8", CHARSET_UTF8},
        {"utf8", "utf-8", CHARSET_UTF8},
        {"unicode-1-1-utf-8", "utf-8", CHARSET_UTF8},
        {"iso-8859-1", "windows-1252", CHARSET_1252},
        {"windows-1252", "windows-1252", CHARSET_1252},
        {"latin1", "windows-1252", CHARSET_1252},
        {"iso8859-1", "windows-1252", CHARSET_1252},
        {"iso88591", "windows-1252", CHARSET_1252},
        {"iso_8859-1", "windows-1252", CHARSET_1252},
        {"l1", "windows-1252", CHARSET_1252},
        {"cp1252", "windows-1252", CHARSET_1252},
        {"x-cp1252", "windows-1252", CHARSET_1252},
        {"cp819", "windows-1252", CHARSET_1252},
        {"ascii", "windows-1252", CHARSET_1252},
        {"us-ascii", "windows-1252", CHARSET_1252},
        {"ansi_x3.4-1968", "windows-1252", CHARSET_1252},
        {"utf-16", "utf-16le", CHARSET_UTF16LE},
        {"utf-16le", "utf-16le", CHARSET_UTF16LE},
        {"utf-16be", "utf-16be", CHARSET_UTF16BE},
        {"iso-8859-2", "ISO-8859-2", CHARSET_ICONV},
        {"latin2", "ISO-8859-2", CHARSET_ICONV},
        {"iso-8859-3", "ISO-8859-3", CHARSET_ICONV},
        {"iso-8859-4", "ISO-8859-4", CHARSET_ICONV},
        {"iso-8859-5", "ISO-8859-5", CHARSET_ICONV},
        {"iso-8859-6", "ISO-8859-6", CHARSET_ICONV},
        {"iso-8859-7", "ISO-8859-7", CHARSET_ICONV},
        {"iso-8859-8", "ISO-8859-8", CHARSET_ICONV},
        {"iso-8859-8-i", "ISO-8859-8", CHARSET_ICONV},
        {"iso-8859-9", "CP1254", CHARSET_ICONV},
        {"latin5", "CP1254", CHARSET_ICONV},
        {"iso-8859-10", "ISO-8859-10", CHARSET_ICONV},
        {"iso-8859-11", "CP874", CHARSET_ICONV},
        {"tis-620", "CP874", CHARSET_ICONV},
        {"windows-874", "CP874", CHARSET_ICONV},
        {"iso-8859-13", "ISO-8859-13", CHARSET_ICONV},
        {"iso-8859-14", "ISO-8859-14", CHARSET_ICONV},
        {"iso-8859-15", "ISO-8859-15", CHARSET_ICONV},
        {"latin9", "ISO-8859-15", CHARSET_ICONV},
        {"iso-8859-16", "ISO-8859-16", CHARSET_ICONV},
        {"windows-1250", "CP1250", CHARSET_ICONV},
        {"cp1250", "CP1250", CHARSET_ICONV},
        {"windows-1251", "CP1251", CHARSET_ICONV},
        {"cp1251", "CP1251", CHARSET_ICONV},
        {"windows-1253", "CP1253", CHARSET_ICONV},
        {"windows-1254", "CP1254", CHARSET_ICONV},
        {"windows-1255", "CP1255", CHARSET_ICONV},
        {"windows-1256", "CP1256", CHARSET_ICONV},
        {"windows-1257", "CP1257", CHARSET_ICONV},
        {"windows-1258", "CP1258", CHARSET_ICONV},
        {"koi8-r", "KOI8-R", CHARSET_ICONV},
        {"koi8", "KOI8-R", CHARSET_ICONV},
        {"koi8-u", "KOI8-U", CHARSET_ICONV},
        {"ibm866", "CP866", CHARSET_ICONV},
        {"cp866", "CP866", CHARSET_ICONV},
        {"macintosh", "MACINTOSH", CHARSET_ICONV},
        {"x-mac-cyrillic", "MAC-CYRILLIC", CHARSET_ICONV},
        {"gb2312", "GB18030", CHARSET_ICONV},
        {"gbk", "GB18030", CHARSET_ICONV},
        {"x-gbk", "GB18030", CHARSET_ICONV},
        {"gb_2312-80", "GB18030", CHARSET_ICONV},
        {"gb18030", "GB18030", CHARSET_ICONV},
        {"big5", "BIG5-HKSCS", CHARSET_ICONV},
        {"big5-hkscs", "BIG5-HKSCS", CHARSET_ICONV},
        {"shift_jis", "CP932", CHARSET_ICONV},
        {"shift-jis", "CP932", CHARSET_ICONV},
        {"sjis", "CP932", CHARSET_ICONV},
        {"x-sjis", "CP932", CHARSET_ICONV},
        {"windows-31j", "CP932", CHARSET_ICONV},
        {"ms_kanji", "CP932", CHARSET_ICONV},
        {"euc-jp", "EUC-JP", CHARSET_ICONV},
        {"x-euc-jp", "EUC-JP", CHARSET_ICONV},
        {"iso-2022-jp", "ISO-2022-JP", CHARSET_ICONV},
        {"euc-kr", "CP949", CHARSET_ICONV},
        {"ks_c_5601-1987", "CP949", CHARSET_ICONV},
        {"ksc5601", "CP949", CHARSET_ICONV},
        {"windows-949", "CP949", CHARSET_ICONV},
};

bool charset_find(struct str label, struct charset *ret)
{
    label = str_trim(label);
    for (size_t i = 0; i < countof(labels); i++) {
        if (!str_equal_nocase(label, str_of(labels[i].label)))
            continue;
        *ret = (struct charset){labels[i].how, labels[i].name};
        return true;
    }
    return false;
}

void charset_load_all(void)
{
    for (size_t i = 0; i < countof(labels); i++)
        if (labels[i].how == CHARSET_ICONV)
            (void)iconv_open("UTF-8", labels[i].name); /* kept open; -1: not on this machine */
}
