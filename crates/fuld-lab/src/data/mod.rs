//! Data sets of images with labels.
