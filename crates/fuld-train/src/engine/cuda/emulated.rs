//! The device of the engine in tests: the kernels compiled as C++ for the CPU, and products by
//! loops.
//!
//! Captured work is done lane by lane in a chosen order of preference. Work that a lane does too
//! early, because it does not wait for another lane, shows in the results of some order.

use super::device::{
    Argument, Array, Device, Kernel, Lane, Matrix, Plain, Plan, Product, THREADS, bytes_of,
    bytes_of_mut,
};
use crate::engine::CudaError;
use libloading::Library;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{HashSet, VecDeque};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Fills the space between arrays, which nothing may write.
const UNTOUCHED: u8 = 0xa5;

type Emulate = unsafe extern "C" fn(
    *const c_char,
    u32,
    u32,
    u32,
    *mut *mut c_void,
    *const c_char,
    u32,
) -> c_int;

/// Returns the kernels, compiled for the CPU.
fn kernels() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let call = |name: &str| {
            format!(
                "if (!strcmp(name, \"{name}\")) \
                 return launch({name}, {{blocks, runs}}, threads, arguments, kinds, count);\n"
            )
        };
        let calls: String = Kernel::NAMES.iter().map(|name| call(name)).collect();
        let source = format!(
            "#include \"emulation.h\"\n#include \"kernels.cu\"\n\
             extern \"C\" int emulate(const char* name, unsigned blocks, unsigned runs, \
             unsigned threads, void** arguments, const Kind* kinds, unsigned count) {{\n\
             {calls}return 1;\n}}\n"
        );
        let library = compile(folder.path(), &source);
        // SAFETY: the library was just built from the sources above and has no initialisers.
        unsafe { Library::new(library) }.unwrap()
    })
}

/// Compiles a source, which may include `emulation.h` and `kernels.cu`, to a library in a folder.
pub(super) fn compile(folder: &Path, source: &str) -> PathBuf {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("emulation.h", include_str!("emulation.h"));
    write("kernels.cu", include_str!("kernels.cu"));
    write("source.cpp", source);
    let options = ["-std=c++17", "-O2", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-w"];
    let library = ["-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", "library.so", "source.cpp"];
    for compiler in ["c++", "g++", "clang++"] {
        match Command::new(compiler).args(options).args(library).current_dir(folder).output() {
            Ok(output) if output.status.success() => return folder.join("library.so"),
            Ok(output) => panic!("{compiler}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(_) => {}
        }
    }
    panic!("these tests require a C++ compiler: install g++ (c++, g++ and clang++ were not found)");
}

/// A device on the CPU.
pub(super) struct Emulated {
    plan: Plan,
    base: *mut u8,
    signals: usize,
    captured: Option<Vec<Work>>,
    /// The order in which lanes are preferred when captured work is done.
    pub(super) preference: [Lane; Lane::COUNT],
}

/// Work in a lane.
#[derive(Clone, Debug)]
pub(super) struct Work {
    lane: Lane,
    task: Task,
}

#[derive(Clone, Debug)]
enum Task {
    Launch(Kernel, [u32; 2], Vec<Argument>),
    Multiply(Product),
    Signal(usize),
    Wait(usize),
}

fn layout(plan: &Plan) -> Layout {
    Layout::from_size_align(plan.bytes().max(1), 256).unwrap()
}

impl Emulated {
    pub(super) fn open(plan: &Plan) -> Self {
        // SAFETY: the size is not 0.
        let base = unsafe { alloc_zeroed(layout(plan)) };
        let preference = [Lane::Main, Lane::Gradients, Lane::Updates];
        let mut device = Self { plan: plan.clone(), base, signals: 0, captured: None, preference };
        for gap in plan.gaps.clone() {
            device.memory()[gap].fill(UNTOUCHED);
        }
        device
    }

    fn memory(&mut self) -> &mut [u8] {
        // SAFETY: the memory has this size.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.plan.bytes()) }
    }

    fn bytes<T>(&mut self, array: Array<T>) -> &mut [u8] {
        let start = array.offset();
        &mut self.memory()[start..start + array.len() * size_of::<T>()]
    }

    pub(super) fn read<T: Plain>(&mut self, array: Array<T>) -> Vec<T> {
        let mut numbers = vec![T::default(); array.len()];
        bytes_of_mut(&mut numbers).copy_from_slice(self.bytes(array));
        numbers
    }

    fn work(&mut self, lane: Lane, task: Task) {
        match &mut self.captured {
            Some(captured) => captured.push(Work { lane, task }),
            None => self.run(&task),
        }
    }

    fn run(&mut self, task: &Task) {
        match task {
            Task::Launch(kernel, grid, arguments) => self.emulate(*kernel, *grid, arguments),
            Task::Multiply(product) => self.product(product),
            Task::Signal(_) | Task::Wait(_) => {}
        }
    }

    fn emulate(&mut self, kernel: Kernel, [blocks, runs]: [u32; 2], arguments: &[Argument]) {
        let name = Kernel::NAMES[kernel as usize];
        let mut bits: Vec<u64> =
            arguments.iter().map(|argument| argument.bits(self.base as u64)).collect();
        let mut pointers: Vec<*mut c_void> =
            bits.iter_mut().map(|bits| std::ptr::from_mut(bits).cast()).collect();
        let kind = |argument: &Argument| match argument {
            Argument::Address(_) => b'a',
            Argument::Null => b'n',
            Argument::Word(_) => b'w',
            Argument::Double(_) => b'd',
        };
        let kinds: Vec<u8> = arguments.iter().map(kind).collect();
        let c_name = CString::new(name).unwrap();
        // SAFETY: the function has this type; it checks number and kinds of the arguments.
        let code = unsafe {
            let emulate = kernels().get::<Emulate>("emulate").unwrap();
            emulate(
                c_name.as_ptr(),
                blocks,
                runs,
                THREADS,
                pointers.as_mut_ptr(),
                kinds.as_ptr().cast(),
                pointers.len() as u32,
            )
        };
        match code {
            0 => {}
            1 => panic!("there is no kernel {name}"),
            2 => panic!("{name}: the kernel has other arguments than {arguments:?}"),
            _ => panic!("{name}: threads disagree about a barrier"),
        }
    }

    fn product(&mut self, product: &Product) {
        let Product { runs, rows, inner, columns, left, right, out } = *product;
        let (left_numbers, right_numbers) = (self.read(left.numbers), self.read(right.numbers));
        // Steps from row to row and from column to column.
        let steps = |matrix: &Matrix| match matrix.transposed {
            false => (matrix.columns, 1),
            true => (1, matrix.columns),
        };
        let (left_steps, right_steps) = (steps(&left), steps(&right));
        let mut numbers = Vec::with_capacity(runs * rows * columns);
        let mut sums = vec![0f64; columns];
        for run in 0..runs {
            let (left, right) =
                (&left_numbers[run * left.stride..], &right_numbers[run * right.stride..]);
            for row in 0..rows {
                sums.fill(0.0);
                for k in 0..inner {
                    let factor = f64::from(left[row * left_steps.0 + k * left_steps.1]);
                    let mut at = k * right_steps.0;
                    for sum in &mut sums {
                        *sum += factor * f64::from(right[at]);
                        at += right_steps.1;
                    }
                }
                numbers.extend(sums.iter().map(|&sum| sum as f32));
            }
        }
        let out = out.part(0, numbers.len());
        self.bytes(out).copy_from_slice(bytes_of(&numbers));
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let gaps = self.plan.gaps.clone();
        let memory = self.memory();
        let touched =
            gaps.into_iter().find(|gap| memory[gap.clone()].iter().any(|&b| b != UNTOUCHED));
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base, layout(&self.plan)) };
        if !std::thread::panicking() {
            assert_eq!(touched, None, "a kernel wrote beyond an array");
        }
    }
}

