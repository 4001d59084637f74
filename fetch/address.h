/* address -- which network addresses a fetch may connect to.
 *
 * Pure: addresses and tables in, an answer out.  It is asked about the very address of
 * each connect, after DNS, so there is no second parser of URLs to disagree with.
 */
#pragma once
#include "base/fault.h"

struct sockaddr;

struct fetch_address {
    bool v6;
    unsigned char bytes[16]; /* network order; the first 4 when not v6 */
};

struct fetch_cidr {
    struct fetch_address base;
    unsigned bits;
};

struct fetch_policy {
    const struct fetch_cidr *allow; /* these although they are not public */
    size_t nallow;
};

enum { FETCH_ADDRESS_TEXT_SIZE = 64, FETCH_CIDR_TEXT_SIZE = 72 };

bool fetch_address_parse(const char *text, struct fetch_address *ret_address);
bool fetch_address_of(const struct sockaddr *sa, struct fetch_address *ret_address);
/* Returns `text`. */
const char *fetch_address_text(
        const struct fetch_address *a, char text[FETCH_ADDRESS_TEXT_SIZE]);

MUST_USE enum err fetch_cidr_parse(
        const char *text, struct fault *f, struct fetch_cidr *ret_cidr);
bool fetch_cidr_contains(const struct fetch_cidr *c, const struct fetch_address *a);

bool fetch_address_is_public(const struct fetch_address *a);
bool fetch_address_is_allowed(const struct fetch_policy *p, const struct fetch_address *a);

/* The smallest block of our tables around an address that is not public: what a person
 * would write after --allow.  Returns `text`. */
const char *fetch_address_block(const struct fetch_address *a, char text[FETCH_CIDR_TEXT_SIZE]);
