//! Texts to analyse, and where more of them are found.

/// A text to analyse and the path a person knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path, as it should be shown.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Where other classes and ports are looked for. The binary implements this over folders, tests over lists.
pub trait Files {
    /// The file `NAME.yamba` as seen from the file at `from`: its folder, each `--lib`, the installed library.
    fn find(&self, from: &str, name: &str) -> Option<Input>;
    /// Every `.yamba` file in the folder of the file at `from`, in each `--lib` and in the installed library and suite,
    /// the file itself included. Called at most once for each folder of a class that is in use.
    fn around(&self, from: &str) -> Vec<Input>;
}
