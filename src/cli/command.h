// SPDX-License-Identifier: Apache-2.0
/* The commands of the program. Each parses its own arguments (argv[0] is the program's name),
 * prints its own errors and returns the exit code (enum error_code). */
#pragma once

int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_ps(int argc, char **argv);
int command_probes(int argc, char **argv);
