// CUDA's language on a CPU, as far as kernels.cu uses it: for tests. The threads of a block are
// fibers that take turns at each __syncthreads(); blocks follow each other.

#include <cstdint>
#include <cstring>
#include <math.h>
#include <setjmp.h>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static thread_local

struct Index {
    unsigned x, y;
};
static thread_local Index threadIdx, blockIdx, blockDim, gridDim;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};

template <class To, class From> static To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

// ---- fibers

// A fiber begins on a stack of its own by ucontext; later switches are jumps, which need no calls of
// the operating system.
struct Fiber {
    ucontext_t context;
    jmp_buf place;
    std::vector<char> stack;
    bool done;
};
static thread_local std::vector<Fiber> fibers;
static thread_local jmp_buf scheduler;
static thread_local unsigned running;
static thread_local void (*body)(void*);
static thread_local void* body_arguments;
static thread_local bool in_fiber;
static thread_local bool barrier_outside;

static void __syncthreads() {
    if (!in_fiber) {
        barrier_outside = true;
    } else if (!_setjmp(fibers[running].place)) {
        _longjmp(scheduler, 1);
    }
}

static void enter() {
    body(body_arguments);
    fibers[running].done = true;
    _longjmp(scheduler, 1);
}

static void start(unsigned thread) {
    const size_t stack_size = 1 << 16;
    Fiber& fiber = fibers[thread];
    fiber.stack.resize(stack_size);
    fiber.done = false;
    running = thread;
    threadIdx = {thread, 0};
    if (_setjmp(scheduler)) return;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = stack_size;
    fiber.context.uc_link = 0;
    makecontext(&fiber.context, enter, 0);
    setcontext(&fiber.context);
}

static void resume(unsigned thread) {
    running = thread;
    threadIdx = {thread, 0};
    if (!_setjmp(scheduler)) _longjmp(fibers[thread].place, 1);
}

// Runs the threads of a block. Returns false if some threads reach a barrier that others do not
// reach: on a GPU that would be undefined.
static bool run_block() {
    fibers.resize(blockDim.x);
    in_fiber = true;
    start(0);
    if (fibers[0].done) {
        // No barriers: the other threads need no fibers.
        in_fiber = barrier_outside = false;
        for (unsigned thread = 1; thread < blockDim.x; thread++) {
            threadIdx = {thread, 0};
            body(body_arguments);
        }
        return !barrier_outside;
    }
    for (unsigned thread = 1; thread < blockDim.x; thread++) start(thread);
    for (;;) {
        unsigned done = 0;
        for (unsigned thread = 0; thread < blockDim.x; thread++) done += fibers[thread].done;
        if (done == blockDim.x) return true;
        if (done > 0) return false;
        for (unsigned thread = 0; thread < blockDim.x; thread++) resume(thread);
    }
}

// ---- launches

// An argument: 'a' address, 'n' null, 'w' a word of 4 bytes, 'd' one of 8 bytes.
typedef char Kind;

template <class T> static bool fits(Kind kind) {
    if (std::is_pointer<T>::value) return kind == 'a' || kind == 'n';
    return kind == (sizeof(T) == 4 ? 'w' : 'd');
}

template <class... A> struct Call {
    void (*kernel)(A...);
    void** arguments;

    template <size_t... I> void call(std::index_sequence<I...>) {
        kernel(*(A*)arguments[I]...);
    }
    static void run(void* self) {
        ((Call*)self)->call(std::make_index_sequence<sizeof...(A)>());
    }
};

// Runs a kernel. Returns false if threads disagree about a barrier.
template <class... A>
static bool run_grid(void (*kernel)(A...), Index grid, unsigned threads, void** arguments) {
    Call<A...> call = {kernel, arguments};
    body = Call<A...>::run;
    body_arguments = &call;
    blockDim = {threads, 1};
    gridDim = grid;
    for (unsigned y = 0; y < grid.y; y++) {
        for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = {x, y};
            if (!run_block()) return false;
        }
    }
    return true;
}

// Returns 0, 2 if the arguments do not fit, or 3 if threads disagree about a barrier.
template <class... A>
static int launch(void (*kernel)(A...), Index grid, unsigned threads, void** arguments,
                  const Kind* kinds, unsigned count) {
    if (count != sizeof...(A)) return 2;
    unsigned n = 0;
    bool all_fit = true;
    (void)std::initializer_list<int>{(all_fit = all_fit && fits<A>(kinds[n++]), 0)...};
    if (!all_fit) return 2;
    return run_grid(kernel, grid, threads, arguments) ? 0 : 3;
}
