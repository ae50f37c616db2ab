// Kernels of the GPU engine. They are compiled when the program starts, without contraction of
// products and sums (--fmad=false), so that every operation is rounded as on the CPU. Fused
// operations are written as fma.
//
// Arrays of a stack are ordered [run][...]. In grids with two axes, the second counts the runs.
// Sums are taken in an order that depends on sizes alone, and nothing is added atomically: the same
// inputs give the same bits.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Threads of a block in every kernel.
#define THREADS 256
// Coefficients per piece of a table of the field.
#define FIELD_TERMS 8
// Coefficients per piece of a table of the quantile.
#define QUANTILE_TERMS 6
// Numbers of a run's field that fit into shared memory: the largest table, that of alpha = 0.1, has
// fewer.
#define SHARED_TABLE 2048
// Infinity in single precision.
#define INFINITE __int_as_float(0x7f800000)

// ---- random words: Philox4x32-10, see levy_stable::random

// Multipliers of the two halves of the counter.
#define PHILOX_M0 0xd2511f53u
#define PHILOX_M1 0xcd9e8d57u
// Increments of the two halves of the key from round to round.
#define PHILOX_W0 0x9e3779b9u
#define PHILOX_W1 0xbb67ae85u
// Bits of a counter that hold the chain; the purpose is above them.
#define CHAIN_BITS 56
// The purposes of initial weights and of the second word of a draw.
#define PURPOSE_START 3
#define PURPOSE_SECOND_WORD 8

struct Words {
    u64 even, odd;
};

// The two words of a block.
__device__ Words block_words(u64 seed, u64 chain, u32 purpose, u64 block) {
    chain = (chain & ((1ull << CHAIN_BITS) - 1)) | ((u64)purpose << CHAIN_BITS);
    u32 x0 = (u32)block, x1 = (u32)(block >> 32), x2 = (u32)chain, x3 = (u32)(chain >> 32);
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        u32 high0 = __umulhi(PHILOX_M0, x0), low0 = PHILOX_M0 * x0;
        u32 high1 = __umulhi(PHILOX_M1, x2), low1 = PHILOX_M1 * x2;
        x0 = high1 ^ x1 ^ k0;
        x1 = low1;
        x2 = high0 ^ x3 ^ k1;
        x3 = low0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    Words words = {x0 | (u64)x1 << 32, x2 | (u64)x3 << 32};
    return words;
}

// A weight, uniform on [-bound, bound).
__device__ float uniform(u64 word, double bound) {
    return (float)(((double)(word >> 11) / 4503599627370496.0 - 1.0) * bound);
}

// Writes the initial weights of a layer of `size` weights per run.
extern "C" __global__ void initial_weights(float* weights, const u64* seeds, double bound,
                                           u32 size, u32 layer) {
    u64 seed = seeds[blockIdx.y];
    weights += (u64)size * blockIdx.y;
    for (u32 block = blockIdx.x * blockDim.x + threadIdx.x; 2 * block < size;
         block += gridDim.x * blockDim.x) {
        Words words = block_words(seed, layer, PURPOSE_START, block);
        weights[2 * block] = uniform(words.even, bound);
        if (2 * block + 1 < size) weights[2 * block + 1] = uniform(words.odd, bound);
    }
}

// ---- images

// A set of images on the device, as bytes, with factor and shift of each channel.
struct Images {
    const u8* pixels;
    const u8* labels;
    const float2* standard;
    // Pixels of an image, and of one of its channels.
    u32 features, plane;
};

// Writes a standardised image by the threads of a block.
__device__ void standardise(const Images& images, u32 index, float* out) {
    const u8* image = images.pixels + (u64)index * images.features;
    if (images.plane % 4 == 0) {
        for (u32 quad = threadIdx.x; 4 * quad < images.features; quad += blockDim.x) {
            float2 standard = images.standard[4 * quad / images.plane];
            uchar4 bytes = ((const uchar4*)image)[quad];
            float4 numbers;
            numbers.x = (float)bytes.x * standard.x + standard.y;
            numbers.y = (float)bytes.y * standard.x + standard.y;
            numbers.z = (float)bytes.z * standard.x + standard.y;
            numbers.w = (float)bytes.w * standard.x + standard.y;
            ((float4*)out)[quad] = numbers;
        }
        return;
    }
    for (u32 i = threadIdx.x; i < images.features; i += blockDim.x) {
        float2 standard = images.standard[i / images.plane];
        out[i] = (float)image[i] * standard.x + standard.y;
    }
}

