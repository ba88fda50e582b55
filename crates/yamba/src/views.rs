//! Each result as a person sees it: one file a result. `yamba_report` prints it.

pub(crate) mod compare;
pub(crate) mod fleet;
pub(crate) mod gc;
pub(crate) mod hardware;
pub(crate) mod junit;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod page_cache;
pub(crate) mod parameters_file;
pub mod study;
