// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

/* Start a thread that takes no signal: signals are for the threads that can act on them. The
 * arguments and the result are as of pthread_create(). */
int thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                 void *argument);
