// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The maps that all programs on probes share. */
#include "event.h"

struct slots slots SEC(".maps");
struct slot_counts slot_counts SEC(".maps");
struct histograms histograms SEC(".maps");
struct run_alarms run_alarms SEC(".maps");
