// SPDX-License-Identifier: Apache-2.0
/* Names of functions as Erlang terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/fprof/fprof_term.h"

struct named_term {
    const char *name, *term;
};

static void assert_terms(const struct named_term *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buffer out = {0};

        fprof_term_function(&out, cases[i].name);
        buffer_byte(&out, '\0');
        assert_string_equal(out.data, cases[i].term);
        buffer_free(&out);
    }
}

static void test_functions_are_tuples(void **state)
{
    static const struct named_term cases[] = {
        {"lists:map/2", "{lists,map,2}"},
        {"request:'-parse/1-lc$^0/1-0-'/1", "{request,'-parse/1-lc$^0/1-0-',1}"},
        {"'my-mod':f@1_x/255", "{'my-mod',f@1_x,255}"},
        {"'a\\'b:c':'d/e'/0", "{'a\\'b:c','d/e',0}"},
        {"erlang:+/2", "{erlang,'+',2}"},
        {"erlang:and/2", "{erlang,'and',2}"},
        {"erlang://2", "{erlang,'/',2}"},
        {"my-mod:F/1", "{'my-mod','F',1}"},
        {"'open:map/1", "{'\\'open',map,1}"},
        {"Enum.map/2", "{'Elixir.Enum',map,2}"},
        {"Shop.Cart.valid?/1", "{'Elixir.Shop.Cart','valid?',1}"},
        {"Shop.Cart.-add/2-fun-0-/1", "{'Elixir.Shop.Cart','-add/2-fun-0-',1}"},
        {"Shop.Cart.Add/1", "{'Elixir.Shop.Cart','Add',1}"},
        {"Kernel.+/2", "{'Elixir.Kernel','+',2}"},
        {"caf\xc3\xa9:m/0", "{'caf\xc3\xa9',m,0}"},
    };

    (void)state;
    assert_terms(cases, sizeof(cases) / sizeof(*cases));
}

/* Texts that are no names of functions stay whole, and are terms too. */
static void test_other_texts_are_terms_too(void **state)
{
    static const struct named_term cases[] = {
        {"", "{'','',0}"},
        {"[unknown]", "{'','[unknown]',0}"},
        {"it's\\", "{'','it\\'s\\\\',0}"},
        {"lists:map", "{'','lists:map',0}"},
        {"lists:map/x", "{'','lists:map/x',0}"},
        {"lists:map/1000", "{'','lists:map/1000',0}"},
        {":map/1", "{'',':map/1',0}"},
        {"lists:/1", "{'','lists:/1',0}"},
        {"a:'b'c/1", "{'','a:\\'b\\'c/1',0}"},
        {"Enum/1", "{'','Enum/1',0}"},
        {"Enum./1", "{'','Enum./1',0}"},
    };

    (void)state;
    assert_terms(cases, sizeof(cases) / sizeof(*cases));
}

static void test_strings_have_their_quotes_escaped(void **state)
{
    struct buffer out = {0};

    (void)state;
    fprof_term_string(&out, "a\"b\\c'");
    buffer_byte(&out, '\0');
    assert_string_equal(out.data, "\"a\\\"b\\\\c'\"");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_tuples),
        cmocka_unit_test(test_other_texts_are_terms_too),
        cmocka_unit_test(test_strings_have_their_quotes_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
