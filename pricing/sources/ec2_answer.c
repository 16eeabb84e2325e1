/* Items of EC2's answers (ec2_answer.h), out of XML and JSON. */
#include "ec2_answer.h"
#include "json_read.h"
#include "xml_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ec2_answer {
    const struct ec2_shape *shape;
    struct parse_context *ctx;
    struct json_reader *json;
    struct xml_reader *xml;
    ec2_item_fn *item;
    void *item_ctx;
    int key; /* of the value that comes next; shape->n = the token, -1 = none of ours */
    char field[EC2_FIELDS][EC2_TEXT];
    char refusal[200]; /* Code and Message of an answer that is an error */
};

static int put(struct ec2_answer *a, uint64_t line, struct gt_error *err)
{
    const char *f[EC2_FIELDS];
    for (int i = 0; i < a->shape->n; i++) {
        f[i] = a->field[i];
    }
    return a->item(a->item_ctx, f, line, err);
}

/* Where the list goes on; "" ends it. */
static int take_token(struct ec2_answer *a, const char *token, struct gt_error *err)
{
    if (strlen(token) >= sizeof a->ctx->next) {
        return gt_fail(err, GT_ELIMIT, a->ctx->name, "a NextToken longer than %zu bytes",
                       sizeof a->ctx->next - 1);
    }
    memcpy(a->ctx->next, token, strlen(token) + 1);
    return 0;
}

static int field_of(const struct ec2_answer *a, const char *const *names, const char *name)
{
    for (int i = 0; i < a->shape->n; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* Depth: 1 document, 2 the list, 3 one item. */
static int on_json(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                   size_t len, struct gt_error *err)
{
    struct ec2_answer *a = ctx;
    int depth = json_depth(r);
    if (e == JSON_KEY && depth == 1) {
        a->key = strcmp(text, "NextToken") == 0 ? a->shape->n : -1;
        if (a->key < 0 && strcmp(text, a->shape->json_list) != 0) {
            json_skip_value(r);
        }
    } else if (e == JSON_STRING && depth == 1 && a->key == a->shape->n) {
        return take_token(a, text, err);
    } else if (e == JSON_OBJECT && depth == 3) {
        memset(a->field, 0, sizeof a->field);
    } else if (e == JSON_KEY && depth == 3) {
        a->key = field_of(a, a->shape->json_keys, text);
        if (a->key < 0) {
            json_skip_value(r);
        }
    } else if ((e == JSON_STRING || e == JSON_NUMBER) && depth == 3) {
        if (len >= EC2_TEXT) {
            return json_fail(r, GT_EPARSE, err, "%s '%.60s…' is too long",
                             a->shape->json_keys[a->key], text);
        }
        memcpy(a->field[a->key], text, len + 1);
    } else if (e == JSON_END_OBJECT && depth == 2) {
        return put(a, 0, err);
    } else if ((e == JSON_OBJECT || e == JSON_ARRAY) && depth >= 3) {
        return json_fail(r, GT_EPARSE, err, "found a list where an item has texts");
    }
    return 0;
}

/* An answer that is an error: Response/Errors/Error/{Code, Message}. */
static int on_refusal(struct ec2_answer *a, struct xml_reader *r, const char *name,
                      const char *text, struct gt_error *err)
{
    size_t n = strlen(a->refusal);
    if (strcmp(name, "Code") == 0 || strcmp(name, "Message") == 0) {
        snprintf(a->refusal + n, sizeof a->refusal - n, "%s%s", n > 0 ? ": " : "", text);
    }
    return xml_depth(r) > 1 ? 0
                            : xml_fail(r, GT_EPARSE, err, "the answer is an error: %s",
                                       a->refusal[0] ? a->refusal : "of no known form");
}

/* Depth: 1 the response, 2 its set, 3 item, 4 its fields. */
static int on_xml(void *ctx, struct xml_reader *r, enum xml_event e, const char *name,
                  const char *text, struct gt_error *err)
{
    struct ec2_answer *a = ctx;
    int depth = xml_depth(r);
    if (e == XML_START && depth == 1) {
        a->key = strcmp(name, a->shape->xml_response) == 0 ? 0 : -1;
        a->refusal[0] = '\0';
    } else if (a->key < 0) {
        return e == XML_END ? on_refusal(a, r, name, text, err) : 0;
    } else if (e == XML_START && depth == 3) {
        memset(a->field, 0, sizeof a->field);
    } else if (e == XML_END && depth == 4) {
        int i = field_of(a, a->shape->xml_names, name);
        if (i >= 0 && strlen(text) < EC2_TEXT) {
            memcpy(a->field[i], text, strlen(text) + 1);
        }
    } else if (e == XML_END && depth == 3 && strcmp(name, "item") == 0) {
        return put(a, xml_line(r), err);
    } else if (e == XML_END && depth == 2 && strcmp(name, "nextToken") == 0) {
        return take_token(a, text, err);
    }
    return 0;
}

bool ec2_recognise(const struct ec2_shape *shape, const char *head, size_t len)
{
    char mark[80];
    size_t n = len < 4096 ? len : 4096;
    if (n == 0 || (*head != '{' && *head != '<')) {
        return false;
    }
    int k = *head == '{' ? snprintf(mark, sizeof mark, "\"%s\"", shape->json_list)
                         : snprintf(mark, sizeof mark, "<%s", shape->xml_response);
    return memmem(head, n, mark, (size_t)k) != NULL;
}

int ec2_answer_new(const struct ec2_shape *shape, struct parse_context *ctx, bool xml,
                   ec2_item_fn *item, void *item_ctx, struct ec2_answer **out, struct gt_error *err)
{
    struct ec2_answer *a = calloc(1, sizeof *a);
    if (!a) {
        return gt_fail(err, GT_ENOMEM, ctx->name, "out of memory");
    }
    a->shape = shape;
    a->ctx = ctx;
    a->item = item;
    a->item_ctx = item_ctx;
    int rc = xml ? xml_reader_new(ctx->name, on_xml, a, &a->xml, err)
                 : json_reader_new(ctx->name, on_json, a, &a->json, err);
    if (rc != 0) {
        ec2_answer_free(a);
        return rc;
    }
    if (a->json) {
        json_reader_many(a->json);
    }
    *out = a;
    return 0;
}

int ec2_answer_feed(struct ec2_answer *a, const char *data, size_t len, struct gt_error *err)
{
    return a->json ? json_reader_feed(a->json, data, len, err)
                   : xml_reader_feed(a->xml, data, len, err);
}

int ec2_answer_end(struct ec2_answer *a, struct gt_error *err)
{
    return a->json ? json_reader_end(a->json, err) : xml_reader_end(a->xml, err);
}

void ec2_answer_free(struct ec2_answer *a)
{
    if (a) {
        json_reader_free(a->json);
        xml_reader_free(a->xml);
    }
    free(a);
}
