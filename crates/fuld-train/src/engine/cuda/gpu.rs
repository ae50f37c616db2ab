//! The device of the engine on an NVIDIA GPU.

use super::compile;
use super::device::{
    Argument, Array, Device, Kernel, Lane, Plain, Plan, Product, THREADS, bytes_of, bytes_of_mut,
};
use super::libraries;
use super::products::{Products, WORKSPACE};
use crate::engine::CudaError;
use cudarc::driver::sys::{CUdeviceptr, CUgraphInstantiate_flags, CUresult, CUstreamCaptureMode};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaStream, DriverError, PinnedHostSlice,
    result,
};
use cudarc::nvrtc::Ptx;
use std::sync::{Arc, Mutex};

/// The context of the first GPU, which is kept for later stacks.
static CONTEXT: Mutex<Option<Arc<CudaContext>>> = Mutex::new(None);

/// A GPU with the memory and the lanes of a stack.
pub(super) struct Gpu {
    products: [Products; 2],
    functions: Vec<CudaFunction>,
    staging: [Option<Staging>; 2],
    /// The number of arrays staged.
    staged: usize,
    /// The signals of the work that is being captured, which must not be destroyed before its end.
    captured: Option<Vec<Arc<CudaEvent>>>,
    memory: Memory,
    lanes: [Arc<CudaStream>; Lane::COUNT],
    context: Arc<CudaContext>,
}

/// Host memory that the GPU copies from while the program continues.
struct Staging {
    numbers: PinnedHostSlice<u32>,
    /// The end of the last copy.
    sent: CudaEvent,
}

/// The memory of a stack.
struct Memory {
    base: CUdeviceptr,
    context: Arc<CudaContext>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated by `Memory::new`, and all work was waited for. After a
        // failure of the device nothing can be freed, and nothing needs to be.
        let _ = self.context.bind_to_thread().map(|()| unsafe { result::free_sync(self.base) });
    }
}

impl Memory {
    /// Allocates memory, all zero for later work of a stream.
    fn new(stream: &CudaStream, needed: usize) -> Result<Self, CudaError> {
        let context = stream.context();
        let (free, _) = context.mem_get_info().map_err(failed("asking for free memory"))?;
        let too_large = CudaError::Memory { needed, free };
        if needed > free {
            return Err(too_large);
        }
        // SAFETY: the context is current since `mem_get_info`; the memory is set before it is read.
        let base = unsafe { result::malloc_sync(needed) }.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => too_large,
            _ => failed("allocating memory")(error),
        })?;
        let memory = Self { base, context: context.clone() };
        // SAFETY: the memory has this size. The lanes do not wait for the default stream, so that it
        // is cleared in one of them.
        unsafe { result::memset_d8_async(base, 0, needed, stream.cu_stream()) }
            .map_err(failed("clearing memory"))?;
        Ok(memory)
    }
}

/// Returns an error of the driver with the operation that failed.
pub(super) fn failed(at: &'static str) -> impl Fn(DriverError) -> CudaError {
    move |error| CudaError::Driver { at, source_text: error.to_string() }
}

fn context() -> Result<Arc<CudaContext>, CudaError> {
    let mut shared = CONTEXT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(context) = &*shared {
        return Ok(context.clone());
    }
    libraries::find()?;
    let context = CudaContext::new(0).map_err(|error| CudaError::NoDevice(error.to_string()))?;
    // SAFETY: the engine orders its lanes by signals of its own.
    unsafe { context.disable_event_tracking() };
    Ok(shared.insert(context).clone())
}

impl Gpu {
    /// Opens the first GPU with memory for a plan. `tf32` allows products with ten-bit mantissas.
    pub(super) fn open(plan: &Plan, tf32: bool) -> Result<Self, CudaError> {
        let context = context()?;
        let (major, minor) = context.compute_capability().map_err(failed("opening the GPU"))?;
        let code = compile::machine_code(&format!("sm_{major}{minor}"))?;
        let module =
            context.load_module(Ptx::from_binary(code)).map_err(failed("loading kernels"))?;
        let function = |name: &&str| {
            let function = module.load_function(name)?;
            // Loads the kernel now: while work is captured it could not be loaded.
            function.num_regs()?;
            Ok(function)
        };
        let functions: Result<Vec<_>, DriverError> = Kernel::NAMES.iter().map(function).collect();
        let functions = functions.map_err(failed("loading kernels"))?;
        let stream = || context.new_stream().map_err(failed("creating a stream"));
        let lanes = [stream()?, stream()?, stream()?];
        let arrays = plan.bytes();
        let memory =
            Memory::new(&lanes[Lane::Main as usize], arrays.saturating_add(2 * WORKSPACE))?;
        let workspace = memory.base + arrays as u64;
        let products = [
            Products::new(&lanes[Lane::Main as usize], workspace, tf32)?,
            Products::new(&lanes[Lane::Gradients as usize], workspace + WORKSPACE as u64, tf32)?,
        ];
        let staging = [None, None];
        let (staged, captured) = (0, None);
        Ok(Self { products, functions, staging, staged, captured, memory, lanes, context })
    }

    fn lane(&self, lane: Lane) -> &Arc<CudaStream> {
        &self.lanes[lane as usize]
    }

    fn address<T>(&self, array: Array<T>) -> CUdeviceptr {
        self.memory.base + array.offset() as u64
    }

    fn bind(&self) -> Result<(), CudaError> {
        self.context.bind_to_thread().map_err(failed("selecting the GPU"))
    }
}

