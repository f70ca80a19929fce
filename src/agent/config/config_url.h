// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Return what is wrong with the URL of a service, as the end of the sentence "push.url ...", or
 * NULL. The sentence does not repeat the URL, which may hold a password. */
const char *config_url_fault(const char *url);
