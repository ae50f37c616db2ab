// A driver, cuBLAS and NVRTC that work on the CPU, as far as the engine calls them: for tests of the
// code that calls them. Kernels run by emulation.h. Work is done when it is put into a stream, or
// recorded if the stream is captured. Misuse ends the process.

#include "emulation.h"
#include "kernels.cu"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#define EXPORTED extern "C" __attribute__((visibility("default"))) int
#define REFUSE(what)                                                                             \
    {                                                                                            \
        fprintf(stderr, "fake driver: %s\n", what);                                              \
        abort();                                                                                 \
    }

typedef std::function<void()> Work;
typedef unsigned long long Address;

struct Graph {
    std::vector<Work> work;
};
struct Event {
    // Whether it was recorded in a captured stream.
    bool captured;
};

// One stream is captured at a time, with those that wait for it.
static std::recursive_mutex mutex;
static Graph* capture;
static std::set<void*> captured_streams;
static thread_local void* current_context;

static void put(void* stream, Work work) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    if (!capture) {
        work();
    } else if (captured_streams.count(stream)) {
        capture->work.push_back(work);
    } else {
        REFUSE("work in a stream that does not wait for the captured one");
    }
}

static void refuse_in_capture(const char* what) {
    if (capture) REFUSE(what);
}

// Copies the arguments of a kernel, as the driver does.
template <class... A>
static Work deferred(void (*kernel)(A...), Index grid, unsigned threads, void** arguments) {
    auto copies = std::make_shared<std::tuple<A...>>();
    unsigned n = 0;
    std::apply([&](auto&... copy) { (memcpy((void*)&copy, arguments[n++], sizeof(copy)), ...); },
               *copies);
    return [=] {
        void* pointers[sizeof...(A)];
        unsigned m = 0;
        std::apply([&](auto&... copy) { ((pointers[m++] = (void*)&copy), ...); }, *copies);
        if (!run_grid(kernel, grid, threads, pointers)) REFUSE("threads disagree about a barrier");
    };
}

// ---- driver: device, context and memory

// Compute capability, of attributes 75 and 76.
EXPORTED cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1;
    return 0;
}
EXPORTED cuInit(unsigned) { return 0; }
EXPORTED cuDeviceGet(int* device, int) { return *device = 0; }
EXPORTED cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &mutex;
    return 0;
}
EXPORTED cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORTED cuCtxGetCurrent(void** context) {
    *context = current_context;
    return 0;
}
EXPORTED cuCtxSetCurrent(void* context) {
    current_context = context;
    return 0;
}
EXPORTED cuGetErrorString(int, const char** text) {
    *text = "an error of the fake driver";
    return 0;
}
EXPORTED cuMemGetInfo_v2(size_t* free, size_t* total) {
    *free = *total = (size_t)1 << 30;
    return 0;
}
EXPORTED cuMemAlloc_v2(Address* address, size_t bytes) {
    *address = (Address)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return 0;
}
EXPORTED cuMemFree_v2(Address address) {
    free((void*)address);
    return 0;
}
EXPORTED cuMemsetD8Async(Address address, unsigned char value, size_t bytes, void*) {
    memset((void*)address, value, bytes);
    return 0;
}
EXPORTED cuMemHostAlloc(void** address, size_t bytes, unsigned) {
    *address = malloc(bytes);
    return 0;
}
EXPORTED cuMemFreeHost(void* address) {
    free(address);
    return 0;
}
EXPORTED cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void*) {
    refuse_in_capture("a copy in a capture");
    memcpy((void*)to, from, bytes);
    return 0;
}
EXPORTED cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void*) {
    refuse_in_capture("a copy in a capture");
    memcpy(to, (void*)from, bytes);
    return 0;
}

// ---- driver: kernels

static Work work_of(const char* name, Index grid, unsigned threads, void** arguments);

EXPORTED cuModuleLoadData(void** module, const void*) {
    *module = &mutex;
    return 0;
}
EXPORTED cuModuleUnload(void*) { return 0; }
EXPORTED cuModuleGetFunction(void** function, void*, const char* name) {
    *function = strdup(name);
    return 0;
}
EXPORTED cuFuncGetAttribute(int* value, int, void*) { return *value = 0; }
EXPORTED cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                        unsigned threads_y, unsigned threads_z, unsigned shared, void* stream,
                        void** arguments, void**) {
    // The limits of the second axis and of a block.
    bool fits = x > 0 && x <= 0x7fffffff && y > 0 && y <= 65535 && threads <= 1024;
    if (!fits || z != 1 || threads_y != 1 || threads_z != 1 || shared != 0) return 1;
    put(stream, work_of((const char*)function, {x, y}, threads, arguments));
    return 0;
}

// ---- driver: streams, events and graphs