// Writes image and label of a block.
__device__ void gather(const Images& images, u32 index, float* out, u8* out_labels) {
    standardise(images, index, out + (u64)blockIdx.x * images.features);
    if (threadIdx.x == 0) out_labels[blockIdx.x] = images.labels[index];
}

// Gathers the minibatch of each run, `ahead` iterations after the current one. `orders` holds the
// permutations of an even and of an odd epoch: [parity of the epoch][run][image]. One block per
// image.
extern "C" __global__ void gather_minibatch(const u8* pixels, const u8* labels,
                                            const float2* standard, u32 features, u32 plane,
                                            const u32* orders, const u64* iteration, float* out,
                                            u8* out_labels, u32 ahead, u32 runs, u32 batch,
                                            u32 count) {
    Images images = {pixels, labels, standard, features, plane};
    u64 now = *iteration + ahead;
    u64 per_epoch = count / batch;
    u64 parity = now / per_epoch & 1, first = now % per_epoch * batch;
    u32 run = blockIdx.x / batch, place = blockIdx.x % batch;
    gather(images, orders[(parity * runs + run) * count + first + place], out, out_labels);
}

// Gathers the images of given indices, one block per image.
extern "C" __global__ void gather_indices(const u8* pixels, const u8* labels,
                                          const float2* standard, u32 features, u32 plane,
                                          const u32* indices, float* out, u8* out_labels) {
    Images images = {pixels, labels, standard, features, plane};
    gather(images, indices[blockIdx.x], out, out_labels);
}

// Gathers consecutive images, one block per image.
extern "C" __global__ void gather_range(const u8* pixels, const u8* labels,
                                        const float2* standard, u32 features, u32 plane,
                                        u32 first, float* out, u8* out_labels) {
    Images images = {pixels, labels, standard, features, plane};
    gather(images, first + blockIdx.x, out, out_labels);
}

// ---- ReLU

// Replaces negative numbers by 0. NaN stays NaN.
__device__ float rectified(float z) { return z < 0.0f ? 0.0f : z; }

// Calls `single(i)` or `quad(i)` for all of `size` numbers, four at a time if the size allows.
#define FOR_EACH(size, index, quad_body, single_body)                                            \
    {                                                                                            \
        u64 step_ = (u64)gridDim.x * blockDim.x;                                                 \
        u64 first_ = (u64)blockIdx.x * blockDim.x + threadIdx.x;                                 \
        if ((size) % 4 == 0) {                                                                   \
            for (u64 index = first_; index < (size) / 4; index += step_) quad_body               \
        } else {                                                                                 \
            for (u64 index = first_; index < (size); index += step_) single_body                 \
        }                                                                                        \
    }

extern "C" __global__ void relu(float* outputs, u64 size) {
    float4* quads = (float4*)outputs;
    FOR_EACH(size, i, {
        float4 z = quads[i];
        z.x = rectified(z.x);
        z.y = rectified(z.y);
        z.z = rectified(z.z);
        z.w = rectified(z.w);
        quads[i] = z;
    }, { outputs[i] = rectified(outputs[i]); })
}

// Replaces the gradient by 0 where the output of the unit is not positive.
extern "C" __global__ void relu_backward(float* gradient, const float* outputs, u64 size) {
    float4* quads = (float4*)gradient;
    const float4* output_quads = (const float4*)outputs;
    FOR_EACH(size, i, {
        float4 g = quads[i];
        float4 z = output_quads[i];
        g.x = z.x > 0.0f ? g.x : 0.0f;
        g.y = z.y > 0.0f ? g.y : 0.0f;
        g.z = z.z > 0.0f ? g.z : 0.0f;
        g.w = z.w > 0.0f ? g.w : 0.0f;
        quads[i] = g;
    }, { gradient[i] = outputs[i] > 0.0f ? gradient[i] : 0.0f; })
}

