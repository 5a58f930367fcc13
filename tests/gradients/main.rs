//! Every gradient against central differences, in float64.

mod differences;
mod elements;
mod layers;
mod movements;
