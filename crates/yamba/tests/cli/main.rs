//! The command from outside, and the rules of the house. Tests that need a C++ compiler or an emulator are left out where it is
//! missing, unless YAMBA_TEST_ALL is set, as `make test` does.

mod arguments;
mod ci_example;
mod compare;
mod disks;
mod documents;
mod everywhere;
mod evidence;
mod export;
mod far_end;
mod far_host;
mod files;
mod hostile;
mod house;
mod json;
mod kept;
mod machine;
mod mounted;
mod network;
mod ordinary_user;
mod papers;
mod programs;
mod refused;
mod remote;
mod results;
mod run_options;
mod run_whole;
mod schema;
mod servers;
mod shells;
mod study;
mod support;
mod terminal;
mod time;
mod trust;
mod verdicts;