// ---- sums of a block

// Adds the numbers of all threads in a fixed order. Every thread of the block must call it, and
// every thread receives the sum.
__device__ double block_sum(double number) {
    __shared__ double sums[THREADS];
    __syncthreads();
    sums[threadIdx.x] = number;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// ---- softmax and cross entropy

// Largest logit of a row, and the sum of the exponentials of the others relative to it. NaN is not
// hidden: the sum contains it. Apart, both keep losses that are small against the logits.
struct Exponentials {
    float largest, sum;
};

__device__ Exponentials exponentials(const float* row, u32 classes) {
    Exponentials of = {-INFINITE, 0.0f};
    for (u32 k = 0; k < classes; k++) of.largest = fmaxf(of.largest, row[k]);
    for (u32 k = 0; k < classes; k++) of.sum += expf(row[k] - of.largest);
    return of;
}

// Cross entropy of a logit of the row.
__device__ double cross_entropy(Exponentials of, float logit) {
    return log((double)of.sum) - (double)(logit - of.largest);
}

// Replaces the logits of each run by the gradient (p - target)/batch of the mean cross entropy, and
// writes that mean. One block per run.
extern "C" __global__ void loss_and_gradient(float* logits, const u8* labels, double* losses,
                                             u32 batch, u32 classes) {
    logits += (u64)blockIdx.x * batch * classes;
    labels += (u64)blockIdx.x * batch;
    float share = 1.0f / (float)batch;
    double loss = 0.0;
    for (u32 image = threadIdx.x; image < batch; image += blockDim.x) {
        float* row = logits + (u64)image * classes;
        u32 label = labels[image];
        Exponentials of = exponentials(row, classes);
        loss += cross_entropy(of, row[label]);
        float factor = share / of.sum;
        for (u32 k = 0; k < classes; k++) row[k] = expf(row[k] - of.largest) * factor;
        row[label] -= share;
    }
    loss = block_sum(loss);
    if (threadIdx.x == 0) losses[blockIdx.x] = loss / (double)batch;
}

// Adds the cross entropy and the correct classifications of `count` images to the sums of each run,
// [run][loss, correct]. The first of equal logits wins; a row with NaN is wrong. One block per run.
extern "C" __global__ void add_scores(const float* logits, const u8* labels, double* sums,
                                      u32 count, u32 classes) {
    logits += (u64)blockIdx.x * count * classes;
    double loss = 0.0, correct = 0.0;
    for (u32 image = threadIdx.x; image < count; image += blockDim.x) {
        const float* row = logits + (u64)image * classes;
        u32 label = labels[image];
        float of_label = row[label];
        loss += cross_entropy(exponentials(row, classes), of_label);
        bool largest = true;
        for (u32 k = 0; k < classes; k++) {
            largest = largest && (k < label ? row[k] < of_label : row[k] <= of_label);
        }
        correct += largest ? 1.0 : 0.0;
    }
    loss = block_sum(loss);
    correct = block_sum(correct);
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] += loss;
        sums[2 * blockIdx.x + 1] += correct;
    }
}

// ---- stable noise, see levy_stable::Sampler

// The noise of a run.
struct Noise {
    u64 seed;
    double alpha, scale;
    // 0: no noise; 1: inversion of the tabulated quantile; 2: Chambers, Mallows and Stuck.
    u32 method;
    // Index of the first octave among those of all runs, and the number of the last one.
    u32 octaves, last_octave;
    // Exponent of the first octave.
    int lowest;
};

// Position of the pieces of one octave: index of the first among those of all tables, and the
// octave has 2^split of them.
struct Octave {
    u32 first, split;
};

// 2^-53
#define HALF_ULP 1.1102230246251565e-16
// ln 2 in two parts
#define LN_2_HI 6.93147180369123816490e-01
#define LN_2_LO 1.90821492927058770002e-10
// 1.5 * 2^52: adding it leaves the nearest integer in the low bits of the mantissa.
#define ROUND 6755399441055744.0

__device__ u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
__device__ double double_of(u64 bits) { return __longlong_as_double((long long)bits); }

