/* The two inner loops of the JSON and CSV readers, over blocks of 64 bytes. Each judges a block
 * from bit masks alone and without branches: scan_masks.c holds them in plain C, for AVX2 and
 * for AVX-512. Which one runs is decided at run time.
 *
 * JSON: the loop takes blocks of which it can prove that they hold correct JSON (objects, strings,
 * empty lists, white space) and stops at any other: numbers, literals, filled lists, escapes, bytes
 * over 0x7f, errors. json_check.c then reads that block byte by byte, to the same state and record.
 * CSV: all blocks are taken; a record marks the quotes that need a closer look at their row. */
#ifndef GPUTIER_SCAN_MASKS_H
#define GPUTIER_SCAN_MASKS_H
#include "scan.h"
#include <stdbool.h>

#define JSON_DEPTH 64 /* containers within each other */

/* SCAN_BYTES: JSON byte by byte throughout. The results are the same: a test compares them. */
enum scan_path { SCAN_BEST, SCAN_AVX2, SCAN_PLAIN, SCAN_BYTES };

/* Where the grammar stands between two bytes. */
enum json_state {
    JSON_AT_VALUE,
    JSON_AT_VALUE_OR_END, /* behind '[' */
    JSON_AT_KEY,
    JSON_AT_KEY_OR_END, /* behind '{' */
    JSON_AT_COLON,
    JSON_AT_COMMA, /* behind a value */
    JSON_AT_END,   /* behind the document */
    JSON_IN_KEY,
    JSON_IN_VALUE,
    JSON_IN_WORD /* a number or literal */
};

/* What a reader needs of 64 bytes that were found correct. */
struct json_block {
    uint64_t tokens;      /* both quotes of strings, brackets, first bytes of numbers, literals */
    uint64_t open, close; /* brackets */
    int8_t depth, low;    /* containers open before the block; never fewer than low within it */
    uint8_t newlines;
    bool back; /* has backslashes */
};
struct json_scan {
    enum json_state state;
    bool many; /* documents may follow one another */
    int depth;
    uint64_t lists;  /* bit d - 1: the container at depth d is a list, else an object */
    uint64_t offset; /* of the next block from the start of the stream */
    /* Within a string or word (json_check.c). */
    unsigned char escape, number, utf8_more, utf8_low, utf8_high;
    const char *literal;
    uint64_t word_at;
    /* The first error: what was expected, and where from the start of the stream. */
    const char *expected;
    enum { JSON_ERROR_BYTE, JSON_ERROR_WORD, JSON_ERROR_DEPTH } error;
    uint64_t error_at, error_to; /* to: of a word */
    enum scan_path path;
};
void json_scan_init(struct json_scan *s);
/* Reads n blocks at p into out. The number of blocks done: fewer than n after an error, in the
 * block behind those. That block's record holds what came before the error. */
size_t json_scan_blocks(struct json_scan *s, const char *p, size_t n, struct json_block *out);
/* One block, byte by byte (json_check.c). False: an error. */
bool json_check_block(struct json_scan *s, const char *p, struct json_block *out);

struct csv_block {
    uint64_t bounds;   /* separators and newlines outside quotes */
    uint64_t ends;     /* the newlines among them */
    uint64_t newlines; /* all */
    uint64_t care;     /* quotes that do not just begin or end a field: doubled or misplaced */
    uint8_t n_bounds, n_newlines;
};
struct csv_scan {
    char separator;
    uint64_t inside; /* all ones: within quotes */
    /* Bit 0 of the next block follows a boundary / a closing quote. */
    uint64_t after_bound, after_close;
    enum scan_path path;
};
void csv_scan_init(struct csv_scan *s, char separator);
void csv_scan_blocks(struct csv_scan *s, const char *p, size_t n, struct csv_block *out);

#endif
