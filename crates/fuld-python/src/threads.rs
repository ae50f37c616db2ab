//! The threads that share the work on large arrays.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A pool and the process that made it.
struct Owned {
    process: u32,
    pool: ThreadPool,
}

static POOL: AtomicPtr<Owned> = AtomicPtr::new(ptr::null_mut());

/// Runs `work` in a rayon pool of this process, with one thread per core or `RAYON_NUM_THREADS`
/// threads.
///
/// The pool is not rayon's global one because Python forks: a child inherits the memory of that
/// pool but none of its threads, and would wait for them forever. So each process creates its own
/// pool.
pub(crate) fn install<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        // No thread can be had: the calling one does it all.
        None => work(),
    }
}

/// Returns whether the pool has more than one thread.
pub(crate) fn many() -> bool {
    pool().is_some_and(|pool| pool.current_num_threads() > 1)
}

fn pool() -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let held = POOL.load(Ordering::Acquire);
    // SAFETY: what was stored came from `Box::leak` and is never freed.
    if let Some(owned) = unsafe { held.as_ref() }
        && owned.process == process
    {
        return Some(&owned.pool);
    }
    let pool = ThreadPoolBuilder::new().thread_name(|i| format!("fuld-{i}")).build().ok()?;
    // Two threads that come here at once may both make one; the later is the one that stays, either
    // serves.
    let owned: &'static Owned = Box::leak(Box::new(Owned { process, pool }));
    POOL.store(ptr::from_ref(owned).cast_mut(), Ordering::Release);
    Some(&owned.pool)
}
