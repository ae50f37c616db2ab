//! Products of matrices in single precision, by `gemm-f32`: the crate `gemm` without its kernels for
//! double precision and complex numbers, which take long to compile.

use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;

/// A matrix whose numbers are in a slice, row by row, or the transpose of one.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a> Matrix<'a> {
    /// Returns the matrix with this many columns.
    pub(super) fn new(numbers: &'a [f32], columns: usize) -> Self {
        debug_assert!(numbers.len().is_multiple_of(columns), "rows of equal length");
        Self { numbers, rows: numbers.len() / columns, columns, transposed: false }
    }

    /// Returns the transpose.
    pub(super) fn transposed(self) -> Self {
        let Self { numbers, rows, columns, transposed } = self;
        Self { numbers, rows: columns, columns: rows, transposed: !transposed }
    }

    /// Returns the distances between neighbours in a row and in a column.
    fn strides(self) -> (isize, isize) {
        if self.transposed { (self.rows as isize, 1) } else { (1, self.columns as isize) }
    }
}

/// Sets `out`, row by row, to the product of two matrices.
///
/// The threads of the current pool share a large product. They share its rows and columns and not
/// the sums, so the bits do not depend on the number of threads.
///
/// # Panics
///
/// If the sizes do not fit.
pub(super) fn product(a: Matrix<'_>, b: Matrix<'_>, out: &mut [f32]) {
    let (rows, inner, columns) = (a.rows, a.columns, b.columns);
    assert!(b.rows == inner && out.len() == rows * columns, "sizes of a matrix product");
    let ((a_column, a_row), (b_column, b_row)) = (a.strides(), b.strides());
    // The kernels are fastest if the numbers of a column of the result are neighbours. Those of a
    // row are, so this computes the transpose, B^T A^T.
    //
    // SAFETY: each matrix has as many numbers as its rows times its columns, its strides are those
    // of its order, `out` is borrowed exclusively, and no number of it is read.
    unsafe {
        get_gemm_fn()(
            columns,
            rows,
            inner,
            out.as_mut_ptr(),
            columns as isize,
            1,
            false,
            b.numbers.as_ptr(),
            b_row,
            b_column,
            a.numbers.as_ptr(),
            a_row,
            a_column,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_sums_over_the_inner_index() {
        let wave = |count: usize, phase: f32| -> Vec<f32> {
            (0..count).map(|n| (n as f32 * 0.7 + phase).sin()).collect()
        };
        for (rows, inner, columns) in [(1, 1, 1), (3, 5, 2), (17, 33, 10), (100, 64, 31)] {
            let (a, b) = (wave(rows * inner, 0.0), wave(inner * columns, 1.0));
            let transpose = |numbers: &[f32], columns: usize| -> Vec<f32> {
                let column = |j: usize| numbers.iter().skip(j).step_by(columns).copied();
                (0..columns).flat_map(column).collect()
            };
            let (a_t, b_t) = (transpose(&a, inner), transpose(&b, columns));
            let as_ = [Matrix::new(&a, inner), Matrix::new(&a_t, rows).transposed()];
            let bs = [Matrix::new(&b, columns), Matrix::new(&b_t, inner).transposed()];
            for (left, right) in as_.iter().flat_map(|&left| bs.iter().map(move |&b| (left, b))) {
                let mut out = vec![f32::NAN; rows * columns];
                product(left, right, &mut out);
                for (n, out) in out.iter().enumerate() {
                    let (i, j) = (n / columns, n % columns);
                    let sum: f64 = (0..inner)
                        .map(|k| f64::from(a[i * inner + k]) * f64::from(b[k * columns + j]))
                        .sum();
                    assert!((f64::from(*out) - sum).abs() < 1e-5, "{out} {sum}");
                }
            }
        }
    }
}
