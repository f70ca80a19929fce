// SPDX-License-Identifier: Apache-2.0
/*
 * A recording as a web page that a browser opens from disk: one file with all samples, and with the
 * code to explore them. web/ has the page. The recording is in two script elements of it, which
 * web/recording reads.
 *
 * #header is JSON (html_header.c): what was recorded, what was selected, names of numbers, the
 * number of entries of each table ("counts"), and for each column its name, its size in bytes, and
 * its uncompressed size ("columns", in the order of their bytes).
 *
 * #recording has the columns, one after the other. Each is in zlib's format; util/encode.h makes
 * the bytes text. The column "strings" is UTF-8 with a NUL after each string, and "traces" has the
 * ids of traces, most samples first, in hexadecimal, with a NUL after each. All other columns are
 * numbers in LEB128: 7 bits a byte, low bits first. A number that can be negative ("signed" below)
 * is a zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. Ids are as in profile/profile.h; tables begin with
 * id 1. "minus" below: the column has the difference.
 *
 *   frame.* process.* ancestor.* thread.*   signed, minus that of the previous entry
 *   process.same                            id minus that of the first entry of the same process
 *   stack.distance                          id minus that of the parent
 *   stack.frame                             signed, minus that of the previous entry
 *
 * Columns of samples, in order of time:
 *
 *   time                   whole ms since the start, minus that of the previous sample
 *   process                signed, minus that of the previous sample
 *   event
 *   value 0, 1 ...         signed, minus that of the event's previous sample; but "reclaimed" of
 *                          event gc minus heap-before plus heap-after; no number if the event does
 *                          not have the value
 *   part                   only for samples of the same hit as the event's sample before: the
 *                          sample's index minus that of the last one in this column, from 0 on
 *   window                 that of row_interval_window_at(), minus that of the previous sample
 *
 * Columns of samples, process by process, and in order of time within a process:
 *
 *   thread detail status activity complete named exact
 *   trace                  the place of the sample's trace in "traces", from 1 on; 0: it has none;
 *                          the place after the last one: its trace is not listed
 *   stack                  the number of the stack: stacks of samples are numbered from 1 in this
 *                          order; 0 for the first sample of a stack, whose id is in leaf
 *   leaf                   signed, minus the previous one
 *   known                  only for samples with a process: bits of the known metrics, XOR those of
 *                          the process' previous sample
 *   metric 0, 1 ...        only if known: heap signed, minus young, old and mbuf (0 if not known);
 *                          stack signed, minus that of the previous sample with the same stack;
 *                          young and mbuf as they are; all others signed, minus the newest of the
 *                          process
 *
 * There is no column "traces" or "trace" if no sample has a trace.
 *
 * The column "spans 1" has the times in which event 1 could be seen, "spans 0" those in which the
 * recorder ran: for each the us from the end of the one before (of the recording's start) to its
 * start, and from there to its end. There is none of an event that could be seen all the time.
 * "recorded 1" has the times in which event 1 was recorded, if that was not the whole time.
 *
 * The column "node metrics" has the series of profile/node_metrics.h, one after the other: target,
 * metric, of, id, owner, number of readings; for each reading its time in whole ms since the start,
 * minus that of the one before, and its value, signed, minus that of the one before.
 *
 * The columns "stack", "metric 0" and "metric 8" (reductions, minor_gcs) are split: the second byte
 * of each number is in a column "stack+", the third and later bytes are in "stack++".
 */
#include "output/formats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "output/html/html_internal.h"
#include "output/json/json.h"
#include "util/alloc.h"
#include "util/encode.h"

/* A number of 128 bits that nobody can guess, in hexadecimal digits. */
struct nonce {
    char text[33];
};

struct html {
    FILE *file;
    struct nonce nonce; /* of the page's own scripts and style */
    struct output_source source;
    struct html_columns columns;
    struct html_samples samples;
};

/* Return a new nonce; on failure an empty one, with which the page does nothing. */
static struct nonce new_nonce(void)
{
    unsigned char bytes[16];
    struct nonce nonce = {""};

    if (getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes))
        for (size_t i = 0; i < sizeof(bytes); i++)
            sprintf(nonce.text + 2 * i, "%02x", bytes[i]);
    return nonce;
}

static void *html_begin(FILE *file, const struct output_source *source, struct error *error)
{
    uint32_t events = source->events->count;
    struct html *html;

    if (events > HTML_EVENTS_MAX) {
        error_set(error, ERROR_UNSUPPORTED,
                  "a page can hold %d events, and the recording has %u: choose some with --event",
                  HTML_EVENTS_MAX, events);
        return NULL;
    }
    html = xcalloc(1, sizeof(*html));
    html->file = file;
    html->source = *source;
    html->nonce = new_nonce();
    html_samples_init(&html->samples, source, &html->columns);
    return html;
}

