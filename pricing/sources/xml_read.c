/* See xml_read.h. A document ends with its root: the parser is stopped there and starts anew with
 * the bytes behind it, as pages of a list come through one reader. */
#include "xml_read.h"
#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32
#define TEXT_MAX  4096

struct xml_reader {
    const char *name;
    xml_event_fn *event;
    void *ctx;
    XML_Parser parser;
    const XML_Char **attribute;
    struct gt_error *err;
    int depth, rc;
    uint64_t lines;   /* of the documents before */
    uint64_t fed;     /* bytes of this document given to the parser before the current piece */
    uint64_t end;     /* offset behind the root once it has ended in the current piece, else 0 */
    size_t documents; /* complete ones */
    size_t start[DEPTH_MAX + 1], len; /* where the text of each open element begins */
    char text[TEXT_MAX + 1];
};

static const char *local(const XML_Char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

int xml_depth(const struct xml_reader *r)
{
    return r->depth;
}

uint64_t xml_line(const struct xml_reader *r)
{
    return r->lines + XML_GetCurrentLineNumber(r->parser);
}

const char *xml_attribute(const struct xml_reader *r, const char *name)
{
    for (const XML_Char **a = r->attribute; a && a[0]; a += 2) {
        if (strcmp(local(a[0]), name) == 0) {
            return a[1];
        }
    }
    return NULL;
}

int xml_fail(struct xml_reader *r, int code, struct gt_error *err, const char *fmt, ...)
{
    char text[300], where[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(where, sizeof where, "%.170s:%llu", r->name, (unsigned long long)xml_line(r));
    return gt_fail(err, code, where, "%s", text);
}

static void stop(struct xml_reader *r, int rc)
{
    r->rc = rc;
    XML_StopParser(r->parser, XML_FALSE);
}

static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **attribute)
{
    struct xml_reader *r = ctx;
    if (r->rc != 0) { /* a stopped parser still ends an empty element */
        return;
    }
    if (r->depth == DEPTH_MAX) {
        stop(r, xml_fail(r, GT_ELIMIT, r->err, "elements nested deeper than %d", DEPTH_MAX));
        return;
    }
    r->start[++r->depth] = r->len;
    r->attribute = attribute;
    r->text[r->len] = '\0';
    int rc = r->event(r->ctx, r, XML_START, local(name), "", r->err);
    r->attribute = NULL;
    if (rc != 0) {
        stop(r, rc);
    }
}

static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
    struct xml_reader *r = ctx;
    if (r->rc != 0) {
        return;
    }
    char *text = r->text + r->start[r->depth];
    text[r->len - r->start[r->depth]] = '\0';
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) {
        text[--n] = '\0';
    }
    int rc = r->event(r->ctx, r, XML_END, local(name), text + strspn(text, " \t\r\n"), r->err);
    r->len = r->start[r->depth--];
    if (rc != 0) {
        stop(r, rc);
    } else if (r->depth == 0) {
        r->end = (uint64_t)XML_GetCurrentByteIndex(r->parser) +
                 (uint64_t)XML_GetCurrentByteCount(r->parser);
        r->lines += XML_GetCurrentLineNumber(r->parser) - 1;
        XML_StopParser(r->parser, XML_FALSE);
    }
}

static void XMLCALL on_text(void *ctx, const XML_Char *s, int n)
{
    struct xml_reader *r = ctx;
    if (r->rc != 0) {
        return;
    }
    if ((size_t)n > TEXT_MAX - r->len) {
        stop(r, xml_fail(r, GT_ELIMIT, r->err, "a text longer than %d bytes", TEXT_MAX));
        return;
    }
    memcpy(r->text + r->len, s, (size_t)n);
    r->len += (size_t)n;
}

static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int internal)
{
    struct xml_reader *r = ctx;
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    stop(r, xml_fail(r, GT_EPARSE, r->err, "a document type declaration; price feeds have none"));
}

static void begin_document(struct xml_reader *r)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    r->fed = r->end = 0;
    r->depth = 0;
    r->len = 0;
}

int xml_reader_new(const char *name, xml_event_fn *event, void *ctx, struct xml_reader **out,
                   struct gt_error *err)
{
    struct xml_reader *r = calloc(1, sizeof *r);
    if (!r || !(r->parser = XML_ParserCreate(NULL))) {
        free(r);
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    r->name = name;
    r->event = event;
    r->ctx = ctx;
    begin_document(r);
    *out = r;
    return 0;
}

void xml_reader_free(struct xml_reader *r)
{
    if (r) {
        XML_ParserFree(r->parser);
    }
    free(r);
}

/* Expat's own message for what it found. */
static int malformed(struct xml_reader *r, struct gt_error *err)
{
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_MEMORY) {
        return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
    }
    return xml_fail(r, GT_EPARSE, err, "no well-formed XML: %s", XML_ErrorString(code));
}

/* One piece of at most INT_MAX bytes; *taken may be less when a document ended in it. */
static int parse(struct xml_reader *r, const char *data, int len, size_t *taken,
                 struct gt_error *err)
{
    r->err = err;
    enum XML_Status status = XML_Parse(r->parser, data, len, XML_FALSE);
    r->err = NULL;
    *taken = (size_t)len;
    if (r->rc != 0) {
        return r->rc;
    }
    if (r->end > 0) {
        *taken = (size_t)(r->end - r->fed);
        r->documents++;
        if (XML_ParserReset(r->parser, NULL) != XML_TRUE) {
            return gt_fail(err, GT_ENOMEM, r->name, "out of memory");
        }
        begin_document(r);
        return 0;
    }
    r->fed += (uint64_t)len;
    return status == XML_STATUS_OK ? 0 : malformed(r, err);
}

int xml_reader_feed(struct xml_reader *r, const char *data, size_t len, struct gt_error *err)
{
    int rc = r->rc;
    while (rc == 0 && len > 0) {
        while (len > 0 && r->fed == 0 && r->documents > 0 && strchr(" \t\r\n", *data) && *data) {
            r->lines += *data == '\n'; /* between two documents */
            data++;
            len--;
        }
        size_t taken = 0;
        rc = len > 0 ? parse(r, data, len < INT_MAX ? (int)len : INT_MAX, &taken, err) : 0;
        data += taken;
        len -= taken;
    }
    r->rc = rc;
    return rc;
}

int xml_reader_end(struct xml_reader *r, struct gt_error *err)
{
    if (r->rc != 0) {
        return gt_fail(err, r->rc, r->name, "the document was refused before");
    }
    if (r->fed == 0 && r->documents > 0) {
        return 0;
    }
    if (XML_Parse(r->parser, "", 0, XML_TRUE) != XML_STATUS_OK) {
        enum XML_Error code = XML_GetErrorCode(r->parser);
        if (r->depth == 0 && r->documents > 0 && code == XML_ERROR_NO_ELEMENTS) {
            return 0; /* a comment behind the last document */
        }
        return r->depth > 0 || code == XML_ERROR_UNCLOSED_TOKEN
                   ? xml_fail(r, GT_EPARSE, err, "the document ends before its time: a cut file")
                   : malformed(r, err);
    }
    return 0;
}
