// SPDX-License-Identifier: Apache-2.0
/* The commands that requests to a recorder begin with (os/control_socket.h): `beamflame ctl` sends
 * them, and each recorder takes some. */
#pragma once

enum control_command {
    CONTROL_STATUS,
    CONTROL_PAUSE,
    CONTROL_RESUME,
    CONTROL_MARK,
    CONTROL_SNAPSHOT,
    CONTROL_ADD,
    CONTROL_REMOVE,
    CONTROL_STOP,
    CONTROL_COMMANDS, /* their number; no command */
};

struct control_command_text {
    const char *name;
    const char *argument; /* what its argument is, for users; NULL: it takes none */
    const char *summary;  /* what it does, for a list of commands */
};

/* By command. */
extern const struct control_command_text control_command_texts[CONTROL_COMMANDS];

/* The answer to a request that begins with no command of this release. */
#define CONTROL_COMMAND_UNKNOWN "the recorder is another release of beamflame, without this command"

/* The command that a request begins with: it ends at the first blank. CONTROL_COMMANDS if there is
 * none of that name. `*ret_argument` is set to what follows the blank, "" if nothing does. */
enum control_command control_command_find(const char *request, const char **ret_argument);