// x(q) with a sign: bit 63 of the word is the sign, bits 1 to 62 are q.
__device__ double inverted(const Noise* noise, const Octave* octaves, const double* coefficients,
                           u64 word) {
    u64 sign = word & 1ull << 63;
    double q = (double)(long long)((word & ~(1ull << 63)) | 1) * (0.5 * HALF_ULP / 1024.0);
    double below_half = 0.5 - 0.5 * HALF_ULP;
    u64 bits = bits_of(q < below_half ? q : below_half);
    u32 number = min((u32)(bits >> 52) - (u32)(noise->lowest + 1023), noise->last_octave);
    Octave octave = octaves[noise->octaves + number];
    u64 mantissa = (1ull << 52) - 1;
    u64 within = (bits & mantissa) << octave.split;
    double t = double_of(1023ull << 52 | (within & mantissa)) - 1.5;
    const double* c = coefficients + QUANTILE_TERMS * (u64)(octave.first + (u32)(within >> 52));
    double x = c[QUANTILE_TERMS - 1];
    for (int k = QUANTILE_TERMS - 2; k >= 0; k--) x = fma(x, t, c[k]);
    return double_of(bits_of(x) ^ sign);
}

// Elementary functions with the bits of levy_stable::elementary.
__device__ double polynomial(double y, const double* c, int terms) {
    double p = c[terms - 1];
    for (int k = terms - 2; k >= 0; k--) p = fma(p, y, c[k]);
    return p;
}

__device__ double exp_bits(double x) {
    const double P[9] = {0.16666666666666685,    0.04166666666660285,    0.008333333333313977,
                         0.0013888888927244992,  0.00019841269904800917, 2.4801508125051345e-05,
                         2.755722617053276e-06,  2.7625405186277895e-07, 2.5115069339953754e-08};
    x = x < 709.0 ? x : 709.0;
    x = x > -708.0 ? x : -708.0;
    double shifted = fma(x, 1.4426950408889634, ROUND);
    double n = shifted - ROUND;
    double r = fma(n, -LN_2_LO, fma(n, -LN_2_HI, x));
    double r2 = r * r;
    double tail = fma(r2, fma(r, polynomial(r, P, 9), 0.5), r);
    double scale = double_of((bits_of(shifted) + 1023) << 52);
    return fma(tail, scale, scale);
}

__device__ double ln_bits(double x) {
    const double P[8] = {0.6666666666666666,  0.4000000000000828,  0.28571428568444157,
                         0.22222222742056136, 0.18181768153686123, 0.15387414434051533,
                         0.1324292563774642,  0.1331578584937022};
    u64 offset = bits_of(x) - 0x3fe6a09e667f3bcdull;
    long long exponent = (long long)offset >> 52;
    double m = double_of(bits_of(x) - ((u64)exponent << 52));
    double n = double_of(bits_of(ROUND) + (u64)exponent) - ROUND;
    double f = m - 1.0;
    double t = f / (2.0 + f);
    double t2 = t * t;
    double near = fma(t, fma(t2, polynomial(t2, P, 8), -f), f);
    return fma(n, LN_2_HI, fma(n, LN_2_LO, near));
}

// Sine and cosine for |x| <= pi/4.
__device__ void sin_cos_octant(double x, double* sin, double* cos) {
    const double S[7] = {-0.16666666666666666,   0.008333333333333323,    -0.00019841269841255123,
                         2.7557319214219365e-06, -2.5052104919286305e-08, 1.6058367627503784e-10,
                         -7.578748346282747e-13};
    const double C[6] = {0.0416666666666666,      -0.0013888888888874125, 2.480158728948234e-05,
                         -2.7557314352372173e-07, 2.0875723278132235e-09, -1.13596480422716e-11};
    double y = x * x;
    *sin = fma(y * x, polynomial(y, S, 7), x);
    *cos = fma(y * y, polynomial(y, C, 6), fma(y, -0.5, 1.0));
}

