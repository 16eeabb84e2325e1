/* Log lines: formatted here, made safe, handed to the caller's sink (log.h). */
#include "gputier/log.h"
#include "gputier/buf.h"
#include "gputier/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_line(const struct log_sink *sink, enum log_level level, const char *module,
              const char *fmt, ...)
{
    if (!sink || !sink->write || level > sink->level) {
        return;
    }
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct buf safe;
    buf_init(&safe, 4096);
    if (text_safe(&safe, text, strlen(text), false) == 0 && safe.data) {
        sink->write(sink->ctx, level, module, safe.data);
    }
    buf_release(&safe);
}
