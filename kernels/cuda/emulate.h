// A grid on the CPU: threads one after the other, each through its grid-stride loop.
#pragma once

struct Grid {
    int thread;
    int threads;
};

static thread_local Grid grid = {0, 1};

static inline int first_thread() { return grid.thread; }
static inline int all_threads() { return grid.threads; }