// A draw for alpha < 3/4 by the method of Chambers, Mallows and Stuck.
__device__ double chambers(double alpha, u64 angle, u64 level) {
    double half_pi = 1.5707963267948966;
    double u = ((double)(angle << 1 >> 12) + 0.5) * (2.0 * HALF_ULP);
    double phi = half_pi * u, complement = half_pi * (1.0 - u);
    double small, large;
    sin_cos_octant(u < 0.5 ? phi : complement, &small, &large);
    double sin = u < 0.5 ? small : large, cos = u < 0.5 ? large : small;
    double s, c;
    sin_cos_octant(0.5 * (alpha * phi), &s, &c);
    double sin_a = (s + s) * c, cos_a = fma(s + s, -s, 1.0);
    double cos_e = fma(cos_a, cos, sin_a * sin);
    double wait = -ln_bits(((double)(level >> 12) + 0.5) * (2.0 * HALF_ULP));
    double exponent = ((alpha - 1.0) * ln_bits(wait / cos_e) - ln_bits(cos)) / alpha;
    double size = exponent > 709.0 ? (double)INFINITE : sin_a * exp_bits(exponent);
    return double_of(bits_of(size) ^ (angle & 1ull << 63));
}

__device__ float draw(const Noise* noise, const Octave* octaves, const double* coefficients,
                      u64 word) {
    if (noise->method == 1) return (float)inverted(noise, octaves, coefficients, word);
    u64 second = block_words(word, 0, PURPOSE_SECOND_WORD, 0).even;
    return (float)(noise->scale * chambers(noise->alpha, word, second));
}

// Adds the noise of an iteration to the gradient of a layer of `size` weights per run.
extern "C" __global__ void add_noise(float* gradient, const Noise* noises, const Octave* octaves,
                                     const double* coefficients, const u64* iteration, u32 size,
                                     u32 layer, u32 layers, u32 purpose) {
    const Noise* noise = noises + blockIdx.y;
    if (noise->method == 0) return;
    gradient += (u64)size * blockIdx.y;
    u64 chain = *iteration * layers + layer;
    for (u32 block = blockIdx.x * blockDim.x + threadIdx.x; 2 * block < size;
         block += gridDim.x * blockDim.x) {
        Words words = block_words(noise->seed, chain, purpose, block);
        gradient[2 * block] += draw(noise, octaves, coefficients, words.even);
        if (2 * block + 1 < size) {
            gradient[2 * block + 1] += draw(noise, octaves, coefficients, words.odd);
        }
    }
}

// ---- the guard, see fuld::guard

// Largest number of components sampled per tensor, and components that are sampled together.
#define SAMPLE 4096
#define SAMPLE_RUN 8
// 2^32 divided by the golden ratio, rounded down.
#define GOLDEN 2654435769ull
// r: a tensor at most 4 times its usual size is no burst.
#define BURST 4.0
// w: weight of a step in the running mean of log|g|, and the number of steps at which 1/k = w.
#define WEIGHT 0.02
#define STEPS 50.0f
// Version of the format of a stored state.
#define STATE_VERSION 1.0f

// g <- clamp(factor * g), see fuld::guard::Decision.
struct Decision {
    float factor;
    // Largest magnitude that is kept, and magnitude of larger components after the guard.
    float largest, beyond;
};

__device__ float guarded(Decision decision, float g) {
    float scaled = decision.factor * g;
    float size = fabsf(scaled);
    float beyond = scaled > 0.0f ? decision.beyond : -decision.beyond;
    float clipped = size > decision.largest ? beyond : scaled;
    return size >= 0.0f ? clipped : 0.0f;
}

// Position of sampled component n of a tensor of `size` components, which is more than SAMPLE.
__device__ u64 sampled_position(u64 size, u32 n) {
    u64 runs = SAMPLE / SAMPLE_RUN, j = n / SAMPLE_RUN;
    u64 places = size / runs + 1 - SAMPLE_RUN;
    u64 jitter = ((GOLDEN * j & 0xffffffffull) * places) >> 32;
    return (j * size / runs + jitter) / SAMPLE_RUN * SAMPLE_RUN + n % SAMPLE_RUN;
}