static int html_sample(void *state, const struct sample *sample, struct error *error)
{
    struct html *html = state;

    return html_samples_add(&html->samples, sample, error);
}

/* ---- the page ---- */

/* Let the browser run and load only what this program wrote. A script that comes from a recording
 * has no nonce; the modules that the page's script imports inherit its nonce. */
static void put_policy(const struct html *html)
{
    fprintf(html->file,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src 'nonce-%s'; style-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n",
            html->nonce.text, html->nonce.text);
}

static void put_style(const struct html *html)
{
    fprintf(html->file, "<style nonce=\"%s\">\n", html->nonce.text);
    for (const struct html_file *file = html_files; file->path; file++)
        if (!strcmp(file->path, "web/style.css"))
            fwrite(file->start, 1, (size_t)(file->end - file->start), html->file);
    fputs("</style>\n", html->file);
}

/* Return the length of NAME in "web/NAME.js", which *ret_name points to; 0 if it is no module. */
static size_t module_name(const char *path, const char **ret_name)
{
    static const char before[] = "web/", after[] = ".js";
    size_t size = strlen(path), around = sizeof(before) - 1 + sizeof(after) - 1;

    if (size <= around || strcmp(path + size - (sizeof(after) - 1), after) != 0)
        return 0;
    *ret_name = path + sizeof(before) - 1;
    return size - around;
}

/* Write a module as "#NAME": "data:..." of an import map. */
static void put_module(struct json *json, const char *name, size_t size,
                       const struct html_file *file)
{
    char *key = xasprintf("#%.*s", (int)size, name);
    struct buffer url = {0};

    buffer_text(&url, "data:text/javascript;base64,");
    encode_base64(&url, file->start, (size_t)(file->end - file->start));
    buffer_byte(&url, '\0');
    json_text(json, key, url.data);
    buffer_free(&url);
    free(key);
}

/* Modules import each other as "#NAME", because data: URLs cannot resolve relative URLs. */
static void put_modules(const struct html *html)
{
    struct json json = {html->file, .in_script = true};
    const char *name;

    fprintf(html->file, "<script type=\"importmap\" nonce=\"%s\">", html->nonce.text);
    json_open(&json, NULL, '{');
    json_open_lines(&json, "imports", '{');
    for (const struct html_file *file = html_files; file->path; file++) {
        size_t size = module_name(file->path, &name);

        if (size)
            put_module(&json, name, size, file);
    }
    json_close(&json, '}');
    json_close(&json, '}');
    fputs("</script>\n", html->file);
}

static void put_recording(const struct html *html, const struct recording_totals *totals)
{
    fputs("<script type=\"application/json\" id=\"header\">", html->file);
    html_header_write(html->file, &html->source, totals, &html->samples, &html->columns);
    fputs("</script>\n<script type=\"application/octet-stream\" id=\"recording\">", html->file);
    html_columns_write(&html->columns, html->file);
    fprintf(html->file,
            "</script>\n<script type=\"module\" nonce=\"%s\">import \"#main\";</script>\n",
            html->nonce.text);
}

/* Write the content for a place that a comment in web/index.html marks. */
static void put_place(const struct html *html, const char *name,
                      const struct recording_totals *totals)
{
    if (!strcmp(name, "policy"))
        put_policy(html);
    else if (!strcmp(name, "style"))
        put_style(html);
    else if (!strcmp(name, "modules"))
        put_modules(html);
    else
        put_recording(html, totals);
}

static void put_page(const struct html *html, const struct recording_totals *totals)
{
    static const char *const places[] = {"policy", "style", "modules", "recording"};
    const char *at = html_files[0].start, *end = html_files[0].end; /* web/index.html */

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char mark[64];
        int size = snprintf(mark, sizeof(mark), "<!-- beamflame: %s -->\n", places[i]);
        const char *place = memmem(at, (size_t)(end - at), mark, (size_t)size);

        if (!place)
            abort(); /* tests/unit/output_html_test.c would fail */
        fwrite(at, 1, (size_t)(place - at), html->file);
        put_place(html, places[i], totals);
        at = place + size;
    }
    fwrite(at, 1, (size_t)(end - at), html->file);
}

static int html_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct html *html = state;

    (void)error;
    if (totals) {
        html_samples_finish(&html->samples);
        html_tables_add(html->source.profile, &html->columns);
        html_tables_add_spans(&html->columns, &html->source, html->samples.events);
        html_tables_add_node_metrics(&html->columns, &html->source);
        put_page(html, totals);
    }
    html_samples_free(&html->samples);
    html_columns_free(&html->columns);
    free(html);
    return 0;
}

const struct output_format html_format = {
    .name = "html",
    .suffixes = {".html"},
    .comparing = &html_format,
    .lists_idle = true,
    .begin = html_begin,
    .sample = html_sample,
    .finish = html_finish,
};
