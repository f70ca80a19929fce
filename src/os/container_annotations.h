// SPDX-License-Identifier: Apache-2.0
/* Annotations of a container in the runtime's config.json (github.com/opencontainers/runtime-spec).
 */
#pragma once

/* Call `found` with each annotation of the file, until the file ends or is damaged. A file that
 * can't be read has none. */
void container_annotations(const char *path,
                           void (*found)(void *context, const char *key, const char *value),
                           void *context);