// Updates the guard's state of each run for a layer, and decides about its gradient. States are
// [run][version, steps, mean of log|g|]. One block per run.
extern "C" __global__ void observe(const float* gradient, float* states, Decision* decisions,
                                   const double* clips, u32 size) {
    gradient += (u64)size * blockIdx.x;
    // log|g| = log 2 * exponent + log m with sqrt(1/2) <= m < sqrt(2): the logarithm of a product
    // of at most SAMPLE / THREADS mantissas is taken once.
    int exponents = 0, counted = 0;
    float product = 1.0f;
    for (u32 n = threadIdx.x; n < min(size, (u32)SAMPLE); n += blockDim.x) {
        float g = fabsf(gradient[size <= SAMPLE ? n : sampled_position(size, n)]);
        // Normal numbers count: neither 0 nor subnormal, infinite or NaN.
        if (g >= 1.17549435e-38f && g <= 3.40282347e+38f) {
            int bits = __float_as_int(g);
            int exponent = (bits - 0x3f3504f3) >> 23;
            exponents += exponent;
            product *= __int_as_float(bits - (int)((u32)exponent << 23));
            counted += 1;
        }
    }
    double sum = block_sum(0.69314718055994531 * exponents + log((double)product));
    double count = block_sum(counted);
    if (threadIdx.x != 0) return;

    float* state = states + 3 * blockIdx.x;
    float steps = state[1];
    double log_scale = state[2];
    bool first = steps == 0.0f;
    double deviation = 0.0;
    if (count > 0.0) {
        double mean = sum / count;
        double before = steps == 0.0f   ? mean
                        : steps == 1.0f ? (mean < log_scale ? mean : log_scale)
                                        : log_scale;
        deviation = mean - before;
        steps = fminf(steps + 1.0f, STEPS);
        double bound = log(BURST);
        double clamped = fmin(fmax(deviation, -bound), bound);
        log_scale = (float)(before + fmax(WEIGHT, 1.0 / (double)steps) * clamped);
        state[0] = STATE_VERSION;
        state[1] = steps;
        state[2] = (float)log_scale;
    }
    double limit = clips[blockIdx.x] * exp(log_scale);
    if (steps == 0.0f) {
        limit = (double)INFINITE;
    } else if (first) {
        limit = 0.0;
    }
    Decision decision;
    decision.factor = (float)fmin(BURST * exp(-deviation), 1.0);
    decision.largest = decision.beyond = (float)limit;
    if (isinf(decision.largest)) {
        decision.largest = 3.40282347e+38f;
        decision.beyond = 0.0f;
    }
    decisions[blockIdx.x] = decision;
}

// ---- clipping, see fuld::optimizer::clip

// Adds the squares of the guarded gradient of a layer: one sum per block, [run][parts], of which
// this layer has those from `part` on. `decisions` is null without a guard.
extern "C" __global__ void squares(const float* gradient, const Decision* decisions,
                                   double* sums, u32 size, u32 part, u32 parts) {
    gradient += (u64)size * blockIdx.y;
    Decision decision = {1.0f, 0.0f, 0.0f};
    if (decisions) decision = decisions[blockIdx.y];
    double sum = 0.0;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        double g = decisions ? guarded(decision, gradient[i]) : gradient[i];
        sum += g * g;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[(u64)blockIdx.y * parts + part + blockIdx.x] = sum;
}

// Computes the factor by which the gradients of each run are scaled so that their joint norm is at
// most the run's limit. One thread per run.
extern "C" __global__ void norm_factors(const double* sums, const double* limits, float* factors,
                                        u32 parts, u32 runs) {
    u32 run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= runs) return;
    double square = 0.0;
    for (u32 part = 0; part < parts; part++) square += sums[(u64)run * parts + part];
    double factor = limits[run] / (sqrt(square) + 1e-6);
    factors[run] = factor >= 1.0 ? 1.0f : (float)factor;
}

// What happens to a gradient before the step. Each pointer is null if it does not apply.
struct Treatment {
    const Decision* decisions;
    // Largest component of each run.
    const float* limits;
    // Factor of each run for its joint norm.
    const float* factors;
};

// The treatment of one run.
struct RunTreatment {
    Decision decision;
    float limit, factor;
    bool guards, clips, scales;
};

