// SPDX-License-Identifier: Apache-2.0
/* What `beamflame calls` says of its results besides the table. */
#include "cli/calls_print.h"
#include "cli/message.h"
#include "output/number_text.h"
#include "util/buffer.h"

/* Slow calls are listed in full if calls were followed for so many times as long. */
enum { MUCH_LONGER = 10 };

/* Warn of facts that a reader of the table would not expect. */
void calls_warn(const struct call_facts *facts)
{
    if (facts->end == CALL_END_VM)
        message_warning("the VM has ended");
    if (facts->reloads)
        message_warning("the VM loaded code %u times: calls of a new version in its first %.2f s "
                        "may be missing",
                        facts->reloads, facts->blind_seconds);
    if (facts->old_code)
        message_warning("processes that still run an older version of a module are not counted: "
                        "all %d breakpoints are in use",
                        WIRE_CALL_AT_ONCE);
    if (facts->missing_threads)
        message_warning("%u schedulers of the VM were not found: what they call is not counted",
                        facts->missing_threads);
}

static void say_cost(const struct call_facts *facts, double budget)
{
    struct buffer text = {0};

    if (facts->is_scaled)
        buffer_format(&text,
                      "; the calls are estimates from %s window%s that cover %.1f %% of the time%s",
                      number_text(facts->windows).text, facts->windows == 1 ? "" : "s",
                      100 * facts->covered, budget < 1 ? ", a higher --budget covers more" : "");
    if (facts->own_ns > 0)
        message_say(
            "breakpoints added about %.1f us to each call, which is subtracted from its time",
            facts->own_ns / 1000);
    message_say("%s hits in %.2f s, of about %.1f us each: %.2f %% of the VM's CPU time%.*s",
                number_text(facts->hits).text, facts->seconds, facts->hit_ns / 1000,
                100 * facts->share, (int)text.size, text.size ? text.data : "");
    buffer_free(&text);
    if (facts->split_hits)
        message_say("%s hits of probes on scheduling and collections, of about %.1f us each, are "
                    "in it",
                    number_text(facts->split_hits).text, facts->split_ns / 1000);
}

/* Say which calls have no time. */
static void say_unreturned(const struct call_report *report)
{
    struct call_unreturned sum = {0};

    for (size_t i = 0; i < report->count; i++) {
        sum.passed += report->of[i].unreturned.passed;
        sum.ended += report->of[i].unreturned.ended;
        sum.no_room += report->of[i].unreturned.no_room;
        sum.untimed += report->of[i].unreturned.untimed;
        sum.unsplit += report->of[i].unreturned.unsplit;
    }
    if (sum.passed)
        message_say("%s of the calls that were followed did not return: an exception passed them, "
                    "or a tail call replaced them",
                    number_text(sum.passed).text);
    if (sum.ended)
        message_say("%s of the calls that were followed did not return: their process ended",
                    number_text(sum.ended).text);
    if (sum.no_room)
        message_warning("%s calls were not followed, because too many others had not returned",
                        number_text(sum.no_room).text);
    if (sum.untimed)
        message_warning("%s calls have no time, because there were too many callers with different "
                        "times",
                        number_text(sum.untimed).text);
    if (sum.unsplit)
        message_say("%s calls returned, and it is not known what their time is made of: a part of "
                    "it was not seen",
                    number_text(sum.unsplit).text);
}

/* A call can only be timed if it begins and returns while it is followed. */
static void warn_of_slow(const struct call_report *report, const struct call_facts *facts,
                         uint64_t slow_ns)
{
    if (report->unlisted)
        message_warning("%s slow calls are not listed, because there were too many",
                        number_text(report->unlisted).text);
    if (facts->followed_ns > 0 && facts->followed_ns < MUCH_LONGER * (double)slow_ns)
        message_warning("slow calls are missing: calls were followed for %.0f ms at most; one "
                        "function with --budget 100 and few callers has all",
                        facts->followed_ns / 1e6);
}

static void warn_of_unchecked(const struct call_report *report, const struct call_facts *facts)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct call_function_report *function = &report->of[i];

        if (function->unchecked)
            message_warning("between %s%s and %s calls of %s match: it is not known of %s calls, "
                            "because a map was too large to search, or memory could not be read",
                            facts->is_scaled ? "about " : "", number_text(function->calls).text,
                            number_text(function->calls + function->unchecked).text,
                            function->symbol, number_text(function->unchecked).text);
    }
}

/* Say how many calls show `...` in the place of a part of their arguments. */
static void say_cut(const struct call_report *report)
{
    uint64_t cut = 0, seen = 0;

    for (size_t i = 0; i < report->count; i++) {
        cut += report->of[i].cut;
        seen += report->of[i].seen;
    }
    if (cut)
        message_say("%s of %s calls have arguments of which a part is shown as ...",
                    number_text(cut).text, number_text(seen).text);
}

void calls_say(const struct call_report *report, const struct call_facts *facts, double budget,
               uint64_t slow_ns)
{
    say_unreturned(report);
    if (report->lists_slow)
        warn_of_slow(report, facts, slow_ns);
    say_cut(report);
    warn_of_unchecked(report, facts);
    say_cost(facts, budget);
}
