/* Log lines: stderr for commands, a file while the interface runs. Control characters are
 * escaped; query strings and credentials never reach a message (callers pass redacted URLs). */
#ifndef GPUTIER_LOG_H
#define GPUTIER_LOG_H
enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
struct log_sink {
    enum log_level level;
    void (*write)(void *ctx, enum log_level level, const char *module, const char *text);
    void *ctx;
};
/* sink may be NULL: nothing is written. */
void log_line(const struct log_sink *sink, enum log_level level, const char *module,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#endif