impl Drop for Gpu {
    /// Waits until nothing uses the memory. Errors were reported where they happened.
    fn drop(&mut self) {
        for lane in &self.lanes {
            let _ = lane.synchronize();
        }
    }
}

impl Device for Gpu {
    type Signal = Arc<CudaEvent>;
    type Graph = CudaGraph;

    fn upload<T: Plain>(&mut self, to: Array<T>, from: &[T]) -> Result<(), CudaError> {
        assert!(from.len() <= to.len(), "the array is too small");
        self.bind()?;
        let at = failed("copying to the GPU");
        let (to, stream) = (self.address(to), self.lane(Lane::Main));
        // SAFETY: the array has the size of the numbers, which outlive the copy.
        unsafe { result::memcpy_htod_async(to, bytes_of(from), stream.cu_stream()) }
            .map_err(&at)?;
        stream.synchronize().map_err(&at)
    }

    fn stage(&mut self, to: Array<u32>, fill: &mut dyn FnMut(&mut [u32])) -> Result<(), CudaError> {
        let at = failed("copying minibatches to the GPU");
        self.bind()?;
        let slot = self.staged % self.staging.len();
        self.staged += 1;
        let mut staging = match self.staging[slot].take() {
            Some(staging) if staging.numbers.len() >= to.len() => staging,
            _ => Staging {
                // SAFETY: the memory is written before it is read. Flag 0: the processor may read
                // it too.
                numbers: unsafe { self.context.alloc_pinned_with_flags(to.len(), 0) }
                    .map_err(&at)?,
                sent: self.context.new_event(None).map_err(&at)?,
            },
        };
        // The GPU may still copy from the memory.
        staging.sent.synchronize().map_err(&at)?;
        let numbers = &mut staging.numbers.as_mut_slice().map_err(&at)?[..to.len()];
        fill(numbers);
        let stream = self.lane(Lane::Main);
        // SAFETY: the array has the size of the numbers, which do not change before `sent`.
        unsafe { result::memcpy_htod_async(self.address(to), numbers, stream.cu_stream()) }
            .map_err(&at)?;
        staging.sent.record(stream).map_err(&at)?;
        self.staging[slot] = Some(staging);
        Ok(())
    }

    fn download<T: Plain>(&mut self, from: Array<T>) -> Result<Vec<T>, CudaError> {
        let at = failed("copying from the GPU");
        self.bind()?;
        let mut numbers = vec![T::default(); from.len()];
        let stream = self.lane(Lane::Main);
        // SAFETY: the array has the size of the numbers, which are not used before the copy ends.
        unsafe {
            let from = self.address(from);
            result::memcpy_dtoh_async(bytes_of_mut(&mut numbers), from, stream.cu_stream())
        }
        .map_err(&at)?;
        stream.synchronize().map_err(&at)?;
        Ok(numbers)
    }

    fn launch(
        &mut self,
        lane: Lane,
        kernel: Kernel,
        [blocks, runs]: [u32; 2],
        arguments: &[Argument],
    ) -> Result<(), CudaError> {
        self.bind()?;
        let mut bits: Vec<u64> =
            arguments.iter().map(|argument| argument.bits(self.memory.base)).collect();
        let mut pointers: Vec<_> =
            bits.iter_mut().map(|bits| std::ptr::from_mut(bits).cast()).collect();
        // SAFETY: the tests compare the arguments with those that the kernels declare; all
        // addresses are within the memory. The driver copies the arguments.
        unsafe {
            result::launch_kernel(
                self.functions[kernel as usize].cu_function(),
                (blocks, runs, 1),
                (THREADS, 1, 1),
                0,
                self.lane(lane).cu_stream(),
                &mut pointers,
            )
        }
        .map_err(failed(Kernel::NAMES[kernel as usize]))
    }

    fn multiply(&mut self, lane: Lane, product: &Product) -> Result<(), CudaError> {
        self.bind()?;
        self.products[usize::from(lane != Lane::Main)].multiply(self.memory.base, product)
    }

    fn signal(&mut self, lane: Lane) -> Result<Arc<CudaEvent>, CudaError> {
        let event = self.lane(lane).record_event(None).map_err(failed("recording an event"))?;
        let event = Arc::new(event);
        self.captured.iter_mut().for_each(|captured| captured.push(event.clone()));
        Ok(event)
    }

    fn wait(&mut self, lane: Lane, signal: &Arc<CudaEvent>) -> Result<(), CudaError> {
        self.lane(lane).wait(signal).map_err(failed("waiting for an event"))
    }

    fn begin_capture(&mut self) -> Result<(), CudaError> {
        // Relaxed: libraries may load code while they are captured.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.lane(Lane::Main).begin_capture(mode).map_err(failed("capturing an iteration"))?;
        self.captured = Some(Vec::new());
        Ok(())
    }

    fn end_capture(&mut self) -> Result<CudaGraph, CudaError> {
        let at = failed("capturing an iteration");
        let graph = self.lane(Lane::Main).end_capture(CUgraphInstantiate_flags(0));
        self.captured = None;
        let graph = graph.map_err(&at)?;
        let empty = DriverError(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        let graph = graph.ok_or_else(|| at(empty))?;
        graph.upload().map_err(&at)?;
        Ok(graph)
    }

    fn replay(&mut self, graph: &CudaGraph) -> Result<(), CudaError> {
        graph.launch().map_err(failed("launching an iteration"))
    }
}
