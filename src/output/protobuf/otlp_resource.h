// SPDX-License-Identifier: Apache-2.0
/* The resource of OpenTelemetry's profiles: the VM that they are of, and its host. */
#pragma once

#include "output/output.h"
#include "output/protobuf/protobuf_file.h"

/* Write the resource as a part of a ResourceProfiles. `target` is 0 for samples of no VM. */
void otlp_resource_write(struct protobuf *out, const struct output_source *source,
                         target_id target);
