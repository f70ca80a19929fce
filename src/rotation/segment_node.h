// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Return the name of the node, to be freed. '-' stands for characters that should not be in a file
 * name. A long name is cut, and ends in a hash of all of it. */
char *segment_node_name(const char *node);
