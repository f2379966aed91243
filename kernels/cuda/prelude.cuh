// What every kernel shares: qualifiers, array views, small tuples, and functions that mean the same on GPU and CPU.
#pragma once

#ifdef WEPL_EMULATE
#include <cmath>
#define WEPL_FUNCTION static inline
#define WEPL_FUNCTION_MEMBER inline
#define __restrict__ __restrict
#else
#define WEPL_FUNCTION static __device__ __forceinline__
#define WEPL_FUNCTION_MEMBER __device__ __forceinline__
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#endif

#ifndef N_LAYERS
#error "N_LAYERS, the number of soil layers, is given when a kernel is compiled"
#endif

#ifdef WEPL_COUNT
#include "counted.h"
#define WEPL_ACCESS ++wepl::operations[wepl::ACCESS];
#else
#define WEPL_ACCESS
#endif

namespace wepl {

using size = long long;

template <typename T>
struct View1 {
    T* data;
    int n0;
    WEPL_FUNCTION_MEMBER T& operator()(int i) const { WEPL_ACCESS return data[i]; }
    WEPL_FUNCTION_MEMBER int size() const { return n0; }
    WEPL_FUNCTION_MEMBER int shape(int) const { return n0; }
};

template <typename T>
struct View2 {
    T* data;
    int n0, n1;
    WEPL_FUNCTION_MEMBER T& operator()(int i, int j) const { WEPL_ACCESS return data[wepl::size(i) * n1 + j]; }
    WEPL_FUNCTION_MEMBER int shape(int axis) const { return axis == 0 ? n0 : n1; }
};

template <typename T>
struct View3 {
    T* data;
    int n0, n1, n2;
    WEPL_FUNCTION_MEMBER T& operator()(int i, int j, int k) const {
        WEPL_ACCESS
        return data[(wepl::size(i) * n1 + j) * n2 + k];
    }
    WEPL_FUNCTION_MEMBER int shape(int axis) const { return axis == 0 ? n0 : (axis == 1 ? n1 : n2); }
};

// A thread's own arrays, of a size known when compiling.
template <typename T, int N0>
struct Local1 {
    T data[N0];
    WEPL_FUNCTION_MEMBER T& operator()(int i) { return data[i]; }
};

template <typename T, int N0, int N1>
struct Local2 {
    T data[N0 * N1];
    WEPL_FUNCTION_MEMBER T& operator()(int i, int j) { return data[i * N1 + j]; }
};

// A store in single precision with the part that its sum has rounded away: as exact as double for what storages do.
struct Pair {
    float high;
    float low;
    WEPL_FUNCTION_MEMBER operator float() const { return high + low; }
    WEPL_FUNCTION_MEMBER Pair& operator=(float value) {
        high = value;
        low = 0.0f;
        return *this;
    }
    // The error of a sum is exact (Knuth 1969); the second line keeps the two parts apart.
    WEPL_FUNCTION_MEMBER Pair& operator+=(float value) {
        const float sum = high + value;
        const float back = sum - high;
        low += (high - (sum - back)) + (value - back);
        high = sum + low;
        low -= high - sum;
        return *this;
    }
    WEPL_FUNCTION_MEMBER Pair& operator-=(float value) { return *this += -value; }
};

template <typename A, typename B>
struct Tuple2 {
    A v0;
    B v1;
};

template <typename A, typename B, typename C>
struct Tuple3 {
    A v0;
    B v1;
    C v2;
};

// Comparisons, not fmin and fmax: a NaN must not be hidden.
// Two types where single precision meets a storage in double.
template <typename A, typename B>
WEPL_FUNCTION auto min(A a, B b) -> decltype(a + b) { return b < a ? b : a; }
template <typename A, typename B>
WEPL_FUNCTION auto max(A a, B b) -> decltype(a + b) { return b > a ? b : a; }
template <typename R>
WEPL_FUNCTION R abs(R a) { return a < R(0) ? -a : a; }

#define WEPL_MATH_1(name) \
    WEPL_FUNCTION double name(double x) { return ::name(x); } \
    WEPL_FUNCTION float name(float x) { return ::name##f(x); }
WEPL_MATH_1(exp)
WEPL_MATH_1(log)
WEPL_MATH_1(log1p)
WEPL_MATH_1(expm1)
WEPL_MATH_1(sqrt)
WEPL_MATH_1(sin)
WEPL_MATH_1(cos)
WEPL_MATH_1(tan)
WEPL_MATH_1(acos)
WEPL_MATH_1(floor)
WEPL_MATH_1(ceil)
#undef WEPL_MATH_1
WEPL_FUNCTION double pow(double x, double y) { return ::pow(x, y); }
WEPL_FUNCTION float pow(float x, float y) { return ::powf(x, y); }
// x - x is 0 for every finite x, NaN for the rest.
template <typename R>
WEPL_FUNCTION bool isfinite(R x) { return x - x == R(0); }

template <int N, typename R>
WEPL_FUNCTION R power(R x) {
    if constexpr (N == 1) {
        return x;
    } else if constexpr (N % 2 == 0) {
        return power<N / 2>(x * x);
    } else {
        return x * power<N / 2>(x * x);
    }
}

}  // namespace wepl
