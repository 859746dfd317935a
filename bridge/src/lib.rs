//! The Rust that hone links. hone_bridge.h is the contract; one module a library behind it.
mod budget;
mod ffi;
mod parquet;
mod python;
mod template;
mod tokenizer;
