//! Runtime choice of instruction set.
//!
//! [`dispatched!`] compiles one function body several times, for AVX-512, for AVX2 with FMA and for
//! the baseline, and calls the best one the processor has. The body must be built from
//! `#[inline(always)]` code (see [`crate::elementary`]); then all versions return the same bits.

/// Defines `fn name(args)` that runs `body` compiled for the best instruction set available.
/// Exported for the crates of this workspace only; it is not part of the public interface.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatched {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
                fn avx512($($arg: $ty),*) $(-> $ret)? { body($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? { body($($arg),*) }

                if std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("avx512bw")
                {
                    // SAFETY: the features were just detected (each of them implies AVX-512F, AVX2
                    // and FMA).
                    return unsafe { avx512($($arg),*) };
                }
                if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                    // SAFETY: the features were just detected.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub(crate) use dispatched;

/// Runs a function compiled for the best instruction set available, as [`dispatched!`] does. It must
/// be built from `#[inline(always)]` code.
/// For the crates of this workspace only; it is not part of the public interface.
#[doc(hidden)]
#[inline]
pub fn with_best_instructions<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
        fn avx512<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2<R>(run: impl FnOnce() -> R) -> R {
            run()
        }

        if std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512bw")
        {
            // SAFETY: the features were just detected (each of them implies AVX-512F, AVX2 and
            // FMA).
            return unsafe { avx512(run) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the features were just detected.
            return unsafe { avx2(run) };
        }
    }
    run()
}
