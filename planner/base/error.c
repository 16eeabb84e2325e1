/* Error codes: texts, names and exit statuses from the one list in error.h. */
#include "gputier/error.h"
#include <stdarg.h>
#include <stdio.h>

void gt_error_set(struct gt_error *err, int code, const char *where, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        err->code = code;
        snprintf(err->where, sizeof err->where, "%s", where ? where : "");
        va_start(ap, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
    }
}

const char *gt_strerror(int code)
{
    switch (code) {
    case GT_OK:
        return "success";
#define GT_X(num, name, text)                                                                      \
    case num:                                                                                      \
        return text;
        GT_ERROR_LIST(GT_X)
#undef GT_X
    default:
        return "unknown error";
    }
}

const char *gt_code_name(int code)
{
    switch (code) {
    case GT_OK:
        return "OK";
#define GT_X(num, name, text)                                                                      \
    case num:                                                                                      \
        return #name;
        GT_ERROR_LIST(GT_X)
#undef GT_X
    default:
        return "UNKNOWN";
    }
}

/* product.md section 2: 0 done; 1 failed; 2 usage; 3 done, but the answer is no; 4 bad input
 * file; 130 interrupted. */
int gt_exit_status(int code)
{
    switch (code) {
    case GT_OK:
        return 0;
    case GT_EUSAGE:
        return 2;
    case GT_EINFEASIBLE:
    case GT_EQUARANTINE:
        return 3;
    case GT_EPARSE:
    case GT_ERANGE:
        return 4;
    case GT_ECANCELLED:
        return 130;
    default:
        return 1;
    }
}
