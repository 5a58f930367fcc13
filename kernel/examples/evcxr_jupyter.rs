//! evcxr's own Jupyter kernel, built from the same dependencies: what the notebooks must run on too, and what this
//! kernel is measured against.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    evcxr_jupyter::main().map_err(Into::into)
}
