// SPDX-License-Identifier: Apache-2.0
/* Which threads run first if all CPUs are busy. */
#pragma once

/* Let the calling thread, and what it starts from now on, run before threads of the default
 * priority as long as it uses little CPU time. A priority that somebody chose (nice, chrt, Nice= of
 * systemd) stays. Return 0, or an errno: without CAP_SYS_NICE there is no precedence. */
int precedence_take_if_default(int nice);

/* The same, whatever the priority is. */
int precedence_take(int nice);
