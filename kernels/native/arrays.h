// Arrays of the kernels as lanes see them: elements that all share, neighbours, and places that differ by lane.
#pragma once

#include "lanes.h"

namespace wepl {

template <typename T>
struct View1 {
    T* data;
    int n0;
    WEPL_LANE_MEMBER T& operator()(int i) const { return data[i]; }
    WEPL_LANE_MEMBER int size() const { return n0; }
    WEPL_LANE_MEMBER int shape(int) const { return n0; }
};

template <typename T>
struct View2 {
    T* data;
    int n0, n1;
    WEPL_LANE_MEMBER T& operator()(int i, int j) const { return data[(long long)(i) * n1 + j]; }
    WEPL_LANE_MEMBER int shape(int axis) const { return axis == 0 ? n0 : n1; }
};

template <typename T>
struct View3 {
    T* data;
    int n0, n1, n2;
    WEPL_LANE_MEMBER T& operator()(int i, int j, int k) const { return data[((long long)(i) * n1 + j) * n2 + k]; }
    WEPL_LANE_MEMBER int shape(int axis) const { return axis == 0 ? n0 : (axis == 1 ? n1 : n2); }
};

// A group's own arrays, of a size known when compiling.
template <int N0>
struct Local1 {
    V data[N0];
    WEPL_LANE_MEMBER V& operator()(int i) { return data[i]; }
};

template <int N0, int N1>
struct Local2 {
    V data[N0 * N1];
    WEPL_LANE_MEMBER V& operator()(int i, int j) { return data[i * N1 + j]; }
};

template <typename T>
WEPL_LANE V at(M m, View1<T>& a, Lane i) { return load(m, &a(i.base)); }
template <typename T>
WEPL_LANE V at(M m, View1<T>& a, V i) { return gather(m, a.data, i); }
template <typename T>
WEPL_LANE V at(M m, View2<T>& a, int i, Lane j) { return load(m, &a(i, j.base)); }
template <typename T>
WEPL_LANE V at(M m, View2<T>& a, int i, V j) { return gather(m, &a(i, 0), j); }
template <typename T>
WEPL_LANE V at(M m, View3<T>& a, int i, int j, Lane k) { return load(m, &a(i, j, k.base)); }
template <typename T>
WEPL_LANE V at(M m, View3<T>& a, int i, int j, V k) { return gather(m, &a(i, j, 0), k); }

// The one place that all lanes at work share, or -1.
WEPL_LANE int shared(M m, V place) {
    const int on = bits(m);
    if (on == 0) {
        return -1;
    }
    const int first = int(place[__builtin_ctz(on)]);
    return any(m & M(place != wide(double(first)))) ? -1 : first;
}
template <typename T>
static inline V at(M m, View3<T>& a, int i, V j, Lane k) {
    const int row = shared(m, j);
    if (row >= 0) {
        return load(m, &a(i, row, k.base));
    }
    V x = wide(0.0);
    for (int lane = 0; lane < W; ++lane) {
        if (m[lane]) {
            x[lane] = double(a(i, int(j[lane]), k.base + lane));
        }
    }
    return x;
}
template <int N0, int N1>
static inline V at(M m, Local2<N0, N1>& a, int i, V j) {
    V x = wide(0.0);
    for (int lane = 0; lane < W; ++lane) {
        if (m[lane]) {
            x[lane] = a(i, int(j[lane]))[lane];
        }
    }
    return x;
}

template <typename T>
WEPL_LANE void put(M m, V x, View1<T>& a, Lane i) { save(m, &a(i.base), x); }
template <typename T>
WEPL_LANE void put(M m, V x, View2<T>& a, int i, Lane j) { save(m, &a(i, j.base), x); }
template <typename T>
WEPL_LANE void put(M m, V x, View3<T>& a, int i, int j, Lane k) { save(m, &a(i, j, k.base), x); }
template <typename T>
WEPL_LANE void scatter(M m, V x, T* to, V place) {
    for (int lane = 0; lane < W; ++lane) {
        if (m[lane]) {
            to[int(place[lane])] = T(x[lane]);
        }
    }
}
template <typename T>
static inline void put(M m, V x, View2<T>& a, int i, V j) { scatter(m, x, &a(i, 0), j); }
template <typename T>
static inline void put(M m, V x, View3<T>& a, int i, int j, V k) { scatter(m, x, &a(i, j, 0), k); }
template <typename T>
static inline void put(M m, V x, View3<T>& a, int i, V j, Lane k) {
    const int row = shared(m, j);
    if (row >= 0) {
        save(m, &a(i, row, k.base), x);
        return;
    }
    for (int lane = 0; lane < W; ++lane) {
        if (m[lane]) {
            a(i, int(j[lane]), k.base + lane) = T(x[lane]);
        }
    }
}
template <int N0, int N1>
static inline void put(M m, V x, Local2<N0, N1>& a, int i, V j) {
    for (int lane = 0; lane < W; ++lane) {
        if (m[lane]) {
            a(i, int(j[lane]))[lane] = x[lane];
        }
    }
}

// What all lanes at work share, read from the first of them.
template <typename T>
WEPL_LANE int first_of(M m, View2<T>& a, int i, Lane j) { return int(a(i, j.base + __builtin_ctz(bits(m)))); }

}  // namespace wepl
