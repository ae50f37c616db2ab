//! The update rule of `fuld` as a burn optimizer.
