// SPDX-License-Identifier: Apache-2.0
/* Annotations of a container in the runtime's config.json (github.com/opencontainers/runtime-spec).
 */
#pragma once

/* Call `found` with each annotation of the file, until the file ends or is damaged. A file that
 * can't be read has none. Closes the file. */
void container_annotations(int fd, void (*found)(void *context, const char *key, const char *value),
                           void *context);