impl Device for Emulated {
    type Signal = usize;
    type Graph = Vec<Work>;

    fn upload<T: Plain>(&mut self, to: Array<T>, from: &[T]) -> Result<(), CudaError> {
        assert!(self.captured.is_none(), "copies are not captured");
        self.bytes(to)[..size_of_val(from)].copy_from_slice(bytes_of(from));
        Ok(())
    }

    fn stage(&mut self, to: Array<u32>, fill: &mut dyn FnMut(&mut [u32])) -> Result<(), CudaError> {
        let mut numbers = vec![0; to.len()];
        fill(&mut numbers);
        self.upload(to, &numbers)
    }

    fn download<T: Plain>(&mut self, from: Array<T>) -> Result<Vec<T>, CudaError> {
        assert!(self.captured.is_none(), "copies are not captured");
        Ok(self.read(from))
    }

    fn launch(
        &mut self,
        lane: Lane,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument],
    ) -> Result<(), CudaError> {
        self.work(lane, Task::Launch(kernel, grid, arguments.to_vec()));
        Ok(())
    }

    fn multiply(&mut self, lane: Lane, product: &Product) -> Result<(), CudaError> {
        assert_ne!(lane, Lane::Updates, "this lane has no products");
        self.work(lane, Task::Multiply(*product));
        Ok(())
    }

    fn signal(&mut self, lane: Lane) -> Result<usize, CudaError> {
        self.signals += 1;
        self.work(lane, Task::Signal(self.signals));
        Ok(self.signals)
    }

    fn wait(&mut self, lane: Lane, signal: &usize) -> Result<(), CudaError> {
        self.work(lane, Task::Wait(*signal));
        Ok(())
    }

    fn begin_capture(&mut self) -> Result<(), CudaError> {
        assert!(self.captured.replace(Vec::new()).is_none(), "a capture within a capture");
        Ok(())
    }

    fn end_capture(&mut self) -> Result<Vec<Work>, CudaError> {
        let work = self.captured.take().expect("a capture has begun");
        for lane in [Lane::Gradients, Lane::Updates] {
            let first = work.iter().find(|work| work.lane == lane);
            let waits = first.is_none_or(|work| matches!(work.task, Task::Wait(_)));
            assert!(waits, "{lane:?} does not wait for the main lane before its first work");
        }
        Ok(work)
    }

    fn replay(&mut self, graph: &Vec<Work>) -> Result<(), CudaError> {
        let mut lanes: [VecDeque<&Task>; Lane::COUNT] = Default::default();
        for work in graph {
            lanes[work.lane as usize].push_back(&work.task);
        }
        let mut signalled = HashSet::new();
        let ready = |task: Option<&&Task>, signalled: &HashSet<usize>| match task {
            None => false,
            Some(Task::Wait(signal)) => signalled.contains(signal),
            Some(_) => true,
        };
        while !lanes[Lane::Main as usize].is_empty() || lanes.iter().any(|lane| !lane.is_empty()) {
            assert!(!lanes[Lane::Main as usize].is_empty(), "a lane is not joined to the main one");
            let next = self.preference.iter().map(|&lane| lane as usize);
            let next = next.into_iter().find(|&lane| ready(lanes[lane].front(), &signalled));
            let Some(task) = lanes[next.expect("a lane can continue")].pop_front() else { break };
            if let Task::Signal(signal) = task {
                signalled.insert(*signal);
            }
            self.run(task);
        }
        Ok(())
    }
}