__device__ RunTreatment treatment_of(Treatment all, u32 run) {
    RunTreatment one;
    one.guards = all.decisions != 0;
    one.clips = all.limits != 0;
    one.scales = all.factors != 0;
    one.decision.factor = one.decision.largest = one.decision.beyond = 0.0f;
    if (one.guards) one.decision = all.decisions[run];
    one.limit = one.clips ? all.limits[run] : 0.0f;
    one.factor = one.scales ? all.factors[run] : 1.0f;
    return one;
}

__device__ float treated(const RunTreatment& treatment, float g) {
    if (treatment.guards) g = guarded(treatment.decision, g);
    if (treatment.clips) {
        // NaN stays NaN.
        g = g < -treatment.limit ? -treatment.limit : g;
        g = g > treatment.limit ? treatment.limit : g;
    }
    return treatment.scales ? g * treatment.factor : g;
}

// ---- SGD with momentum, through the field of alpha: see fuld::optimizer::Rule

// The rule of a run: b <- momentum * b + g, x <- x - outer * h(inner * b).
struct Rule {
    float momentum, inner, outer;
    // Number of octaves of the table; 0 if the field is the identity.
    u32 octaves;
    // Number of pieces of the table.
    u32 pieces;
    // Where the table begins among those of all runs.
    u32 table;
    // Exponent of the first octave.
    int lowest;
    // 2^lowest, and the largest |v| for which the table holds the field divided by v.
    float shift, near;
};

// The field at v. The table consists of 16 * first piece + split of each octave, and of the
// coefficients of all pieces, the lowest power first: in this order lanes that read different
// pieces seldom read the same bank of shared memory.
__device__ float field(const Rule& rule, const u32* table, float v) {
    float size = fabsf(v);
    float close = size + rule.shift, far = size + size;
    u32 bits = (u32)__float_as_int(close > far ? close : far);
    u32 octave = min((bits >> 23) - (u32)(rule.lowest + 127), rule.octaves - 1);
    u32 within = (bits & 0x7fffffu) << (table[octave] & 15);
    float t = __int_as_float((int)(127u << 23 | (within & 0x7fffffu))) - 1.5f;
    const u32* c = table + rule.octaves + (table[octave] >> 4) + (within >> 23);
    float held = __int_as_float((int)c[(FIELD_TERMS - 1) * rule.pieces]);
    for (int k = FIELD_TERMS - 2; k >= 0; k--) {
        held = fmaf(held, t, __int_as_float((int)c[k * rule.pieces]));
    }
    return copysignf(size > rule.near ? held / size : held * size, v);
}

// Moves one weight.
__device__ void move(const Rule& rule, const u32* table, const RunTreatment& treatment, float& x,
                     float& b, float g) {
    g = treated(treatment, g);
    // Without momentum b is not read: 0 times infinity would be NaN.
    b = rule.momentum != 0.0f ? rule.momentum * b + g : g;
    float h = b;
    if (rule.octaves != 0) {
        // Where the momentum is infinite the field is 0; NaN shows it.
        h = field(rule, table, rule.inner * b) + 0.0f * b;
    }
    x = x - rule.outer * h;
}

// Takes the step of a layer of `size` weights per run.
extern "C" __global__ void momentum_step(float* weights, float* momenta, const float* gradient,
                                         const Rule* rules, const u32* tables,
                                         const Decision* decisions, const float* limits,
                                         const float* factors, u32 size) {
    __shared__ u32 shared_table[SHARED_TABLE];
    Rule rule = rules[blockIdx.y];
    Treatment all = {decisions, limits, factors};
    RunTreatment treatment = treatment_of(all, blockIdx.y);
    const u32* table = tables + rule.table;
    u32 table_size = rule.octaves + FIELD_TERMS * rule.pieces;
    if (table_size <= SHARED_TABLE) {
        for (u32 i = threadIdx.x; i < table_size; i += blockDim.x) shared_table[i] = table[i];
        __syncthreads();
        table = shared_table;
    }
    weights += (u64)size * blockIdx.y;
    momenta += (u64)size * blockIdx.y;
    gradient += (u64)size * blockIdx.y;
    float4* xs = (float4*)weights;
    float4* bs = (float4*)momenta;
    const float4* gs = (const float4*)gradient;
    FOR_EACH(size, i, {
        float4 x = xs[i];
        float4 b = bs[i];
        float4 g = gs[i];
        move(rule, table, treatment, x.x, b.x, g.x);
        move(rule, table, treatment, x.y, b.y, g.y);
        move(rule, table, treatment, x.z, b.z, g.z);
        move(rule, table, treatment, x.w, b.w, g.w);
        xs[i] = x;
        bs[i] = b;
    }, { move(rule, table, treatment, weights[i], momenta[i], gradient[i]); })
}

