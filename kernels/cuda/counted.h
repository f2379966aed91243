// A number that counts what is done with it: the kernels compiled with it tell how much arithmetic a step needs.
#pragma once

#include <cmath>

namespace wepl {

enum Operation { ADD, MULTIPLY, DIVIDE, ROOT, EXP, LOG, POW, TRIGONOMETRIC, COMPARE, ACCESS, OPERATIONS };
static long long operations[OPERATIONS];

struct Counted {
    double value;
    Counted() = default;
    template <typename T>
    Counted(T x) : value(double(x)) {}
    explicit operator int() const { return int(value); }
    explicit operator double() const { return value; }
    Counted& operator+=(Counted b) { ++operations[ADD]; value += b.value; return *this; }
    Counted& operator-=(Counted b) { ++operations[ADD]; value -= b.value; return *this; }
    Counted& operator*=(Counted b) { ++operations[MULTIPLY]; value *= b.value; return *this; }
    Counted& operator/=(Counted b) { ++operations[DIVIDE]; value /= b.value; return *this; }
    friend Counted operator-(Counted a) { return -a.value; }
#define WEPL_ARITHMETIC(symbol, kind) \
    friend Counted operator symbol(Counted a, Counted b) { ++operations[kind]; return a.value symbol b.value; }
    WEPL_ARITHMETIC(+, ADD)
    WEPL_ARITHMETIC(-, ADD)
    WEPL_ARITHMETIC(*, MULTIPLY)
    WEPL_ARITHMETIC(/, DIVIDE)
#undef WEPL_ARITHMETIC
#define WEPL_COMPARISON(symbol) \
    friend bool operator symbol(Counted a, Counted b) { ++operations[COMPARE]; return a.value symbol b.value; }
    WEPL_COMPARISON(<)
    WEPL_COMPARISON(<=)
    WEPL_COMPARISON(>)
    WEPL_COMPARISON(>=)
    WEPL_COMPARISON(==)
    WEPL_COMPARISON(!=)
#undef WEPL_COMPARISON
};

#define WEPL_COUNTED(name, kind) \
    static inline Counted name(Counted x) { ++operations[kind]; return ::name(x.value); }
WEPL_COUNTED(exp, EXP)
WEPL_COUNTED(expm1, EXP)
WEPL_COUNTED(log, LOG)
WEPL_COUNTED(log1p, LOG)
WEPL_COUNTED(sqrt, ROOT)
WEPL_COUNTED(sin, TRIGONOMETRIC)
WEPL_COUNTED(cos, TRIGONOMETRIC)
WEPL_COUNTED(tan, TRIGONOMETRIC)
WEPL_COUNTED(acos, TRIGONOMETRIC)
WEPL_COUNTED(floor, ADD)
WEPL_COUNTED(ceil, ADD)
#undef WEPL_COUNTED
static inline Counted pow(Counted x, Counted y) {
    ++operations[POW];
    return ::pow(x.value, y.value);
}

}  // namespace wepl

extern "C" void take_operations(long long* out) {
    for (int kind = 0; kind < wepl::OPERATIONS; ++kind) {
        out[kind] = wepl::operations[kind];
        wepl::operations[kind] = 0;
    }
}
