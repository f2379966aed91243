// Short vectors of doubles and masks: one lane per tile, unit or sub-basin. GCC and clang compile the vector types for
// any processor; where there is AVX2 some operations have instructions of their own.
#pragma once

#include <cmath>
#include <cstring>
#if defined(__AVX2__) && !defined(WEPL_PLAIN)
#include <immintrin.h>
#define WEPL_AVX2 1
#endif

namespace wepl {

#define WEPL_LANE static inline __attribute__((always_inline))
// Called, not copied: the column's code does not fit the processor's first cache as it is.
#define WEPL_CALL static __attribute__((noinline))
#define WEPL_LANE_MEMBER inline __attribute__((always_inline))
typedef double Real;

constexpr int W = 4;
typedef double V __attribute__((vector_size(W * sizeof(double))));
typedef long long M __attribute__((vector_size(W * sizeof(long long))));

// The first place of a group of lanes that are neighbours in memory.
struct Lane {
    int base;
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

WEPL_LANE V wide(double x) { return V{x, x, x, x}; }
WEPL_LANE V wide(V x) { return x; }
WEPL_LANE M mask(bool x) { const long long y = -(long long)x; return M{y, y, y, y}; }
WEPL_LANE M mask(M x) { return x; }
WEPL_LANE V numbers() { return V{0.0, 1.0, 2.0, 3.0}; }
WEPL_LANE V wide(Lane x) { return wide(double(x.base)) + numbers(); }

#ifdef WEPL_AVX2
WEPL_LANE V pick(M m, V a, V b) { return (V)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
WEPL_LANE bool any(M m) { return _mm256_movemask_pd((__m256d)m) != 0; }
WEPL_LANE int bits(M m) { return _mm256_movemask_pd((__m256d)m); }
// As the reference's comparisons: what is not a number is not hidden.
WEPL_LANE V min(V a, V b) { return (V)_mm256_min_pd((__m256d)b, (__m256d)a); }
WEPL_LANE V max(V a, V b) { return (V)_mm256_max_pd((__m256d)b, (__m256d)a); }
WEPL_LANE V sqrt(V a) { return (V)_mm256_sqrt_pd((__m256d)a); }
WEPL_LANE V floor(V a) { return (V)_mm256_floor_pd((__m256d)a); }
WEPL_LANE V ceil(V a) { return (V)_mm256_ceil_pd((__m256d)a); }
WEPL_LANE V trunc(V a) { return (V)_mm256_round_pd((__m256d)a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
WEPL_LANE V fma(V a, V b, V c) { return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#else
WEPL_LANE V pick(M m, V a, V b) { return (V)(((M)a & m) | ((M)b & ~m)); }
WEPL_LANE bool any(M m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
WEPL_LANE int bits(M m) { return int((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8)); }
WEPL_LANE V min(V a, V b) { return pick(b < a, b, a); }
WEPL_LANE V max(V a, V b) { return pick(b > a, b, a); }
#define WEPL_EACH(name) WEPL_LANE V name(V a) { return V{::name(a[0]), ::name(a[1]), ::name(a[2]), ::name(a[3])}; }
WEPL_EACH(sqrt)
WEPL_EACH(floor)
WEPL_EACH(ceil)
WEPL_EACH(trunc)
#undef WEPL_EACH
WEPL_LANE V fma(V a, V b, V c) {
    return V{::fma(a[0], b[0], c[0]), ::fma(a[1], b[1], c[1]), ::fma(a[2], b[2], c[2]), ::fma(a[3], b[3], c[3])};
}
#endif

constexpr int ALL = (1 << W) - 1;
WEPL_LANE M pick(M m, M a, M b) { return (a & m) | (b & ~m); }
template <typename A, typename B>
WEPL_LANE Tuple2<A, B> pick(M m, Tuple2<A, B> a, Tuple2<A, B> b) { return {pick(m, a.v0, b.v0), pick(m, a.v1, b.v1)}; }
template <typename A, typename B, typename C>
WEPL_LANE Tuple3<A, B, C> pick(M m, Tuple3<A, B, C> a, Tuple3<A, B, C> b) {
    return {pick(m, a.v0, b.v0), pick(m, a.v1, b.v1), pick(m, a.v2, b.v2)};
}
WEPL_LANE V abs(V a) { return (V)((M)a & 0x7fffffffffffffffLL); }
// Of whole numbers below 2^26, whose quotients are not rounded up to the next.
WEPL_LANE V whole_quotient(V a, V b) { return floor(a / b); }
WEPL_LANE V whole_rest(V a, V b) { return a - b * floor(a / b); }
// x - x is 0 for every finite x, NaN for the rest.
WEPL_LANE M isfinite(V x) { return x - x == wide(0.0); }
static inline double min(double a, double b) { return b < a ? b : a; }
static inline double max(double a, double b) { return b > a ? b : a; }
static inline int min(int a, int b) { return b < a ? b : a; }
static inline int max(int a, int b) { return b > a ? b : a; }
static inline bool any(bool m) { return m; }

template <int N, typename R>
WEPL_LANE R power(R x) {
    if constexpr (N == 1) {
        return x;
    } else if constexpr (N % 2 == 0) {
        return power<N / 2>(x * x);
    } else {
        return x * power<N / 2>(x * x);
    }
}

template <typename T>
WEPL_LANE V load(const T* from) {
    V x;
    if constexpr (sizeof(T) == sizeof(double)) {
        std::memcpy(&x, from, sizeof(x));
    } else {
        x = V{double(from[0]), double(from[1]), double(from[2]), double(from[3])};
    }
    return x;
}
template <typename T>
WEPL_LANE V load(M m, const T* from) {
    const int on = bits(m);
    if (on == ALL) {
        return load(from);
    }
    V x = wide(0.0);
    for (int lane = 0; lane < W; ++lane) {
        if (on >> lane & 1) {
            x[lane] = double(from[lane]);
        }
    }
    return x;
}
template <typename T>
WEPL_LANE void save(M m, T* to, V x) {
    const int on = bits(m);
    if (sizeof(T) == sizeof(double) && on == ALL) {
        std::memcpy(to, &x, sizeof(x));
        return;
    }
    for (int lane = 0; lane < W; ++lane) {
        if (on >> lane & 1) {
            to[lane] = T(x[lane]);
        }
    }
}
// Values from places that differ from lane to lane; lanes that are off read the first place.
template <typename T>
WEPL_LANE V gather(M m, const T* from, V place) {
    const V at = pick(m, place, wide(0.0));
#ifdef WEPL_AVX2
    const __m128i i = _mm256_cvttpd_epi32((__m256d)at);
    const int i0 = _mm_cvtsi128_si32(i), i1 = _mm_extract_epi32(i, 1), i2 = _mm_extract_epi32(i, 2), i3 = _mm_extract_epi32(i, 3);
#else
    const int i0 = int(at[0]), i1 = int(at[1]), i2 = int(at[2]), i3 = int(at[3]);
#endif
    return V{double(from[i0]), double(from[i1]), double(from[i2]), double(from[i3])};
}

// Elementary functions, within 1 to 3 units of the last place; pow within 3.

// 2^k (1 + the value) is exp(x + more): x is k ln 2 and a rest of at most ln 2 / 2 whose expm1 is a polynomial.
WEPL_LANE V reduced(V x, V more, M& k) {
    const V magic = wide(0x1.8p52);
    const V shifted = fma(x, wide(0x1.71547652b82fep0), magic);
    const V times = shifted - magic;
    k = (M)shifted;
    const V r = fma(times, wide(-0x1.abc9e3b39803fp-56), fma(times, wide(-0x1.62e42fefa39efp-1), x)) + more;
    const V r2 = r * r, r4 = r2 * r2;
    const V p01 = fma(r, wide(0x1.5555555554cb7p-5), wide(0x1.5555555555555p-3));
    const V p23 = fma(r, wide(0x1.6c16c1738ff55p-10), wide(0x1.1111111110e6ap-7));
    const V p45 = fma(r, wide(0x1.a019c9a5652d3p-16), wide(0x1.a01a01a4b322fp-13));
    const V p67 = fma(r, wide(0x1.2880411bad1aap-22), wide(0x1.71de17e40edfep-19));
    const V low = fma(r2, p23, p01), high = fma(r2, fma(r2, wide(0x1.af236aac51d05p-26), p67), p45);
    const V p = fma(r4, high, low);
    return fma(r2, fma(r, p, wide(0.5)), r);
}
WEPL_LANE V two_to(M k) { return (V)((k << 52) + 0x3ff0000000000000LL); }

WEPL_LANE V exp_of(V x, V more) {
    const V bounded = min(max(x, wide(-708.0)), wide(709.0));
    M k;
    const V q = reduced(bounded, more, k);
    const V s = two_to(k - 1);
    const V y = fma(s, q, s) * 2.0;
    return pick(x > 709.0, wide(HUGE_VAL), pick(x < -708.0, wide(0.0), y));
}
WEPL_CALL V exp(V x) { return exp_of(x, wide(0.0)); }

WEPL_CALL V expm1(V x) {
    const V bounded = min(max(x, wide(-40.0)), wide(709.0));
    M k;
    const V q = reduced(bounded, wide(0.0), k);
    const V s = two_to(k);
    const V y = fma(s, q, s - 1.0);
    return pick(x > 709.0, wide(HUGE_VAL), y);
}

// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); k as a number.
WEPL_LANE V split(V x, V& k, V& scale) {
    const M offset = (M)x - 0x3fe6a09e00000000LL + 0x3ff0000000000000LL;
    const M biased = (M)((unsigned long long __attribute__((vector_size(W * 8))))offset >> 52);
    k = (V)(biased | 0x4330000000000000LL) - (0x1p52 + 1023.0);
    scale = (V)((2046LL - biased) << 52);
    return (V)((M)x - (biased << 52) + 0x3ff0000000000000LL) - 1.0;
}
// log(1 + f) is f - half + the value, half being f f / 2 (fdlibm's e_log).
WEPL_LANE V log_rest(V f, V half) {
    const V s = f / (2.0 + f), z = s * s, w = z * z;
    const V even = w * fma(w, fma(w, wide(1.531383769920937332e-01), wide(2.222219843214978396e-01)), wide(3.999999999940941908e-01));
    const V odd = z * fma(w, fma(w, fma(w, wide(1.479819860511658591e-01), wide(1.818357216161805012e-01)), wide(2.857142874366239149e-01)), wide(6.666666666666735130e-01));
    return s * (half + (even + odd));
}
constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;

// What log gives for x that is not a positive normal number.
WEPL_LANE V log_edges(V x, V y) {
    const V low = pick(x < 0.0, wide(NAN), wide(-HUGE_VAL));
    return pick(x < HUGE_VAL, pick(x < 0x1p-1022, low, y), x);
}

WEPL_CALL V log(V x) {
    V k, scale;
    const V f = split(x, k, scale), half = 0.5 * f * f;
    const V y = fma(k, wide(LN2_HIGH), f - (half - fma(k, wide(LN2_LOW), log_rest(f, half))));
    return log_edges(x, y);
}
WEPL_CALL V log1p(V x) {
    const V u = 1.0 + x;
    V k, scale;
    // What 1 + x has rounded away.
    const V back = u - x, lost = (1.0 - back) + (x - (u - back));
    const V top = split(u, k, scale);
    const V f = fma(lost, scale, top), half = 0.5 * f * f;
    const V y = fma(k, wide(LN2_HIGH), f - (half - fma(k, wide(LN2_LOW), log_rest(f, half))));
    return log_edges(u, y);
}

// The logarithm in two parts, so that a large exponent does not enlarge its rounding.
WEPL_CALL V pow(V x, V y) {
    V k, scale;
    const V f = split(x, k, scale), half = 0.5 * f * f;
    const V whole = k * LN2_HIGH, top = whole + f, lost = (whole - top) + f;
    const V rest = (log_rest(f, half) - half) + fma(k, wide(LN2_LOW), lost);
    const V high = top + rest, low = (top - high) + rest;
    const V product = y * high;
    const V z = exp_of(product, fma(y, low, fma(y, high, -product)));
    // 0 and infinity to a power; of a negative number there is none.
    const V end = pick((x < 1.0) == (y > 0.0), wide(0.0), wide(HUGE_VAL));
    const V edge = pick(y == wide(0.0), wide(1.0), pick(x < 0.0, wide(NAN), pick(y == y, end, y)));
    return pick(x < HUGE_VAL, pick(x < 0x1p-1022, edge, z), pick(x == x, edge, x));
}

#define WEPL_EACH(name) static inline V name(V a) { return V{::name(a[0]), ::name(a[1]), ::name(a[2]), ::name(a[3])}; }
WEPL_EACH(sin)
WEPL_EACH(cos)
WEPL_EACH(tan)
WEPL_EACH(acos)
#undef WEPL_EACH

}  // namespace wepl
