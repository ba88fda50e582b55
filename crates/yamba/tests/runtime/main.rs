//! The C++ runtime: its own tests under sanitizers and other compilers, programs that measure under
//! load, and circles. These modules are one program, since they share compiled samples.

mod circle;
mod cpp;
mod load;
mod loaded;
mod parts;
mod threads;
