//! Execution of many items over all cores, and their grouping into stacks.

use crate::spec::Device;
use fuld::Control;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The largest number of runs that are trained together.
pub const STACK: usize = 128;

/// The threads that share the items of [`run_all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Items that are worked on at the same time.
    pub count: usize,
    /// Threads for the work on each of them.
    pub threads: usize,
}

impl Workers {
    /// Returns one thread for each of `count` items.
    pub fn single_threaded(count: usize) -> Self {
        Self { count, threads: 1 }
    }

    /// Returns the workers for training on a device: a GPU trains one stack after another; on the
    /// CPU, each thread trains one run.
    pub fn on(device: Device, threads: usize) -> Self {
        match device {
            Device::Cpu => Self::single_threaded(threads),
            Device::Cuda | Device::CudaTf32 => Self { count: 1, threads },
        }
    }
}

/// Calls `work` for every item, in the order of the items.
///
/// `work` receives the number of its worker, from 0, and the item. Each worker has a rayon pool of
/// its own for parallel iterators inside `work`. After an error or [`Control::Stop`] no further
/// item is started; the first error is returned.
pub fn run_all<T: Sync, E: From<io::Error> + Send>(
    items: &[T],
    workers: Workers,
    work: &(dyn Fn(usize, &T) -> Result<Control, E> + Sync),
) -> Result<Control, E> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let worker = |thread: usize| -> Result<(), E> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers.threads).build();
        let pool = pool.map_err(io::Error::other)?;
        while !stopped.load(Ordering::Relaxed)
            && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let ended = pool.install(|| work(thread, item));
            if !matches!(ended, Ok(Control::Continue)) {
                stopped.store(true, Ordering::Relaxed);
            }
            ended?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let count = workers.count.min(items.len()).max(1);
        let handles: Vec<_> =
            (0..count).map(|thread| scope.spawn(move || worker(thread))).collect();
        handles.into_iter().try_for_each(|handle| {
            handle
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a worker thread panicked").into()))
        })
    })?;
    Ok(if stopped.into_inner() { Control::Stop } else { Control::Continue })
}

/// Groups items into stacks of at most `most`, each with the first stack whose first item it fits.
pub(crate) fn into_stacks<T>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    fits: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut stacks: Vec<Vec<T>> = Vec::new();
    for item in items {
        let open = |stack: &&mut Vec<T>| stack.len() < most && fits(&stack[0], &item);
        match stacks.iter_mut().find(open) {
            Some(stack) => stack.push(item),
            None => stacks.push(vec![item]),
        }
    }
    stacks
}
