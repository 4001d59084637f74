/* fuzz -- a fuzz target as an ordinary program.
 *
 * Built with -fsanitize=fuzzer (and -DFUZZING) the library's main drives it.  Otherwise the
 * main below replays the files of the directories it is given, and for each of them a number
 * of mutations that depend on nothing but the file, so a failure can be seen again.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZING
#include "base/buf.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_MUTATIONS
#define FUZZ_MUTATIONS 300 /* of each file */
#endif

static uint32_t fuzz_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void fuzz_mutate(uint8_t *bytes, size_t *len, uint32_t *state)
{
    unsigned edits = 1 + fuzz_random(state) % 4;

    for (unsigned i = 0; i < edits && *len; i++) {
        size_t at = fuzz_random(state) % *len;
        switch (fuzz_random(state) % 4) {
        case 0:
            bytes[at] = (uint8_t)fuzz_random(state);
            break;
        case 1:
            bytes[at] ^= (uint8_t)(1u << fuzz_random(state) % 8);
            break;
        case 2: /* cut */
            *len = at;
            break;
        case 3: { /* copy a piece over another */
            size_t from = fuzz_random(state) % *len, n = fuzz_random(state) % 16;
            for (size_t k = 0; k < n && from + k < *len && at + k < *len; k++)
                bytes[at + k] = bytes[from + k];
            break;
        }
        }
    }
}

/* A copy of exactly its length, so that reading behind it is seen. */
static void fuzz_one(const void *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (len)
        memcpy(copy, bytes, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static void fuzz_file(const char *path)
{
    BUF(b, 1 << 24);
    char chunk[4096];
    size_t n;
    uint32_t state = 7;
    FILE *f = fopen(path, "rb");

    if (!f)
        return;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_append(&b, chunk, n);
    fclose(f);
    fuzz_one(buf_text(&b), b.len);
    for (int i = 0; i < FUZZ_MUTATIONS; i++) {
        BUF(m, 1 << 24);
        buf_append(&m, buf_text(&b), b.len);
        size_t len = m.len;
        fuzz_mutate((uint8_t *)m.data, &len, &state);
        fuzz_one(m.data, len);
    }
}

int main(int argc, char **argv)
{
    unsigned files = 0;

    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        struct dirent *e;
        while (d && (e = readdir(d))) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] == '.')
                continue;
            fuzz_file(path);
            files++;
        }
        if (d)
            closedir(d);
    }
    printf("%s 1 - %u files and %d mutations of each do no harm\n1..1\n",
            files ? "ok" : "not ok", files, FUZZ_MUTATIONS);
    return files ? 0 : 1;
}
#endif
