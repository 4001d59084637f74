/* json -- writing JSON into a buf, commas and escapes taken care of.
 *
 * Text that is not valid UTF-8 is repaired with U+FFFD, since a reader would refuse it.
 * Names differ from jansson's, which some programs use beside it for reading.
 * Depth is limited to 64; opening and closing must balance (CHECKed).
 */
#pragma once
#include "base/buf.h"
#include "base/str.h"

struct json {
    struct buf *out;
    unsigned depth;
    uint64_t has_member; /* one bit a level: a comma is due */
    bool after_key;
};

void json_init(struct json *j, struct buf *out);
void json_object_begin(struct json *j);
void json_object_end(struct json *j);
void json_array_begin(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_text(struct json *j, const char *s); /* NULL writes null */
void json_str(struct json *j, struct str s);
void json_int(struct json *j, int64_t n);
void json_number(struct json *j, double n);
void json_bool(struct json *j, bool b);
void json_none(struct json *j);
void json_raw(struct json *j, const char *json_text); /* already JSON, taken as it is */