EXPORTED cuStreamCreate(void** stream, unsigned) {
    *stream = new char;
    return 0;
}
EXPORTED cuStreamDestroy_v2(void* stream) {
    delete (char*)stream;
    return 0;
}
EXPORTED cuStreamSynchronize(void*) {
    refuse_in_capture("waiting for a stream in a capture");
    return 0;
}
EXPORTED cuEventCreate(void** event, unsigned) {
    *event = new Event{false};
    return 0;
}
EXPORTED cuEventDestroy_v2(void* event) {
    delete (Event*)event;
    return 0;
}
EXPORTED cuEventRecord(void* event, void* stream) {
    ((Event*)event)->captured = capture && captured_streams.count(stream);
    return 0;
}
EXPORTED cuEventSynchronize(void*) { return 0; }
EXPORTED cuStreamWaitEvent(void* stream, void* event, unsigned) {
    if (capture && ((Event*)event)->captured) captured_streams.insert(stream);
    return 0;
}
EXPORTED cuStreamBeginCapture_v2(void* stream, int) {
    mutex.lock();
    refuse_in_capture("a capture in a capture");
    capture = new Graph;
    captured_streams = {stream};
    return 0;
}
EXPORTED cuStreamEndCapture(void*, void** graph) {
    *graph = capture;
    capture = nullptr;
    captured_streams.clear();
    mutex.unlock();
    return 0;
}
EXPORTED cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
    *executable = new Graph(*(Graph*)graph);
    return 0;
}
EXPORTED cuGraphUpload(void*, void*) { return 0; }
EXPORTED cuGraphLaunch(void* executable, void*) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    refuse_in_capture("a graph in a capture");
    for (auto& work : ((Graph*)executable)->work) work();
    return 0;
}
EXPORTED cuGraphExecDestroy(void* executable) {
    delete (Graph*)executable;
    return 0;
}
EXPORTED cuGraphDestroy(void* graph) {
    delete (Graph*)graph;
    return 0;
}

// ---- cuBLAS

struct Handle {
    void* stream;
    void* workspace;
};

EXPORTED cublasCreate_v2(Handle** handle) {
    *handle = new Handle{nullptr, nullptr};
    return 0;
}
EXPORTED cublasDestroy_v2(Handle* handle) {
    delete handle;
    return 0;
}
// Setting the stream resets the workspace.
EXPORTED cublasSetStream_v2(Handle* handle, void* stream) {
    *handle = {stream, nullptr};
    return 0;
}
EXPORTED cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t) {
    handle->workspace = workspace;
    return 0;
}
// C = op(A) op(B) of matrices that are stored by columns.
EXPORTED cublasGemmStridedBatchedEx(Handle* handle, int transposed_a, int transposed_b, int m,
                                    int n, int k, const void* alpha, const void* a, int type_a,
                                    int lda, long long stride_a, const void* b, int type_b,
                                    int ldb, long long stride_b, const void* beta, void* c,
                                    int type_c, int ldc, long long stride_c, int count,
                                    int compute, int) {
    bool single = type_a == 0 && type_b == 0 && type_c == 0 && (compute == 68 || compute == 77);
    bool product = *(const float*)alpha == 1.0f && *(const float*)beta == 0.0f;
    bool sizes = lda >= (transposed_a ? k : m) && ldb >= (transposed_b ? n : k) && ldc >= m;
    // 7: an invalid value.
    if (!single || !product || !sizes || !handle->workspace) return 7;
    put(handle->stream, [=] {
        for (int run = 0; run < count; run++) {
            const float* left = (const float*)a + run * stride_a;
            const float* right = (const float*)b + run * stride_b;
            float* out = (float*)c + run * stride_c;
            for (long j = 0; j < n; j++) {
                for (long i = 0; i < m; i++) {
                    double sum = 0.0;
                    for (long p = 0; p < k; p++) {
                        double x = transposed_a ? left[p + i * lda] : left[i + p * lda];
                        sum += x * (transposed_b ? right[j + p * ldb] : right[p + j * ldb]);
                    }
                    out[i + j * ldc] = (float)sum;
                }
            }
        }
    });
    return 0;
}

// ---- NVRTC: the kernels are compiled already

EXPORTED nvrtcCreateProgram(void** program, const char*, const char*, int, void*, void*) {
    *program = &mutex;
    return 0;
}
EXPORTED nvrtcCompileProgram(void*, int, void*) { return 0; }
EXPORTED nvrtcGetCUBINSize(void*, size_t* size) {
    *size = 1;
    return 0;
}
EXPORTED nvrtcGetCUBIN(void*, char* code) {
    *code = 0;
    return 0;
}
EXPORTED nvrtcDestroyProgram(void**) { return 0; }
