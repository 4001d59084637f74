/* block -- how a page digest is written down: what finish.c writes and digest.c reads.
 *
 *     header | counts | names, kinds, nodes, values, texts, links, images, base
 *
 * A block is stored with every version of a page, so it is small: an element is mostly one
 * byte, the number of its kind (name, names of attributes, few children); a text is one byte
 * and its bytes; a value is told once, by what it adds to the one before of the same name; an
 * address by the value that it was written as.  Numbers are varints: seven bits a byte, the
 * lowest first, the highest bit set in all but the last.
 *
 * Whoever changes anything here, names.def included, raises DIGEST_VERSION: blocks of another
 * version are made again from the body.
 */
#pragma once
#include "page/page_int.h"

#define DIGEST_MAGIC "VIGILPD"
enum { DIGEST_VERSION = 5 };

struct digest_header {
    char magic[8]; /* DIGEST_MAGIC */
    uint32_t version;
    uint8_t type, malformed_xml;
    uint16_t unused; /* zero */
    struct hash128 source, hash[PAGE_ARRAY_COUNT];
};

/* Behind the header, each a varint. */
enum digest_count {
    COUNT_SOURCE_BYTES,
    COUNT_KINDS,
    COUNT_NODES,
    COUNT_ATTRIBUTES,
    COUNT_TEXTS,
    COUNT_VALUES,
    COUNT_LINKS,
    COUNT_IMAGES,
    COUNT_VALUE_BYTES, /* written out, a zero byte each; the same of links and images */
    COUNT_LINK_BYTES,
    COUNT_IMAGE_BYTES,
    COUNT_PARTS, /* from here: the bytes of each part */
};

enum digest_part {
    PART_NAMES,  /* those that are not common: varint length, bytes */
    PART_KINDS,  /* of elements: name, few children and number of attributes (kind_shape),
                    names of attributes */
    PART_NODES,  /* in preorder, see below */
    PART_VALUES, /* of attributes: what each adds to the one before of the same name */
    PART_TEXTS,  /* one behind the other */
    PART_LINKS,  /* sorted, see below */
    PART_IMAGES,
    PART_BASE,
    PART_COUNT
};

enum { COUNT_COUNT = (int)COUNT_PARTS + (int)PART_COUNT };

/* A name in a kind: NAME_NEW, the next of PART_NAMES; up to NAME_COMMON_MAX, one of names.def;
 * above it, one that was new before, counted from 0. */
enum { NAME_NEW = 0, NAME_COMMON_MAX = 119 };

/* Its number in names.def, from 1 on; NAME_NEW: it is not common. */
uint32_t common_name_find(struct str name);
/* NULL: there is none of this number. */
const char *common_name(uint32_t number);

/* Children from KIND_MANY on are told where the element stands. */
enum { KIND_MANY = 6 };

static inline uint32_t kind_shape(uint32_t children, uint32_t attributes)
{
    return (children < KIND_MANY ? children : KIND_MANY) + (KIND_MANY + 1) * attributes;
}

/* Codes of PART_NODES: below CODE_TEXT a kind (CODE_KIND_LONG: a varint more), else a text:
 * whether it begins a block and its length (CODE_TEXT_LONG: a varint more).
 *
 * Behind a kind: where there are many children, a varint of how many more than KIND_MANY; and
 * for each attribute a varint, the number of its value from 1 on, or VALUE_NEW.  Behind
 * VALUE_NEW a byte: how many bytes it has in common with the value before of the same name
 * (four high bits; VALUE_LONG: a varint more), and how many are its own. */
enum {
    CODE_KIND_LONG = 0x7F,
    CODE_TEXT = 0x80,
    CODE_TEXT_BEGINS = 0x40,
    CODE_TEXT_LONG = 0x3F,
    VALUE_NEW = 0,
    VALUE_LONG = 15,
};

/* An address: ADDRESS_SPELLED, then what it has in common with the one before and how much is
 * its own, varints, and its own bytes; or the number of a value from 1 on, and how much of the
 * base is in front of it. */
enum { ADDRESS_SPELLED = 0 };
