// The types of a compilation, and the place of a thread in a grid-stride loop.
#pragma once

#include "prelude.cuh"
#include "rows.cuh"
#include "views.cuh"

#ifndef WEPL_REAL
#error "WEPL_REAL, the type of arithmetic, is given when a kernel is compiled"
#endif
#ifndef WEPL_STORE
#error "WEPL_STORE, the type of storages and totals, is given when a kernel is compiled"
#endif
typedef WEPL_REAL Real;
typedef WEPL_STORE Store;

#ifdef WEPL_EMULATE
#define __global__
#include "emulate.h"
#else
static __device__ __forceinline__ int first_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ int all_threads() { return gridDim.x * blockDim.x; }
#endif
