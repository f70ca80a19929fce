// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/json/json.h"
#include "util/alloc.h"
#include "util/utf8.h"

/* Write a text of a VM, null if it is not known. */
static void put_text(struct json *json, const char *key, const char *text)
{
    char *clean = utf8_clean_string(text);

    json_text_or_null(json, key, clean);
    free(clean);
}

static void put_targets(struct json *json, const struct node_board *board)
{
    size_t count;
    struct board_node *nodes = node_board_read(board, &count);

    json_open_lines(json, "targets", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(json, NULL, '{');
        json_number(json, "pid", (uint64_t)nodes[i].pid);
        for (int label = 0; label < BOARD_LABELS; label++)
            put_text(json, node_board_labels[label], nodes[i].labels[label]);
        put_text(json, "otp_release", nodes[i].otp_release);
        json_close(json, '}');
    }
    json_close(json, ']');
    free(nodes);
}

static void put_refusals(struct json *json, const struct agent_status *status)
{
    struct refusal_status *refusals = xcalloc(STATUS_REFUSALS_MAX, sizeof(*refusals));
    size_t count;

    if (!agent_status_refusals(status, refusals, &count))
        count = 0;
    json_open_lines(json, "refused", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(json, NULL, '{');
        json_number(json, "pid", refusals[i].pid);
        put_text(json, "node", refusals[i].node);
        put_text(json, "reason", refusals[i].reason);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "refused_count", status->refused);
    free(refusals);
}

struct http_answer nodes_answer(const struct agent_status *status)
{
    struct http_answer answer = {.status = 200, .type = "application/json", .fd = -1};
    char *text = NULL;
    size_t size = 0;
    struct json json = {.file = open_memstream(&text, &size)};

    if (!json.file)
        return http_answer_text(500, "no memory is left for the answer");
    json_open_lines(&json, NULL, '{');
    put_targets(&json, &status->nodes_board);
    put_refusals(&json, status);
    json_close(&json, '}');
    putc('\n', json.file);
    if (fclose(json.file))
        answer = http_answer_text(500, "no memory is left for the answer");
    else
        buffer_put(&answer.text, text, size);
    free(text);
    return answer;
}
