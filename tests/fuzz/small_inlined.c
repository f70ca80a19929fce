// SPDX-License-Identifier: Apache-2.0
/* Compiled with debug information, a small file with functions that the compiler inlines, in blocks
 * and into each other: a seed of dwarf_fuzz.c. It is C and C++. */
#ifdef __cplusplus
namespace shop
{
template <typename Number> struct cart {
    static inline __attribute__((always_inline)) Number price(Number count);
};
template <typename Number> Number cart<Number>::price(Number count)
{
    return count * 7;
}
} // namespace shop
#define PRICE(count) shop::cart<long>::price(count)
#else
#define PRICE(count) ((count)*7)
#endif

static inline __attribute__((always_inline)) long inner(volatile long *at, long count)
{
    long sum = 0;

    for (long i = 0; i < count; i++) {
        long one = PRICE(at[i]);

        sum += one;
    }
    return sum;
}

static inline __attribute__((always_inline)) long middle(volatile long *at, long count)
{
    return count > 10 ? inner(at, count) : inner(at + 1, count - 1);
}

__attribute__((noinline)) long outer(volatile long *at, long count);
__attribute__((noinline)) long outer(volatile long *at, long count)
{
    return middle(at, count) + 1;
}
