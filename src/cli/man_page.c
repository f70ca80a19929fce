// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Text as groff shows it: a hyphen is not a minus, and a line may not begin like a request. */
static void put_text(struct buffer *out, const char *text)
{
    bool begins = true;

    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            buffer_text(out, "\\&");
        if (*text == '-')
            buffer_text(out, "\\-");
        else if (*text == '\\')
            buffer_text(out, "\\e");
        else
            buffer_byte(out, *text);
        begins = *text == '\n';
    }
}

static void put_paragraph(struct buffer *out, const char *text)
{
    put_text(out, text);
    buffer_byte(out, '\n');
}

static char *capitals(const char *text)
{
    char *copy = xstrdup(text);

    for (char *at = copy; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return copy;
}

static void put_option(struct buffer *out, const struct command_option *option)
{
    buffer_text(out, ".TP\n");
    if (option->letter)
        buffer_format(out, "\\fB\\-%c\\fR, ", option->letter);
    buffer_text(out, "\\fB\\-\\-");
    put_text(out, option->name);
    buffer_text(out, "\\fR");
    if (option->argument) {
        buffer_text(out, "=\\fI");
        put_text(out, option->argument);
        buffer_text(out, "\\fR");
    }
    buffer_byte(out, '\n');
    put_paragraph(out, option->help);
    if (option->values) {
        buffer_text(out, "One of: ");
        put_text(out, option->values());
        buffer_text(out, ".\n");
    }
}

static void put_options(struct buffer *out, const struct command *command)
{
    buffer_text(out, ".SH OPTIONS\n");
    for (const struct option_group *group = command->groups; group->title; group++) {
        if (*group->title) {
            buffer_text(out, ".SS ");
            put_paragraph(out, group->title);
        }
        for (const struct command_option *option = group->options; option->name; option++)
            put_option(out, option);
    }
}

static void put_verbatim(struct buffer *out, const char *text)
{
    buffer_text(out, ".nf\n");
    put_text(out, text);
    buffer_text(out, ".fi\n");
}

static void put_notes(struct buffer *out, const struct command *command)
{
    struct buffer notes = {0};

    command->notes(&notes);
    buffer_byte(&notes, '\0');
    buffer_text(out, ".SH NOTES\n");
    put_verbatim(out, notes.data);
    buffer_free(&notes);
}

static void put_exit_codes(struct buffer *out)
{
    buffer_text(out, ".SH EXIT STATUS\n"
                     "0 done, 1 failed, 2 wrong usage, 3 no such process or not an Erlang VM, "
                     "4 not permitted, 5 this VM or kernel is not supported, 6 no samples for an "
                     "output, or none that the options select.\n");
}

static void put_head(struct buffer *out, const char *name, const char *summary)
{
    char *title = capitals(name);

    buffer_text(out, ".TH ");
    put_text(out, title);
    buffer_text(out, " 1 \"\" \"beamflame " BEAMFLAME_VERSION "\"\n.SH NAME\n");
    put_text(out, name);
    buffer_text(out, " \\- ");
    put_paragraph(out, summary);
    free(title);
}

static void program_page(struct buffer *out)
{
    put_head(out, "beamflame", "profile Erlang VMs from outside");
    buffer_text(out, ".SH SYNOPSIS\n\\fBbeamflame\\fR [\\fICOMMAND\\fR] [\\fIOPTION\\fR...] "
                     "[\\fIARG\\fR...]\n.SH DESCRIPTION\n");
    put_paragraph(out, commands[0]->description);
    buffer_format(out, "Without a command, beamflame runs \\fB%s\\fR.\n.SH COMMANDS\n",
                  commands[0]->name);
    for (const struct command *const *command = commands; *command; command++) {
        buffer_format(out, ".TP\n\\fBbeamflame\\-%s\\fR(1)\n", (*command)->name);
        put_paragraph(out, (*command)->summary);
    }
    put_exit_codes(out);
}

void man_page(const struct command *command, struct buffer *out)
{
    char *name;

    if (!command) {
        program_page(out);
        return;
    }
    name = xasprintf("beamflame-%s", command->name);
    put_head(out, name, command->summary);
    buffer_format(out, ".SH SYNOPSIS\n\\fBbeamflame %s\\fR", command->name);
    if (command->groups)
        buffer_text(out, " [\\fIOPTION\\fR...]");
    if (command->arguments) {
        buffer_byte(out, ' ');
        put_text(out, command->arguments);
    }
    buffer_text(out, "\n.SH DESCRIPTION\n");
    put_paragraph(out, command->description);
    if (command->groups)
        put_options(out, command);
    if (command->notes)
        put_notes(out, command);
    if (command->examples) {
        buffer_text(out, ".SH EXAMPLES\n");
        put_verbatim(out, command->examples);
    }
    put_exit_codes(out);
    free(name);
}