// Writes the largest |b| of a layer for each run; NaN if one of them is NaN. One block per run.
extern "C" __global__ void largest_momentum(const float* momenta, float* largest, u32 size) {
    __shared__ float found[THREADS];
    momenta += (u64)size * blockIdx.x;
    float mine = 0.0f;
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
        float b = fabsf(momenta[i]);
        mine = b <= mine || mine != mine ? mine : b;
    }
    found[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            float a = found[threadIdx.x], b = found[threadIdx.x + half];
            found[threadIdx.x] = b <= a || a != a ? a : b;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) largest[blockIdx.x] = found[0];
}

// ---- Adam, see fuld::optimizer::Adam

struct AdamRule {
    double learning_rate, beta1, beta2;
    float eps;
};

// The numbers of a step of Adam.
struct AdamStep {
    float beta1, rest1, beta2, rest2, size, root, eps;
};

__device__ void move_by_adam(const AdamStep& step, const RunTreatment& treatment, float& x,
                             float& m, float& v, float g) {
    g = treated(treatment, g);
    m = step.beta1 * m + step.rest1 * g;
    v = step.beta2 * v + step.rest2 * g * g;
    x = x - step.size * (m / (sqrtf(v) / step.root + step.eps));
}

// Takes the step of a layer of `size` weights per run; the first step is that of iteration 0.
extern "C" __global__ void adam_step(float* weights, float* firsts, float* seconds,
                                     const float* gradient, const AdamRule* rules,
                                     const u64* iteration, const Decision* decisions,
                                     const float* limits, const float* factors, u32 size) {
    __shared__ AdamStep shared_step;
    if (threadIdx.x == 0) {
        AdamRule rule = rules[blockIdx.y];
        double k = (double)(*iteration + 1);
        AdamStep step;
        step.beta1 = (float)rule.beta1;
        step.rest1 = (float)(1.0 - rule.beta1);
        step.beta2 = (float)rule.beta2;
        step.rest2 = (float)(1.0 - rule.beta2);
        step.size = (float)(rule.learning_rate / (1.0 - pow(rule.beta1, k)));
        step.root = (float)sqrt(1.0 - pow(rule.beta2, k));
        step.eps = rule.eps;
        shared_step = step;
    }
    __syncthreads();
    AdamStep step = shared_step;
    Treatment all = {decisions, limits, factors};
    RunTreatment treatment = treatment_of(all, blockIdx.y);
    weights += (u64)size * blockIdx.y;
    firsts += (u64)size * blockIdx.y;
    seconds += (u64)size * blockIdx.y;
    gradient += (u64)size * blockIdx.y;
    float4* xs = (float4*)weights;
    float4* ms = (float4*)firsts;
    float4* vs = (float4*)seconds;
    const float4* gs = (const float4*)gradient;
    FOR_EACH(size, i, {
        float4 x = xs[i];
        float4 m = ms[i];
        float4 v = vs[i];
        float4 g = gs[i];
        move_by_adam(step, treatment, x.x, m.x, v.x, g.x);
        move_by_adam(step, treatment, x.y, m.y, v.y, g.y);
        move_by_adam(step, treatment, x.z, m.z, v.z, g.z);
        move_by_adam(step, treatment, x.w, m.w, v.w, g.w);
        xs[i] = x;
        ms[i] = m;
        vs[i] = v;
    }, { move_by_adam(step, treatment, weights[i], firsts[i], seconds[i], gradient[i]); })
}

// ---- the iteration

// Counts the iteration. One block.
extern "C" __global__ void next_iteration(u64* iteration) {
    if (threadIdx.x == 0) *iteration += 1;
}
