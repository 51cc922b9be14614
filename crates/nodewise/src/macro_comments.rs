//! What comments on functions are kept under.

use storage::FUNCTION_COMMENT;
use types::MacroForm;

/// What a comment is kept under, in parts.
pub(crate) fn parts(key: &[String; 3]) -> [&str; 3] {
    [&key[0], &key[1], &key[2]]
}

/// What the comment on a form of a function is kept under.
pub(crate) fn comment_of(name: &str, form: &MacroForm) -> Option<[String; 3]> {
    let types = form.function.as_ref()?.types.join(", ");
    Some([FUNCTION_COMMENT.to_owned(), name.to_owned(), types])
}
