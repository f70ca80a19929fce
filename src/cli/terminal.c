// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/utf8.h"

#define BOLD    "\033[1m"
#define YELLOW  "\033[1;33m"
#define CYAN    "\033[1;36m"
#define REGULAR "\033[0m"

enum {
    INDENT = 10,      /* of a wrapped line: the width of labels */
    NAME_LEAST = 12,  /* columns of a name that is cut */
    WIDTH_LEAST = 40, /* a narrower terminal is taken to be this wide */
};

int terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int width = columns ? atoi(columns) : 0;

    if (width <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width > 0 ? width : 0;
}

int terminal_height(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/* Return the width of a line without its styles, which are "\033[", digits, semicolons and "m". */
static size_t line_cells(const char *line, size_t size)
{
    struct buffer plain = {0};
    size_t cells;

    for (size_t i = 0; i < size; i++) {
        if (line[i] == '\033')
            while (i < size && line[i] != 'm')
                i++;
        else
            buffer_byte(&plain, line[i]);
    }
    buffer_byte(&plain, '\0');
    cells = utf8_cells(plain.data);
    buffer_free(&plain);
    return cells;
}

size_t terminal_rows(const char *text, size_t size, int columns, size_t most)
{
    size_t width = columns > 0 ? (size_t)columns : SIZE_MAX, rows = 0;

    for (size_t at = 0; at < size && rows < most;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        size_t cells = line_cells(text + at, length);

        rows += cells ? (cells - 1) / width + 1 : 1;
        at += length + 1;
    }
    return rows < most ? rows : most;
}

struct terminal terminal_of(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    struct terminal terminal = {.is_terminal = isatty(fd)};

    if (!terminal.is_terminal)
        return terminal;
    terminal.has_styles = !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
    terminal.width = terminal_width(fd);
    if (terminal.width && terminal.width < WIDTH_LEAST)
        terminal.width = WIDTH_LEAST;
    return terminal;
}

/* ---- lines of tables ---- */

/* A part of a line. */
struct field {
    char *start;
    size_t size;
};

/* Return the longest field of a line that is no number; of size 0 if there is none. Fields have two
 * or more blanks between them. */
static struct field longest_field(char *line)
{
    struct field longest = {line, 0};

    for (char *at = line; *at;) {
        char *end = strstr(at, "  ");
        size_t size = end ? (size_t)(end - at) : strlen(at);

        if (size > longest.size && !strchr("+-0123456789", *at))
            longest = (struct field){at, size};
        at += size;
        at += strspn(at, " ");
    }
    return longest;
}

/* Append the text, cut in its middle to `cells` columns. */
static void put_cut(struct buffer *out, const char *text, size_t cells)
{
    size_t head = (cells - 3) / 2, tail = cells - 3 - head;
    const char *end = text;
    uint32_t point;

    buffer_put(out, text, utf8_fit(text, head));
    buffer_text(out, "...");
    while (utf8_cells(end) > tail)
        end += utf8_decode(end, strlen(end), &point);
    buffer_text(out, end);
}

static void put_row(struct buffer *out, char *line, int width)
{
    size_t cells = utf8_cells(line), most = width ? (size_t)width : cells;
    struct field name = longest_field(line);
    char *text = xstrndup(name.start, name.size);
    size_t own = utf8_cells(text), excess = cells > most ? cells - most : 0;

    if (!excess || own < excess + NAME_LEAST)
        buffer_text(out, line);
    else {
        buffer_put(out, line, (size_t)(name.start - line));
        put_cut(out, text, own - excess);
        buffer_text(out, name.start + name.size);
    }
    free(text);
}

/* ---- other lines ---- */

/* Append words in lines of at most `width` columns. `column`: where the first one begins. */
static void put_words(struct buffer *out, char *text, size_t column, int width)
{
    bool begins = true;
    char *rest = NULL;

    if (!width) {
        buffer_text(out, text);
        return;
    }
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t cells = utf8_cells(word);

        if (!begins && column + 1 + cells > (size_t)width) {
            buffer_format(out, "\n%*s", INDENT, "");
            column = INDENT;
        } else if (!begins) {
            buffer_byte(out, ' ');
            column++;
        }
        buffer_text(out, word);
        column += cells;
        begins = false;
    }
}

static void put_styled(struct buffer *out, const struct terminal *terminal, const char *style,
                       const char *text, size_t size)
{
    if (terminal->has_styles)
        buffer_text(out, style);
    buffer_put(out, text, size);
    if (terminal->has_styles)
        buffer_text(out, REGULAR);
}

/* A line that begins with a label of INDENT columns: "busy      ". */
static void put_labelled(struct buffer *out, const struct terminal *terminal, char *line)
{
    const char *style = strncmp(line, "grows ", 6) ? BOLD : YELLOW;

    put_styled(out, terminal, style, line, INDENT);
    if (!strncmp(line, "next ", 5))
        put_styled(out, terminal, CYAN, line + INDENT, strlen(line + INDENT));
    else
        put_words(out, line + INDENT, INDENT, terminal->width);
}

static bool has_label(const char *line)
{
    size_t word = strcspn(line, " "), blanks = strspn(line + word, " ");

    return word && blanks > 1 && word + blanks == INDENT;
}

/* Append a line. `begins`: it follows an empty one. */
static void put_line(struct buffer *out, const struct terminal *terminal, char *line, bool begins)
{
    if (has_label(line))
        put_labelled(out, terminal, line);
    else if (*line == ' ' || !*line)
        put_row(out, line, terminal->width);
    else {
        if (begins && terminal->has_styles)
            buffer_text(out, BOLD);
        put_words(out, line, 0, terminal->width);
        if (begins && terminal->has_styles)
            buffer_text(out, REGULAR);
    }
    buffer_byte(out, '\n');
}

void terminal_fit(const struct terminal *terminal, const char *summary, struct buffer *text)
{
    bool begins = true;

    while (*summary) {
        size_t size = strcspn(summary, "\n");
        char *line = xstrndup(summary, size);

        put_line(text, terminal, line, begins);
        begins = !size;
        summary += size + (summary[size] == '\n');
        free(line);
    }
}
