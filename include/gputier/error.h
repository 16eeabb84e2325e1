/* Error codes and the detail record that every fallible function fills.
 *
 * A function returns 0 or a negative GT_E* code; `struct gt_error *err` comes last and may be
 * NULL. The callee fills it once, at the place where the fault is known best: `where` is
 * "file:line:column", a URL or a table, `text` says what was found and what is allowed, in lower
 * case, without a full stop. Nothing below the command layer prints or exits. */
#ifndef GPUTIER_ERROR_H
#define GPUTIER_ERROR_H

#define GT_ERROR_LIST(X)                                                                           \
    X(-1, NOMEM, "out of memory")                                                                  \
    X(-2, INVALID, "invalid argument")                                                             \
    X(-3, PARSE, "malformed input")                                                                \
    X(-4, RANGE, "value out of range")                                                             \
    X(-5, IO, "input/output error")                                                                \
    X(-6, DB, "database error")                                                                    \
    X(-7, NEWER, "database from a newer version")                                                  \
    X(-8, NET, "network error")                                                                    \
    X(-9, HTTP, "unexpected HTTP answer")                                                          \
    X(-10, CANCELLED, "interrupted")                                                               \
    X(-11, NOTFOUND, "not found")                                                                  \
    X(-12, LIMIT, "limit exceeded")                                                                \
    X(-13, QUARANTINE, "change too large, not published")                                          \
    X(-14, INFEASIBLE, "no plan meets the constraints")                                            \
    X(-15, DEVICE, "device error")                                                                 \
    X(-16, UNSUPPORTED, "not supported")                                                           \
    X(-17, USAGE, "wrong usage")

enum gt_code {
    GT_OK = 0,
#define GT_X(num, name, text) GT_E##name = num,
    GT_ERROR_LIST(GT_X)
#undef GT_X
};

struct gt_error {
    int code;        /* GT_OK or a GT_E* code */
    char where[160]; /* file:line:column, URL, table; may be empty */
    char text[400];  /* what was found, what is allowed */
};

void gt_error_set(struct gt_error *err, int code, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static inline int gt_code(int code)
{
    return code;
}
/* gt_fail(err, code, where, fmt, …): fills err (if not NULL) and returns code, so that a callee can
 * `return gt_fail(...)`. A macro, so that compilers and analysers see the code itself. */
#define gt_fail(err, code, ...) (gt_error_set((err), (code), __VA_ARGS__), gt_code(code))
/* Static text of a code; never NULL. */
const char *gt_strerror(int code);
/* Short machine name of a code ("parse", "nomem"); never NULL. */
const char *gt_code_name(int code);
/* Process exit status of a code as product.md section 2 documents it (1, 2, 3, 4, 130). */
int gt_exit_status(int code);

#define GT_CHECK __attribute__((warn_unused_result))

#endif
