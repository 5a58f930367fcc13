//! The iris data of the tutorial.
