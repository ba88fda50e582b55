//! Texts to analyse, and the search for further ones.

/// A text to analyse, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path as shown to the user.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Finds other classes and ports. The binary implements it with folders, tests with lists.
pub trait Files {
    /// The file `NAME.yamba` as seen from the file `from`: in its folder, in each `--lib`, or in
    /// the installed library.
    fn find(&self, from: &str, name: &str) -> Option<Input>;
    /// Every `.yamba` file in the folder of the file `from`, in each `--lib` and in the installed
    /// library and suite, the file itself included. Called at most once per folder with a class in
    /// use.
    fn around(&self, from: &str) -> Vec<Input>;
}
